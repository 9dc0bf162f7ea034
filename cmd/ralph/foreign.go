package main

import (
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/diag"
)

// foreignFiles are files of another format as they were read.
type foreignFiles struct {
	project *project
	named   []string // as the user typed them, or as they are reached from here
	sources []compiler.Source
	ignored []string // files of directories that do not count
	seen    map[string]bool
}

// read reads the files, directories and standard input (-) that were named; none is
// the directories in which the format's files are usually found. The caller closes
// the project.
func (f *format) read(args []string, in io.Reader) (r *foreignFiles, err error) {
	r = &foreignFiles{seen: map[string]bool{}}
	defer func() {
		if err != nil && r.project != nil {
			r.project.Close()
		}
	}()
	if len(args) == 0 {
		if args, err = f.usual(); err != nil {
			return r, err
		}
	}
	for _, arg := range args {
		switch {
		case arg == "-":
			b, err := readStdin(in)
			if err != nil {
				return r, err
			}
			if err := r.add(f, "stdin"+strings.TrimPrefix(f.patterns()[0], "*"), b); err != nil {
				return r, err
			}
			r.named[len(r.named)-1] = "standard input"
		case isDir(arg):
			if err := r.directory(f, arg); err != nil {
				return r, err
			}
		default:
			if err := r.file(f, arg); err != nil {
				return r, err
			}
		}
	}
	return r, nil
}

// patterns are the names that count in a directory.
func (f *format) patterns() []string {
	if len(f.files) > 0 {
		return f.files
	}
	return []string{"*.json"}
}

// counts reports whether a file of a directory is one of the format's, by its name.
func (f *format) counts(name string) bool {
	return slices.ContainsFunc(f.patterns(), func(p string) bool {
		ok, _ := path.Match(p, strings.ToLower(name)) // the patterns are ours
		return ok
	})
}

// usual finds the directories of the project in which files of this format stand.
func (f *format) usual() ([]string, error) {
	if len(f.dirs) == 0 {
		return nil, usageErrorf("name a file, a directory, or - for standard input")
	}
	wd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	root := gitRoot(wd)
	if root == "" {
		root = wd
	}
	var out []string
	for _, d := range f.dirs {
		at := filepath.Join(root, filepath.FromSlash(d))
		if rel, err := filepath.Rel(wd, at); err == nil {
			at = rel
		}
		if names, _, err := f.list(at); err == nil && len(names) > 0 {
			out = append(out, at)
		}
	}
	if len(out) == 0 {
		return nil, usageErrorf("name a file, a directory, or - for standard input: this project has no %s in %s", strings.Join(f.patterns(), " or "), strings.Join(f.dirs, " or "))
	}
	return out, nil
}

// list tells the files of a directory that count from the others. Those below it
// count only where the format says so.
func (f *format) list(dir string) (count, others []string, err error) {
	if f.find != nil {
		names, err := f.find(os.DirFS(dir))
		for _, name := range names {
			count = append(count, filepath.Join(dir, filepath.FromSlash(name)))
		}
		return count, nil, err
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		switch {
		case e.IsDir():
		case f.counts(e.Name()):
			count = append(count, name)
		default:
			others = append(others, name)
		}
	}
	return count, others, err
}

// directory reads the files of a directory that count, in the order of their names.
func (r *foreignFiles) directory(f *format, dir string) error {
	names, others, err := f.list(dir)
	if err != nil {
		return inputErrorf("%w", err)
	}
	for _, name := range names {
		if err := r.file(f, name); err != nil {
			return err
		}
	}
	r.ignored = append(r.ignored, others...)
	if len(names) == 0 {
		return inputErrorf("%s holds no file that is called %s", dir, strings.Join(f.patterns(), " or "))
	}
	return nil
}

func (r *foreignFiles) file(f *format, name string) error {
	b, err := readFile(name)
	if err != nil {
		return err
	}
	return r.add(f, name, b)
}

// add takes a file once, however often and in whatever way it is named.
func (r *foreignFiles) add(f *format, name string, b []byte) error {
	if r.project == nil {
		p, err := openProject(name)
		if err != nil {
			return err
		}
		r.project = p
	}
	at, inside := r.project.rel(name)
	if !inside && f.policy == nil { // policy may come from anywhere: the user names it
		return notAProject(name, r.project.dir)
	}
	if err := r.project.leadsOut(name); err != nil {
		return err
	}
	if r.seen[at] {
		return nil
	}
	r.seen[at] = true
	r.named = append(r.named, name)
	r.sources = append(r.sources, compiler.Source{Path: at, Bytes: b})
	return nil
}

// diagFiles are the files as decoders take them.
func (r *foreignFiles) diagFiles() []*diag.File {
	out := make([]*diag.File, 0, len(r.sources))
	for _, s := range r.sources {
		out = append(out, diag.NewFile(s.Path, s.Bytes))
	}
	return out
}

// label is what a line for people calls the files.
func (r *foreignFiles) label() string {
	if len(r.named) == 1 {
		return r.named[0]
	}
	return fmt.Sprintf("%d files", len(r.named))
}

// draft decodes all files as one.
func (f *format) draft(r *foreignFiles, strict bool) compiler.Imported {
	decode := f.decode
	if strict && f.strict != nil {
		decode = f.strict
	}
	draft, list := decode(r.diagFiles())
	return compiler.Imported{Sources: r.sources, Draft: draft, Diags: list}
}

// toPolicy turns files of a policy format into HCL and prints what is to be said;
// nil after an error that was printed.
func (f *format) toPolicy(r *foreignFiles, a *compileArgs, out, errOut io.Writer) ([]byte, error) {
	files := r.diagFiles()
	hcl, list := f.policy(files)
	if a.strict {
		list = list.Strict()
	}
	if err := r.print(a, files, list, out, errOut); err != nil {
		return nil, err
	}
	return hcl, nil
}

// print prints what is to be said about the files; an error if there is one among it.
func (r *foreignFiles) print(a *compileArgs, files []*diag.File, list diag.List, out, errOut io.Writer) error {
	list.Sort()
	view := diagsView{a.format, sources{map[string]*diag.File{}, r.project.dir}}
	for _, file := range files {
		view.files[file.Name] = file
	}
	if err := view.print(out, errOut, list); err != nil {
		return err
	}
	if list.HasErrors() {
		return &exitError{code: exitInput}
	}
	return nil
}
