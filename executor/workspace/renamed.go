package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/ir"
)

// moveRenamed moves worktrees that the epic names otherwise by now to their new places,
// with all that is in them: what an attempt left there, or a person, is not lost, and
// nothing stays behind. Where one is in the way of another it goes first; a place
// that something else has is left to create, which says so.
func (s *space) moveRenamed() error {
	list, err := s.elsewhereNow()
	for err == nil && len(list) > 0 {
		var rest []*worktree
		for _, w := range list {
			moved, merr := s.moveHere(w)
			if merr != nil {
				return fmt.Errorf("move the worktree of %s: %w", s.nodes[w.node.ID].Key, merr)
			}
			if !moved {
				rest = append(rest, w)
			}
		}
		if len(rest) == len(list) {
			return nil
		}
		list = rest
	}
	return err
}

// elsewhereNow lists the worktrees of nodes that are on record at another place than
// the epic names.
func (s *space) elsewhereNow() ([]*worktree, error) {
	recorded, err := os.ReadDir(filepath.Join(s.state, "worktrees"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var list []*worktree
	for _, f := range recorded {
		id, is := strings.CutSuffix(f.Name(), ".json")
		n := s.nodes[ir.NodeID(id)]
		if !is || n == nil {
			continue
		}
		w := s.own(n)
		if err := s.load(w); err != nil {
			return nil, err
		}
		if w.At != "" && w.At != w.dir {
			list = append(list, w)
		}
	}
	return list, nil
}

// moveHere moves a worktree from where it is on record, and reports whether nothing is
// left to do for it. It may be cut and done again: the record goes last.
func (s *space) moveHere(w *worktree) (bool, error) {
	was := &worktree{name: w.name, dir: w.At, Clone: w.Clone, Admin: w.Admin}
	if s.standsAt(was) {
		if vacant(w.dir) != nil {
			return false, nil
		}
		q := asking{err: remove(w.dir)}
		q.do(func() error { return os.MkdirAll(filepath.Dir(w.dir), 0o755) })
		if q.err != nil || os.Rename(w.At, w.dir) != nil { // into itself, to another file system: it stays
			return false, q.err
		}
	}
	if !s.standsAt(w) {
		return true, nil // it is gone, or not ralph's any more
	}
	if !w.Clone {
		if err := regular.WriteOwn(filepath.Join(w.at.gitDir, "gitdir"), []byte(filepath.Join(w.dir, ".git")+"\n"), 0o644); err != nil {
			return false, err
		}
	}
	w.Prepared = false // what setup made may name the place; it is made there again
	return true, s.remember(w)
}

// standsAt reports whether a worktree of this repository is in its directory, not of one
// of which this is a copy.
func (s *space) standsAt(w *worktree) bool {
	s.locate(w)
	if w.Clone {
		return s.ownClone(w)
	}
	return s.linkIntact(w)
}
