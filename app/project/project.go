package project

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/internal/regular"
)

// MaxFile bounds every file that is read, in bytes. A plan of 100,000 sprints
// has 64 MB.
const MaxFile = 256 << 20

// Project is the directory that all stored paths are relative to, opened so
// that nothing outside of it can be read: neither "..", nor an absolute path,
// nor a symbolic link that leads out.
type Project struct {
	Dir  string // absolute
	root *os.Root
}

// Open finds the project of a file: the git root of its directory, else
// that directory.
func Open(file string) (*Project, error) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	dir, written := filepath.Dir(abs), GitRoot(filepath.Dir(abs))
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	top := GitRoot(dir)
	if written != "" {
		// As it is written the file is in this project. A directory on the way
		// that is a link to elsewhere does not make that elsewhere the project.
		if real, err := filepath.EvalSymlinks(written); err == nil && !(&Project{Dir: real}).holds(dir) {
			return nil, errLeadsOut(file)
		}
	}
	if top == "" {
		top = dir
	}
	root, err := os.OpenRoot(top)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, exit.Inputf("there is no directory %s", top)
	}
	if err != nil {
		return nil, err
	}
	return &Project{Dir: top, root: root}, nil
}

// noRepository explains what follows for a plan outside any git repository, where the
// user would expect the policy in the current directory to apply.
func (p *Project) noRepository() string {
	wd, err := os.Getwd()
	if err != nil || GitRoot(p.Dir) != "" {
		return ""
	}
	if real, err := filepath.EvalSymlinks(wd); err != nil || real == p.Dir {
		return ""
	}
	if _, err := os.Stat("ralph.hcl"); err != nil {
		return ""
	}
	return "note: ralph.hcl of this directory is not read: outside of a git repository the project is the\n" +
		"  directory of the plan. Run git init here, or name it: --policy ralph.hcl"
}

// GitRoot returns the nearest directory from dir upwards that contains .git, or "".
func GitRoot(dir string) string {
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
	return exit.Inputf("%s leads out of the project by a symbolic link; name the file itself", file)
}

// Close closes the project's directory; its file system cannot be used afterwards.
func (p *Project) Close() error { return p.root.Close() }

// FS returns the confined file system of the project: nothing outside of it can be
// read, and nothing of git's.
func (p *Project) FS() fs.FS { return withoutGit{regular.FS(p.root), p.Dir} }

// Rel returns a file's path relative to the project with forward slashes, and whether it
// is inside.
func (p *Project) Rel(file string) (string, bool) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return filepath.ToSlash(file), false
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
		abs = filepath.Join(dir, filepath.Base(abs))
	}
	rel, err := filepath.Rel(p.Dir, abs)
	if err != nil || !filepath.IsLocal(rel) {
		return filepath.ToSlash(file), false
	}
	return filepath.ToSlash(rel), true
}

// LeadsOut returns an error for a path inside the project that leads out of it through
// a symbolic link, of the file itself or of a parent directory: in a stranger's pull
// request it would make ralph read or replace files that the user never named. Paths
// outside the project are fine, and so are files that do not exist yet.
func (p *Project) LeadsOut(file string) error {
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
			return exit.Inputf("%s is a symbolic link to nothing; remove it", file)
		}
		// The file does not exist yet: the directories above it count.
		dir := filepath.Dir(at)
		for !IsDir(dir) && filepath.Dir(dir) != dir {
			dir = filepath.Dir(dir)
		}
		real, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return err
	}
	if !p.holds(real) {
		return errLeadsOut(file)
	}
	if ofGit(p.Dir, real) {
		return exit.Inputf("%s is in git's own directory, which ralph does not touch; name another file", file)
	}
	return nil
}

// Confined is LeadsOut for a file whose project is not open.
func Confined(file string) error {
	p, err := Open(file)
	if err != nil {
		return err
	}
	defer p.Close()
	return p.LeadsOut(file)
}

// holds reports whether a clean absolute path is written inside the project.
func (p *Project) holds(path string) bool {
	rel, err := filepath.Rel(p.Dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// ReadFile reads a regular file of bounded size.
func ReadFile(path string) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return nil, exit.Inputf("%s is not a regular file", path) // opening a pipe may block forever
	}
	f, err := regular.Open(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, exit.Inputf("there is no file %s", path)
		}
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	switch {
	case info.IsDir():
		return nil, exit.Inputf("%s is a directory; name a file", path)
	case !info.Mode().IsRegular():
		return nil, exit.Inputf("%s is not a regular file", path)
	}
	head := make([]byte, min(info.Size(), epicHead))
	n, err := io.ReadFull(f, head)
	if most := ReadsUpTo(head[:n]); info.Size() > most {
		return nil, exit.Inputf("%s has %d MB; at most %d MB are read", path, info.Size()>>20, most>>20)
	}
	b := make([]byte, info.Size())
	if err == nil {
		var more int
		more, err = io.ReadFull(f, b[n:])
		n += more
	}
	copy(b, head) // right after make, the compiler would join the two into a call that clears b and cannot be preempted
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, exit.Inputf("read %s: %w", path, err)
	}
	return b[:n], nil
}

// ReadStdin reads standard input, bounded like a file.
func ReadStdin(in io.Reader) ([]byte, error) {
	r := bufio.NewReader(in)
	head, _ := r.Peek(epicHead) // a shorter input is whole
	most := ReadsUpTo(head)
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return nil, exit.Inputf("read standard input: %w", err)
	}
	if int64(len(b)) > most {
		return nil, exit.Inputf("standard input has more than %d MB", most>>20)
	}
	return b, nil
}

// ReadPolicies reads what --policy names: files, or all *.hcl and *.hcl.json files of a
// directory. They may be outside the project, since the user names them. The result is
// nil if none was named.
func (p *Project) ReadPolicies(paths []string) ([]compiler.Source, error) {
	var out []compiler.Source
	for _, path := range paths {
		files := []string{path}
		if IsDir(path) {
			var err error
			if files, err = policiesOf(path); err != nil {
				return nil, err
			}
			if len(files) == 0 {
				return nil, exit.Inputf("there is no *.hcl in %s", path)
			}
		}
		for _, f := range files {
			if err := p.LeadsOut(f); err != nil {
				return nil, err
			}
			b, err := ReadFile(f)
			if err != nil {
				return nil, err
			}
			name, inside := p.Rel(f)
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
		return nil, err
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
	return exit.Inputf("%s is outside %s: plans that are compiled together belong to one project", file, dir)
}

// ErrNoEpic is the error of EpicPath when no file is named and there is no epic.json in
// the current directory.
var ErrNoEpic = errors.New("there is no epic.json here; `ralph compile PLAN` writes one, or name the file")

// EpicPath returns the epic that a command is about: the argument, else
// epic.json in the current directory.
func EpicPath(args []string) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	if _, err := os.Lstat("epic.json"); errors.Is(err, fs.ErrNotExist) {
		return "", ErrNoEpic
	}
	return "epic.json", nil
}

// IsDir reports whether path is an existing directory, following links. An error counts
// as false.
func IsDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// IsDirName reports whether a name is meant as a directory.
func IsDirName(name string) bool {
	return strings.HasSuffix(name, "/") || strings.HasSuffix(name, string(filepath.Separator)) || IsDir(name)
}

// KindOf classifies a file by its name.
func KindOf(file string) string {
	switch ext := strings.ToLower(filepath.Ext(file)); {
	case ext == ".md" || ext == ".markdown":
		return "plan"
	case ext == ".hcl" || strings.HasSuffix(strings.ToLower(file), ".hcl.json"):
		return "policy"
	case ext == ".json":
		return "epic"
	}
	return ""
}
