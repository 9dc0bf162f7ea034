package workspace

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/ir"
)

// moved is what ralph moved out of a worktree, as no commit can or may hold it: there is
// no other copy, so nothing of ralph's ever removes it. It is on record before it moves,
// in <state>/moved-out/<worktree>.json, until the directory is empty or gone.
type moved struct {
	Dir  string `json:"dir"`
	Why  string `json:"why"`            // with the directory
	Told bool   `json:"told,omitempty"` // by an event, or the commit of an attempt
}

// MovedOut is a directory of files that were moved out of a worktree.
type MovedOut struct {
	Node  ir.NodeID // "" if an earlier ralph moved them
	Dir   string
	Why   string // with the directory
	Files int    // at most MostMoved
	Bytes int64  // of these
}

// gitReplaced is why what is in the place of ralph's own .git is moved out.
const gitReplaced = "what was in place of its .git was moved out of its worktree"

// MostMoved bounds how many files of a directory are counted.
const MostMoved = 1000

func (s *space) movedNote(w *worktree) string {
	return filepath.Join(s.state, "moved-out", w.name+".json")
}

// loadMoved reads what is on record, without what was never moved or is gone.
func loadMoved(note string) ([]moved, error) {
	b, err := regular.ReadOwn(note)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []moved
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("what was moved out of a worktree, %s: %w", note, err)
	}
	return slices.DeleteFunc(all, func(m moved) bool {
		entries, err := os.ReadDir(m.Dir)
		return errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0
	}), nil
}

func (s *space) noteMoved(w *worktree, all []moved) error {
	b, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.WriteOwn(s.movedNote(w), append(b, '\n'), 0o600)
}

// untold is what was moved out of a worktree and not reported yet.
func (s *space) untold(w *worktree) ([]string, error) {
	all, err := loadMoved(s.movedNote(w))
	return lists.Map(lists.Keep(all, func(m moved) bool { return !m.Told }), func(m moved) string { return m.Why }), err
}

// told notes that all that was moved out of a worktree was reported.
func (s *space) told(w *worktree) error {
	all, err := loadMoved(s.movedNote(w))
	if err != nil || !slices.ContainsFunc(all, func(m moved) bool { return !m.Told }) {
		return err
	}
	for i := range all {
		all[i].Told = true
	}
	return s.noteMoved(w, all)
}

// tellMoved returns what was not reported yet; from now on it counts as reported.
func (s *space) tellMoved(w *worktree) ([]string, error) {
	out, err := s.untold(w)
	if err != nil || len(out) == 0 {
		return nil, err
	}
	return bounded(out, roomProblems), s.told(w)
}

// moveOut moves paths of a worktree into a directory of their own in ralph's state or,
// where that is another file system, beside the worktree. why says what they are; the
// directory is added to it. Of a worktree apart, which goes with all that is in it, they
// are removed.
func (s *space) moveOut(w *worktree, why string, paths ...string) error {
	paths, err := inTree(w, paths)
	if err != nil {
		return err
	}
	if strings.Contains(w.name, "@") {
		var q asking
		for _, p := range paths {
			q.do(func() error { return removeAll(filepath.Join(w.dir, filepath.FromSlash(p))) })
		}
		return q.err
	}
	own := filepath.Dir(s.movedNote(w))
	if err := regular.MkdirOwn(own); err != nil {
		return err
	}
	was, err := loadMoved(s.movedNote(w))
	if err != nil {
		return err
	}
	for _, pattern := range []string{filepath.Join(own, w.name+"-"), w.dir + ".moved-out-"} {
		var dir string
		if dir, err = os.MkdirTemp(filepath.Dir(pattern), filepath.Base(pattern)+"*"); err != nil {
			return err
		}
		was = append(was, moved{Dir: dir, Why: why + ", to " + dir})
		if err := s.noteMoved(w, was); err != nil {
			return err
		}
		if err = s.moveTo(dir, w, paths); !errors.Is(err, syscall.EXDEV) {
			break
		}
	}
	return err
}

// inTree leaves out the paths that are not in a worktree: they are gone, or a directory on
// their way is a link that leads out of it, to what is not ralph's to move.
func inTree(w *worktree, paths []string) ([]string, error) {
	if slices.Contains(paths, ".") { // the whole of it, or what is in its place
		return paths, nil
	}
	root, err := os.OpenRoot(w.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return lists.Keep(paths, func(p string) bool {
		_, err := root.Lstat(filepath.FromSlash(p))
		return err == nil
	}), nil
}

func (s *space) moveTo(dir string, w *worktree, paths []string) error {
	for _, p := range paths {
		from := filepath.Join(w.dir, filepath.FromSlash(p))
		to := filepath.Join(dir, filepath.FromSlash(p))
		if p == "." {
			to = filepath.Join(dir, filepath.Base(w.dir))
		}
		err := os.MkdirAll(filepath.Dir(to), 0o700)
		if err == nil {
			err = os.Rename(from, to)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // gone already
			_ = clearOut(dir) // what is moved already stays
			return fmt.Errorf("move %s out of the worktree: %w", p, err)
		}
	}
	return nil
}

// clearOut removes a directory if nothing but directories is in it.
func clearOut(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.IsDir() {
			err = cmp.Or(err, clearOut(filepath.Join(dir, e.Name())))
		}
	}
	return cmp.Or(os.Remove(dir), err)
}

// MovedOut lists directories of moved-out files that still exist, by node.
func (s Trees) MovedOut(ctx context.Context) ([]MovedOut, error) {
	var out []MovedOut
	add := func(node ir.NodeID, m moved) error {
		x := MovedOut{Node: node, Dir: m.Dir, Why: m.Why}
		err := filepath.WalkDir(m.Dir, func(_ string, d fs.DirEntry, err error) error {
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil || d.IsDir():
				return nil
			}
			if st, err := d.Info(); err == nil {
				x.Files, x.Bytes = x.Files+1, x.Bytes+st.Size()
			}
			if x.Files == MostMoved {
				return fs.SkipAll
			}
			return nil
		})
		if x.Files > 0 {
			out = append(out, x)
		}
		return err
	}
	notes, err := filepath.Glob(filepath.Join(escapeGlob(s.state), "moved-out", "*.json"))
	if err != nil {
		return nil, err
	}
	for _, note := range notes {
		all, err := loadMoved(note)
		if err != nil {
			return nil, err
		}
		for _, m := range all {
			if err := add(ir.NodeID(strings.TrimSuffix(filepath.Base(note), ".json")), m); err != nil {
				return nil, err
			}
		}
	}
	for _, pattern := range []string{".moved-out-*", "replaced-git-*"} { // of earlier releases
		dirs, err := filepath.Glob(filepath.Join(escapeGlob(s.state), pattern))
		if err != nil {
			return nil, err
		}
		for _, dir := range dirs {
			if err := add("", moved{Dir: dir, Why: "moved out of a worktree, to " + dir}); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}
