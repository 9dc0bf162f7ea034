package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/internal/regular"
)

// sweep removes what is special (FIFOs, sockets, devices) from a worktree and from
// what git keeps of it, also where git ignores it, and notes in w.special what it
// was: git and any other opener of a FIFO waits for ever. What was found stays on
// record until it is reported (swept), so that no crash loses it.
func (s *space) sweep(ctx context.Context, w *worktree) error {
	ctx, cancel := context.WithTimeout(ctx, s.git.patience)
	defer cancel()
	known := *w
	if err := s.load(&known); err != nil {
		return err
	}
	if known.Admin != "" {
		unlock(w.dir, 0o700) // what it lacks then is said later
	}
	if known.Admin == "" && !s.ownClone(w) {
		return nil // what is there, if anything, is not known to be ralph's
	}
	note := s.record(w, ".special")
	if was, err := regular.ReadOwn(note); err == nil {
		w.special = strings.Split(strings.TrimSuffix(string(was), "\n"), "\n")
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	found, err := special(ctx, w.dir, "")
	if err == nil && !known.Clone && known.Admin != "" && filepath.IsLocal(known.Admin) {
		var more []specialFile
		if more, err = special(ctx, filepath.Join(s.git.common, "worktrees", known.Admin), ".git/"); err == nil {
			found = append(found, more...)
		}
	}
	if err != nil || len(found) == 0 {
		return err
	}
	for _, f := range found {
		if told := fmt.Sprintf("%s was %s", oneLine(f.path, 200), regular.Kind(f.mode)); !slices.Contains(w.special, told) && len(w.special) < maxSpecial {
			w.special = append(w.special, told)
		}
	}
	if err := regular.MkdirOwn(filepath.Dir(note)); err != nil {
		return err
	}
	if err := atomicfile.WriteOwn(note, []byte(strings.Join(w.special, "\n")+"\n"), 0o600); err != nil {
		return err
	}
	for _, f := range found {
		if err := removeIn(f.at); err != nil {
			return err
		}
	}
	return s.restoreAdmin(&known)
}

// maxSpecial bounds how many special files are named.
const maxSpecial = maxChanged

// swept forgets the reported special files.
func (s *space) swept(w *worktree) error {
	w.special = nil
	return remove(s.record(w, ".special"))
}

// specialProblems says what special files an attempt left, and what to do instead.
func specialProblems(found []string) []string {
	if len(found) == 0 {
		return nil
	}
	return []string{"special files were left in its worktree and are removed: " + strings.Join(found, ", ") +
		". A commit cannot contain them, and opening one may block forever: put regular files there, and make pipes and sockets below ${TMPDIR:-/tmp}"}
}

type specialFile struct {
	at, path string
	mode     fs.FileMode
}

// special lists the special files below a directory; links are not followed. Directories
// that their owner may not read become readable; what cannot be read then is left to
// git, which says why.
func special(ctx context.Context, dir, prefix string) ([]specialFile, error) {
	var found []specialFile
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		rel, rerr := filepath.Rel(dir, path)
		switch {
		case rerr != nil:
			return rerr
		case errors.Is(err, fs.ErrPermission) && d != nil && d.IsDir() && unlock(path, 0o700):
			more, err := special(ctx, path, prefix+filepath.ToSlash(rel)+"/")
			found = append(found, more...)
			return err
		case err != nil:
			return nil
		case rel != ".git" && !strings.HasPrefix(rel, ".git"+string(filepath.Separator)) && !strings.HasPrefix(prefix, ".git/"):
		case d.IsDir():
			unlock(path, 0o700) // git writes there
		case d.Type().IsRegular():
			unlock(path, 0o400)
		}
		if regular.Special(d.Type()) {
			found = append(found, specialFile{path, prefix + filepath.ToSlash(rel), d.Type()})
		}
		return nil
	})
	return found, err
}

// restoreAdmin writes anew what git needs to find a linked worktree, where a special
// file was in its place.
func (s *space) restoreAdmin(w *worktree) error {
	dir := filepath.Join(s.git.common, "worktrees", w.Admin)
	if w.Clone || w.Admin == "" || !isDir(dir) {
		return nil
	}
	if b, err := regular.ReadFile(filepath.Join(dir, "gitdir")); err == nil && strings.TrimSpace(string(b)) != filepath.Join(w.dir, ".git") {
		return nil // another worktree has that name now
	}
	head := w.Left
	if w.ref != "" {
		head = "ref: " + w.ref
	}
	var q asking
	for _, f := range [][2]string{{"gitdir", filepath.Join(w.dir, ".git")}, {"commondir", "../.."}, {"HEAD", head}} {
		path := filepath.Join(dir, f[0])
		there, err := exists(path)
		if q.note(err); !there {
			q.do(func() error { return regular.WriteOwn(path, []byte(f[1]+"\n"), 0o644) })
		}
	}
	return q.err
}
