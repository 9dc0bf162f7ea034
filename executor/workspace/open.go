package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/ir"
)

// Open implements executor.Workspace. A separate worktree is named for its gate, so that
// several of a node may be open at once, and is created and set up anew each time.
func (s *Space) Open(ctx context.Context, e executor.Effect) (string, error) {
	w := s.treeOf(e)
	defer s.hold(w.name)()
	q := s.git.asking(ctx)
	if e.Apart {
		there, err := s.find(w)
		if q.note(err); there { // a crash came before Close
			q.do(func() error { return s.takeAway(w) })
			w.forget()
		}
	} else {
		q.note(s.claim(ctx, e))
	}
	q.do(func() error { return s.worktree(ctx, w, e.Commit) })
	if q.err != nil {
		return "", q.err
	}
	_, err := s.prepare(ctx, w, e)
	if err == nil && s.epic.Gates[e.Gate].Kind == "command" {
		err = s.noteStamps(ctx, w)
	}
	return w.dir, err
}

// Close implements executor.Workspace. Changes that a gate left in the node's worktree are
// saved before removal, because they may be others'; a separate worktree is the gate's
// alone, or (e.Stay) shared by gates in turn. At most maxChanged paths of each kind are named.
func (s *Space) Close(ctx context.Context, e executor.Effect) (executor.Trace, error) {
	w := s.treeOf(e)
	defer s.hold(w.name)()
	touched := s.touched(w)
	there, err := s.find(w)
	if err != nil || !there && e.Apart {
		return executor.Trace{}, err
	}
	if err := s.worktree(ctx, w, e.Commit); err != nil {
		return executor.Trace{}, err
	}
	now, err := s.look(ctx, w)
	if err != nil {
		return executor.Trace{}, err
	}
	t := now.trace(w)
	t.Touched = some(touched)
	t.New = some(append(t.New, w.special...))
	switch {
	case e.Apart && e.Stay:
		return t, errors.Join(s.reset(ctx, w, e.Commit), s.swept(w)) // only gates were there
	case e.Apart:
		return t, s.takeAway(w)
	}
	if _, err = s.putBack(ctx, w, e, now); err == nil { // what it lacks now, the next Open prepares
		err = s.settle(w, e.Commit, w.Prepared)
	}
	return t, err
}

// treeOf is the worktree in which a gate of a node judges, or the node's own.
func (s *space) treeOf(e executor.Effect) *worktree {
	if e.Apart {
		return s.apart(s.nodes[e.Node], e.Gate)
	}
	return s.own(s.nodes[e.Node])
}

// trace is what differs from what ralph left in the worktree.
func (v *sight) trace(w *worktree) executor.Trace {
	t := executor.Trace{New: some(v.fresh), Changed: some(append(v.changed, v.unmerged...))}
	if w.Left == "" {
		return t
	}
	if v.head != w.Left || v.branch != w.ref || w.cut {
		t.Changed = append(t.Changed, "HEAD")
	}
	if v.staged || v.broken || len(v.unmerged) > 0 {
		t.Changed = append(t.Changed, "index")
	}
	return t
}

// some bounds a list of paths for an event.
func some(paths []string) []string { return bounded(paths, executor.MaxNote/4) }

// takeAway removes a worktree and all that is known of it, but for what a setup printed that
// failed: the failure names that. It may be cut and done again: git's own record of it goes
// last but for ralph's.
func (s *space) takeAway(w *worktree) error {
	q := asking{err: removeAll(w.dir)}
	if w.Admin != "" && !w.Clone {
		q.do(func() error { return regular.RemoveAllOwn(filepath.Join(s.git.common, "worktrees", w.Admin)) })
	}
	known, err := filepath.Glob(s.record(w, ".*"))
	q.note(err)
	logs := lists.Keep(known, func(f string) bool { return filepath.Ext(f) == ".log" })
	known = slices.DeleteFunc(known, func(f string) bool { return slices.Contains(logs, f) })
	if w.Prepared {
		known = slices.Concat(logs, known) // first: what is known says that it succeeded
	}
	for _, f := range known {
		q.do(func() error { return remove(f) })
	}
	return q.err
}

// removeAll removes a tree, also where a program made directories read-only.
func removeAll(dir string) error {
	err := os.RemoveAll(dir)
	if err == nil || !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return errors.Join(unlockDirs(dir), os.RemoveAll(dir))
}

// Recover cleans up after a crash: gates' separate worktrees, and half-written files. It
// moves worktrees that the epic has renamed. From then on changes to the repository's
// settings have no effect, and its git processes carry Mark. It is called once when a run
// starts, under the run lock: processes that only read, or are refused the lock, are not
// found by the next holder's sweep.
func (s Trees) Recover(ctx context.Context) error {
	s.git.env = append(s.git.env, Mark+"="+filepath.Join(s.state, "git"), process.ToolMark())
	q := asking{err: s.confine(ctx)}
	q.do(s.recoverApart)
	q.do(s.moveRenamed)
	for _, half := range []string{"index-*", "import-*"} {
		found, err := filepath.Glob(filepath.Join(escapeGlob(s.state), half))
		q.note(err)
		for _, path := range found {
			q.do(func() error { return regular.RemoveAllOwn(path) })
		}
	}
	return q.err
}

// recoverApart removes worktrees apart: those on record, and those that a crash kept
// from being recorded. Each directory is read once, however many nodes there are.
func (s *space) recoverApart() error {
	recorded, err := os.ReadDir(filepath.Join(s.state, "worktrees"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	names := map[ir.NodeID][]string{}
	for _, f := range recorded {
		if id, rest, ok := strings.Cut(f.Name(), "@"); ok {
			name, _, _ := strings.Cut(rest, ".")
			names[ir.NodeID(id)] = append(names[ir.NodeID(id)], name)
		}
	}
	beside := map[string]map[string][]string{} // by directory, and by what is before the mark
	for id, n := range s.nodes {
		dir, base := filepath.Split(s.dirOf(id))
		gates, ok := beside[dir]
		if !ok {
			there, _ := os.ReadDir(dir) // mostly it is not there yet
			gates = map[string][]string{}
			for _, f := range there {
				for i := range f.Name() {
					if name, ok := strings.CutPrefix(f.Name()[i:], gateMark); ok {
						gates[f.Name()[:i]] = append(gates[f.Name()[:i]], name)
					}
				}
			}
			beside[dir] = gates
		}
		all := append(names[id], gates[base]...)
		slices.Sort(all)
		for _, name := range slices.Compact(all) {
			if err := s.recoverGate(n, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// recoverGate removes the worktree apart of a node's gate, if it is one.
func (s *space) recoverGate(n *ir.Node, name string) error {
	w := &worktree{node: n, name: string(n.ID) + "@" + name, dir: s.dirOf(n.ID) + gateMark + name}
	there, err := s.find(w)
	if err != nil {
		return err
	}
	if !there && !s.cutWhileMade(w.dir) {
		if on, err := exists(s.record(w, ".json")); err != nil || !on {
			return err // someone else's
		}
	}
	if err := s.takeAway(w); err != nil {
		return fmt.Errorf("take away %s, which an interrupted gate left: %w", w.dir, err)
	}
	return nil
}

// cutWhileMade reports whether a directory is a worktree of this repository that
// git had only begun to make: it holds nothing but the link.
func (s *space) cutWhileMade(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 1 {
		return false
	}
	return len(entries) == 0 || entries[0].Name() == halfClone || s.linked(dir)
}

func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// noteStamps notes how the tracked files of a worktree are before a gate runs
// there; touched says at its end which of them were written to since. Git would
// not tell: one that was changed and put back is the same to it.
func (s *space) noteStamps(ctx context.Context, w *worktree) error {
	stamps, err := s.stampsOf(ctx, w)
	s.stamped.Store(w.name, stamps)
	return err
}

// touched lists the tracked files that were written to since noteStamps, sorted,
// and forgets what was noted.
func (s *space) touched(w *worktree) []string {
	noted, ok := s.stamped.LoadAndDelete(w.name)
	if !ok {
		return nil
	}
	var touched []string
	for path, was := range noted.(map[string]stamp) {
		if st, err := os.Lstat(filepath.Join(w.dir, filepath.FromSlash(path))); err != nil || stampOf(st) != was {
			touched = append(touched, path)
		}
	}
	slices.Sort(touched)
	return touched
}

// stampsOf are the stamps of the files that the index of a worktree names and that
// are there. Git is asked where the index is large, or split.
func (s *space) stampsOf(ctx context.Context, w *worktree) (map[string]stamp, error) {
	stamps := map[string]stamp{}
	var paths []string
	b, err := regular.ReadMax(filepath.Join(w.at.gitDir, "index"), maxIndex)
	if list, ok := readIndex(b, s.newHash().Size()); err == nil && ok {
		paths = lists.Map(list, func(e indexed) string { return e.path })
	} else {
		var err error
		if paths, err = s.git.list(ctx, w.at, "", "ls-files", "-z"); err != nil {
			return nil, err
		}
	}
	for _, path := range paths {
		if st, err := os.Lstat(filepath.Join(w.dir, filepath.FromSlash(path))); err == nil && !st.IsDir() {
			stamps[path] = stampOf(st)
		}
	}
	return stamps, nil
}
