package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/internal/regular"
)

// maxFile bounds every file that is read, in bytes. A plan of 100,000 sprints
// has 64 MB.
const maxFile = 256 << 20

// project is the directory that all stored paths are relative to, opened so
// that nothing outside of it can be read: neither "..", nor an absolute path,
// nor a symbolic link that leads out.
type project struct {
	dir  string // absolute
	root *os.Root
}

// openProject finds the project of a file: the git root of its directory, else
// that directory.
func openProject(file string) (*project, error) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	dir, written := filepath.Dir(abs), gitRoot(filepath.Dir(abs))
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	top := gitRoot(dir)
	if written != "" {
		// As it is written the file lies in this project. A directory on the way
		// that is a link to elsewhere does not make that elsewhere the project.
		if real, err := filepath.EvalSymlinks(written); err == nil && !(&project{dir: real}).holds(dir) {
			return nil, errLeadsOut(file)
		}
	}
	if top == "" {
		top = dir
	}
	root, err := os.OpenRoot(top)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, inputErrorf("there is no directory %s", top)
	}
	if err != nil {
		return nil, inputErrorf("%w", err)
	}
	return &project{dir: top, root: root}, nil
}

// noRepository says what it means that there is no git repository around a
// plan, where the policy in the current directory would be expected to hold.
func (p *project) noRepository() string {
	wd, err := os.Getwd()
	if err != nil || gitRoot(p.dir) != "" {
		return ""
	}
	if real, err := filepath.EvalSymlinks(wd); err != nil || real == p.dir {
		return ""
	}
	if _, err := os.Stat("ralph.hcl"); err != nil {
		return ""
	}
	return "note: ralph.hcl of this directory is not read: outside of a git repository the project is the\n" +
		"  directory of the plan. Run git init here, or name it: --policy ralph.hcl"
}

// gitRoot is the nearest directory from dir upwards that has a .git, or "".
func gitRoot(dir string) string {
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		if filepath.Dir(dir) == dir {
			return ""
		}
	}
}

func errLeadsOut(file string) error {
	return inputErrorf("%s leads out of the project by a symbolic link; name the file itself", file)
}

func (p *project) Close() error { return p.root.Close() }

// FS returns the confined file system of the project: nothing outside of it can be
// read, and nothing of git's.
func (p *project) FS() fs.FS { return withoutGit{regular.FS(p.root), p.dir} }

// rel returns the path of a file relative to the project with forward slashes,
// and whether it lies inside.
func (p *project) rel(file string) (string, bool) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return filepath.ToSlash(file), false
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
		abs = filepath.Join(dir, filepath.Base(abs))
	}
	rel, err := filepath.Rel(p.dir, abs)
	if err != nil || !filepath.IsLocal(rel) {
		return filepath.ToSlash(file), false
	}
	return filepath.ToSlash(rel), true
}

// leadsOut complains about a path that is written inside the project and leads
// out of it by a symbolic link, of the file or of a directory above it: in a
// stranger's pull request it would have ralph read or replace what the user
// never named. Files elsewhere are fine, and so are those that do not exist yet.
func (p *project) leadsOut(file string) error {
	at := file
	if !filepath.IsAbs(at) {
		wd, err := os.Getwd()
		if err != nil {
			return err
		}
		if real, err := filepath.EvalSymlinks(wd); err == nil {
			wd = real
		}
		at = filepath.Join(wd, file)
	}
	if !p.holds(at) {
		return nil
	}
	real, err := filepath.EvalSymlinks(at)
	if errors.Is(err, fs.ErrNotExist) {
		if info, err := os.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return inputErrorf("%s is a symbolic link to nothing; remove it", file)
		}
		// The file does not exist yet: the directories above it count.
		dir := filepath.Dir(at)
		for !isDir(dir) && filepath.Dir(dir) != dir {
			dir = filepath.Dir(dir)
		}
		real, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return inputErrorf("%w", err)
	}
	if !p.holds(real) {
		return errLeadsOut(file)
	}
	if ofGit(p.dir, real) {
		return inputErrorf("%s lies in git's own directory, of which ralph reads and writes nothing; name another file", file)
	}
	return nil
}

// confined is leadsOut for a file of a project that is not open.
func confined(file string) error {
	p, err := openProject(file)
	if err != nil {
		return err
	}
	defer p.Close()
	return p.leadsOut(file)
}

// holds reports whether a clean absolute path is written inside the project.
func (p *project) holds(path string) bool {
	rel, err := filepath.Rel(p.dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// readFile reads a regular file of bounded size.
func readFile(path string) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return nil, inputErrorf("%s is not a regular file", path) // to open a pipe may take for ever
	}
	f, err := regular.Open(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, inputErrorf("there is no file %s", path)
		}
		return nil, inputErrorf("%w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, inputErrorf("%w", err)
	}
	switch {
	case info.IsDir():
		return nil, inputErrorf("%s is a directory; name a file", path)
	case !info.Mode().IsRegular():
		return nil, inputErrorf("%s is not a regular file", path)
	}
	head := make([]byte, min(info.Size(), epicHead))
	n, err := io.ReadFull(f, head)
	if most := readsUpTo(head[:n]); info.Size() > most {
		return nil, inputErrorf("%s has %d MB; at most %d MB are read", path, info.Size()>>20, most>>20)
	}
	b := make([]byte, info.Size())
	copy(b, head)
	if err == nil {
		var more int
		more, err = io.ReadFull(f, b[n:])
		n += more
	}
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, inputErrorf("read %s: %w", path, err)
	}
	return b[:n], nil
}

// readStdin reads standard input, bounded like a file.
func readStdin(in io.Reader) ([]byte, error) {
	r := bufio.NewReader(in)
	head, _ := r.Peek(epicHead) // a shorter input is whole
	most := readsUpTo(head)
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return nil, inputErrorf("read standard input: %w", err)
	}
	if int64(len(b)) > most {
		return nil, inputErrorf("standard input has more than %d MB", most>>20)
	}
	return b, nil
}

// readPolicies reads what --policy names: files, or all *.hcl and *.hcl.json of a directory.
// They may lie anywhere, since the user names them. Nil means none was named.
func (p *project) readPolicies(paths []string) ([]compiler.Source, error) {
	var out []compiler.Source
	for _, path := range paths {
		files := []string{path}
		if isDir(path) {
			var err error
			if files, err = policiesOf(path); err != nil {
				return nil, err
			}
			if len(files) == 0 {
				return nil, inputErrorf("there is no *.hcl in %s", path)
			}
		}
		for _, f := range files {
			if err := p.leadsOut(f); err != nil {
				return nil, err
			}
			b, err := readFile(f)
			if err != nil {
				return nil, err
			}
			name, inside := p.rel(f)
			if !inside {
				name = filepath.Base(f)
			}
			out = append(out, compiler.Source{Path: name, Bytes: b})
		}
	}
	return out, nil
}

// policiesOf lists the policy files of a directory.
func policiesOf(dir string) (files []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, inputErrorf("%w", err)
	}
	for _, e := range entries {
		if n := e.Name(); strings.HasSuffix(n, ".hcl") || strings.HasSuffix(n, ".hcl.json") {
			files = append(files, filepath.Join(dir, n))
		}
	}
	return files, nil
}

// notAProject explains why a file cannot belong to the same project.
func notAProject(file, dir string) error {
	return inputErrorf("%s lies outside of %s: plans that are compiled together belong to one project", file, dir)
}

var errNoEpic = errors.New("there is no epic.json here; `ralph compile PLAN` makes one, or name the file")

// epicPath returns the epic that a command is about: the argument, else
// epic.json in the current directory.
func epicPath(args []string) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	if _, err := os.Lstat("epic.json"); errors.Is(err, fs.ErrNotExist) {
		return "", &exitError{exitInput, fmt.Errorf("%w", errNoEpic)}
	}
	return "epic.json", nil
}
