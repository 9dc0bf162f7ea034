package project

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// withoutGit is a project's file system without git's own files: .git holds credentials
// and ralph's state. A stranger's plan or policy cannot read any of it, by whatever path.
type withoutGit struct {
	fs.FS
	dir string // absolute
}

var errOfGit = errors.New("it is in git's own directory, which ralph does not read")

// unlessGit does what is asked of a name, unless it leads to a file of git's.
func unlessGit[T any](w withoutGit, op, name string, do func(fs.FS, string) (T, error)) (none T, err error) {
	if !fs.ValidPath(name) {
		return none, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	at := filepath.Join(w.dir, filepath.FromSlash(name))
	if real, err := filepath.EvalSymlinks(at); err == nil && ofGit(w.dir, real) || ofGit(w.dir, at) {
		return none, &fs.PathError{Op: op, Path: name, Err: errOfGit}
	}
	return do(w.FS, name)
}

// Open implements fs.FS.
func (w withoutGit) Open(name string) (fs.File, error) {
	return unlessGit(w, "open", name, fs.FS.Open)
}

// ReadFile implements fs.ReadFileFS.
func (w withoutGit) ReadFile(name string) ([]byte, error) {
	return unlessGit(w, "open", name, fs.ReadFile)
}

// ReadDir implements fs.ReadDirFS.
func (w withoutGit) ReadDir(name string) ([]fs.DirEntry, error) {
	return unlessGit(w, "readdir", name, fs.ReadDir)
}

// Stat implements fs.StatFS.
func (w withoutGit) Stat(name string) (fs.FileInfo, error) {
	return unlessGit(w, "stat", name, fs.Stat)
}

// Lstat implements fs.ReadLinkFS. It is not restricted: a file's type reveals nothing of
// its content.
func (w withoutGit) Lstat(name string) (fs.FileInfo, error) {
	return os.Lstat(filepath.Join(w.dir, filepath.FromSlash(name)))
}

// ReadLink implements fs.ReadLinkFS.
func (w withoutGit) ReadLink(name string) (string, error) { return fs.ReadLink(w.FS, name) }

// ofGit reports whether a path below dir is git's: it is called .git, as one of the
// file systems that git knows would spell it, or is in a directory that git would
// take for a repository, as the one does that the file .git of a worktree or a
// submodule leads to.
func ofGit(dir, at string) bool {
	rel, err := filepath.Rel(dir, at)
	if err != nil || !filepath.IsLocal(rel) {
		return false
	}
	for _, name := range strings.Split(filepath.ToSlash(rel), "/") {
		if gitName(name) {
			return true
		}
	}
	for up := at; up != dir && len(up) > len(dir); up = filepath.Dir(up) {
		if gitDirectory(up) {
			return true
		}
	}
	return false
}

// gitName reports whether a file system may take a name for .git: Windows drops what
// follows it and has a short name for it, macOS ignores what does not show.
func gitName(name string) bool {
	name = strings.Map(func(r rune) rune {
		if r >= 0x200c && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x206a && r <= 0x206f || r == 0xfeff {
			return -1
		}
		return r
	}, strings.ToLower(name))
	name, _, _ = strings.Cut(name, ":")
	name = strings.TrimRight(name, ". ")
	return name == ".git" || name == "git~1"
}

// gitDirectory is git's own test, and one for the part that a worktree has apart.
func gitDirectory(dir string) bool {
	has := func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	}
	return has("HEAD") && (has("commondir") || has("objects") && has("refs"))
}
