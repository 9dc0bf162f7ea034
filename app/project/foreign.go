package project

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// ForeignFiles are files of another format as they were read.
type ForeignFiles struct {
	Project *Project
	named   []string // as the user typed them, or relative to the current directory
	sources []compiler.Source
	Ignored []string // files in directories that do not match the format's patterns
	seen    map[string]bool
}

// Read reads the named files, directories and standard input (-); without arguments it
// reads the format's usual directories. The caller closes the project.
func (f *Format) Read(args []string, in io.Reader) (r *ForeignFiles, err error) {
	r = &ForeignFiles{seen: map[string]bool{}}
	defer func() {
		if err != nil && r.Project != nil {
			r.Project.Close()
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
			b, err := ReadStdin(in)
			if err != nil {
				return r, err
			}
			if err := r.add(f, "stdin"+strings.TrimPrefix(f.Patterns()[0], "*"), b); err != nil {
				return r, err
			}
			r.named[len(r.named)-1] = "standard input"
		case IsDir(arg):
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

// Patterns are the name patterns of the format's files in a directory.
func (f *Format) Patterns() []string {
	if len(f.Files) > 0 {
		return f.Files
	}
	return []string{"*.json"}
}

// counts reports whether the name of a file in a directory matches the format's patterns.
func (f *Format) counts(name string) bool {
	return slices.ContainsFunc(f.Patterns(), func(p string) bool {
		ok, _ := path.Match(p, strings.ToLower(name)) // the patterns are ours
		return ok
	})
}

// usual finds the directories of the project that contain files of this format.
func (f *Format) usual() ([]string, error) {
	if len(f.Dirs) == 0 {
		return nil, exit.Usagef("name a file, a directory, or - for standard input")
	}
	wd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	root := cmp.Or(GitRoot(wd), wd)
	var out []string
	for _, d := range f.Dirs {
		at := filepath.Join(root, filepath.FromSlash(d))
		if rel, err := filepath.Rel(wd, at); err == nil {
			at = rel
		}
		if names, _, err := f.list(at); err == nil && len(names) > 0 {
			out = append(out, at)
		}
	}
	if len(out) == 0 {
		return nil, exit.Usagef("name a file, a directory, or - for standard input: this project has no %s in %s", strings.Join(f.Patterns(), " or "), strings.Join(f.Dirs, " or "))
	}
	return out, nil
}

// list separates the files of a directory that match the format from the others. Files in
// subdirectories match only where the format says so.
func (f *Format) list(dir string) (count, others []string, err error) {
	if f.find != nil {
		names, err := f.find(os.DirFS(dir))
		return lists.Map(names, func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }), nil, err
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

// directory reads the matching files of a directory, sorted by name.
func (r *ForeignFiles) directory(f *Format, dir string) error {
	names, others, err := f.list(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := r.file(f, name); err != nil {
			return err
		}
	}
	r.Ignored = append(r.Ignored, others...)
	if len(names) == 0 {
		return exit.Inputf("%s contains no file named %s", dir, strings.Join(f.Patterns(), " or "))
	}
	return nil
}

func (r *ForeignFiles) file(f *Format, name string) error {
	b, err := ReadFile(name)
	if err != nil {
		return err
	}
	return r.add(f, name, b)
}

// add adds a file once, no matter how often and by which path it is named.
func (r *ForeignFiles) add(f *Format, name string, b []byte) error {
	if r.Project == nil {
		p, err := Open(name)
		if err != nil {
			return err
		}
		r.Project = p
	}
	at, inside := r.Project.Rel(name)
	if !inside && f.Policy == nil { // policy may come from anywhere: the user names it
		return notAProject(name, r.Project.Dir)
	}
	if err := r.Project.LeadsOut(name); err != nil {
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

// DiagFiles are the files as decoders take them.
func (r *ForeignFiles) DiagFiles() []*diag.File {
	return lists.Map(r.sources, func(s compiler.Source) *diag.File { return diag.NewFile(s.Path, s.Bytes) })
}

// Label is the files' name in messages for people.
func (r *ForeignFiles) Label() string {
	if len(r.named) == 1 {
		return r.named[0]
	}
	return fmt.Sprintf("%d files", len(r.named))
}

// draft decodes all files as one.
func (f *Format) draft(r *ForeignFiles, strict bool) compiler.Imported {
	decode := f.Decode
	if strict && f.strict != nil {
		decode = f.strict
	}
	draft, list := decode(r.DiagFiles())
	return compiler.Imported{Sources: r.sources, Draft: draft, Diags: list}
}
