package workspace

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/glob"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/ir"
)

// prepareMerge leaves the conflict of the step's inputs in the worktree, as `git
// merge` does: HEAD is what merged cleanly before the first conflict, the index
// holds the stages of each path, the files hold markers, and MERGE_HEAD names
// what is being merged. Where several inputs conflict, all of them are merged on
// top of one another and MERGE_HEAD names each. An attempt that goes on from one
// before it, which has all inputs, finds its tree; what it left as it was is
// still in conflict.
func (s *space) prepareMerge(ctx context.Context, w *worktree, e executor.Effect) (out executor.Prepared, err error) {
	whole, err := s.join(ctx, e.Node, e.Inputs[0].Commit, e.Inputs[1:])
	if err != nil {
		return out, err
	}
	j := whole
	missing, err := s.lacks(ctx, e.Commit, e.Inputs)
	switch {
	case err != nil:
	case len(missing) == 0:
		j, err = s.unresolved(ctx, whole, e.Commit)
	case e.Commit != e.Inputs[0].Commit:
		j, err = s.join(ctx, e.Node, e.Commit, e.Inputs)
	}
	if err != nil {
		return out, err
	}
	out.Paths = some(j.paths)
	now, err := s.look(ctx, w)
	if err != nil {
		return out, err
	}
	if w.Left == j.clean && w.Shot != "" && slices.Equal(w.Heads, j.heads) {
		if as, err := s.untouched(ctx, w, now); err != nil || as {
			return out, err
		}
	}
	at := e
	at.Commit = j.clean
	if out.Saved, err = s.prepare(ctx, w, at); err != nil || len(j.paths) == 0 {
		return out, err
	}
	return out, s.leave(ctx, w, j, e)
}

// unresolved is the state of a merge that was committed with paths as they were.
func (s *space) unresolved(ctx context.Context, whole *joined, commit string) (*joined, error) {
	tree, err := s.git.tree(ctx, commit)
	if err != nil {
		return nil, err
	}
	j := &joined{commit: commit, tree: tree, clean: commit, stages: map[string]string{}}
	j.paths, err = s.unchanged(ctx, whole.tree, tree, whole.paths)
	for _, p := range j.paths {
		j.stages[p] = whole.stages[p]
	}
	return j, err
}

// unchanged returns those of the paths that are the same in two trees.
func (s *space) unchanged(ctx context.Context, from, to string, paths []string) ([]string, error) {
	changes, err := s.changes(ctx, from, to)
	touched := lists.Index(changes, func(c *change) string { return c.path })
	return lists.Keep(paths, func(p string) bool { _, is := touched[p]; return !is }), err
}

// leave writes the conflict into a clean worktree at j.clean.
func (s *space) leave(ctx context.Context, w *worktree, j *joined, e executor.Effect) error {
	q := s.git.asking(ctx)
	q.line(w.at, "read-tree", "--reset", "-u", j.tree)
	var b strings.Builder
	for _, p := range j.paths {
		fmt.Fprintf(&b, "0 %s\t%s\x00", strings.Repeat("0", len(j.clean)), p)
		b.WriteString(j.stages[p])
	}
	q.do(func() error {
		_, err := s.git.run(ctx, w.at, b.String(), nil, "update-index", "-z", "--index-info")
		return err
	})
	if len(j.heads) > 0 {
		for _, f := range [][2]string{
			{"MERGE_MODE", "no-ff"},
			{"MERGE_MSG", fmt.Sprintf("Merge %s for %s\n", s.namesAmong(e.Inputs, j.heads), s.name(e.Node))},
			{"MERGE_HEAD", strings.Join(j.heads, "\n") + "\n"}, // last: from now on it is a merge
		} {
			path := filepath.Join(w.at.gitDir, f[0])
			q.do(func() error { return removeIn(path) }) // it may be a link
			q.do(func() error { return regular.WriteFile(path, []byte(f[1]), 0o600) })
		}
	}
	q.do(func() (err error) { w.Shot, err = s.snapshot(ctx, w, s.stage); return err })
	q.do(func() error { w.Heads = j.heads; return s.pinConflict(ctx, w) })
	q.do(func() error { return s.remember(w) })
	return q.err
}

// mergeHeads reads MERGE_HEAD of a worktree.
func (s *space) mergeHeads(w *worktree) []string {
	b, err := regular.ReadFile(filepath.Join(w.at.gitDir, "MERGE_HEAD"))
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(strings.Fields(string(b)), func(word string) bool { return !isOid(word) }) // an agent can write there
}

// endMerge forgets that a merge was under way.
func (s *space) endMerge(w *worktree) error {
	for _, name := range []string{"MERGE_HEAD", "MERGE_MODE", "MERGE_MSG", "AUTO_MERGE"} {
		if err := remove(filepath.Join(w.at.gitDir, name)); err != nil {
			return err
		}
	}
	w.Shot, w.Heads = "", nil
	return nil
}

// stuck says what of the conflict is untouched, before anything is added
// to the index: a path that git still calls unmerged and that is as ralph left it.
func (s *space) stuck(ctx context.Context, w *worktree, now sight) ([]string, error) {
	var problems []string
	q := s.git.asking(ctx)
	if w.Shot != "" && len(w.Heads) > 0 && len(s.mergeHeads(w)) == 0 && slices.ContainsFunc(w.Heads, func(h string) bool { return !q.ancestor(h, now.head) }) {
		problems = append(problems, "the merge was given up (git merge --abort, or a reset): resolve it instead")
	}
	if q.err != nil || len(now.unmerged) == 0 || w.Shot == "" {
		return problems, q.err
	}
	tree, err := s.snapshot(ctx, w, s.stage)
	if err != nil {
		return nil, err
	}
	left, err := s.unchanged(ctx, w.Shot, tree, now.unmerged)
	if len(left) > 0 {
		problems = append(problems, "not resolved (edit, then git add): "+listed(left))
	}
	return problems, err
}

// examineMerge checks a resolution. What it changed is told against the
// automatic merge. Only paths in conflict may differ from that; of these, what a
// gate protects must be one side's version, which is for a person to judge.
func (s *space) examineMerge(ctx context.Context, e executor.Effect, commit string, problems []string) (executor.Collected, error) {
	c := executor.Collected{Problems: problems}
	var err error
	if c.Result, err = s.git.at(ctx, commit); err != nil {
		return c, err
	}
	if h, err := s.git.commitHeader(ctx, commit); err != nil {
		return c, err
	} else if len(problems) > 0 && slices.Equal(h.parents, []string{e.Commit}) { // nothing of it was taken
		return c, nil
	}
	whole, err := s.join(ctx, e.Node, e.Inputs[0].Commit, e.Inputs[1:])
	if err != nil {
		return c, err
	}
	files, changes, err := s.fileChanges(ctx, whole.tree, commit)
	if err != nil {
		return c, err
	}
	if err := s.tell(&c, e, files, roomChanges); err != nil {
		return c, err
	}
	var breaches []string
	if others := lists.Keep(changes, func(ch change) bool { return !inConflict(whole.paths, ch.path) }); len(others) > 0 {
		outside := listed(lists.Map(others, func(ch change) string { return ch.path }))
		breaches = append(breaches, "changed files that were not in conflict (they must stay as git merged them): "+outside)
	}
	markers, err := s.markers(ctx, e.Inputs[0].Commit, commit)
	if err != nil {
		return c, err
	}
	c.Problems = append(c.Problems, slices.DeleteFunc(markers, func(m string) bool {
		return !slices.ContainsFunc(whole.paths, func(p string) bool { return strings.Contains(m, p) })
	})...)
	touched, err := s.mergedProtected(ctx, e, whole, commit)
	if err != nil {
		return c, err
	}
	if len(touched) > 0 && e.Person {
		breaches = append(breaches, "protected, and neither side's version: "+listed(touched))
	}
	if e.Person {
		c.Listed = append(c.Listed, breaches...)
	} else {
		c.Problems = append(c.Problems, breaches...)
	}
	c.Problems, c.Listed = bounded(c.Problems, roomProblems), bounded(c.Listed, roomListed)
	if len(touched) > 0 && !e.Person && len(c.Problems) == 0 {
		return c, &executor.Failure{Class: executor.FailProtected, Paths: touched, Err: fmt.Errorf(
			"the merge is resolved in a way that is neither side's in files that a gate protects: %s; look at %s, fix it in %s and retry --gates-only, or retry",
			listed(touched), s.attemptRef(e), s.dirOf(e.Node))}
	}
	return c, nil
}

// inConflict reports whether a resolution may change path: it is in conflict, or
// below what is (a file against a directory), or it is what git renamed to keep
// both ("name~branch").
func inConflict(paths []string, path string) bool {
	for _, p := range paths {
		if path == p || strings.HasPrefix(path, p+"/") {
			return true
		}
		if i := strings.LastIndexByte(p, '~'); i > 0 && (path == p[:i] || strings.HasPrefix(path, p[:i]+"/")) {
			return true
		}
	}
	return false
}

// mergedProtected lists the paths in conflict that a gate protects and that are
// now neither side's version.
func (s *space) mergedProtected(ctx context.Context, e executor.Effect, whole *joined, commit string) ([]string, error) {
	var globs []string
	for _, name := range s.gatesOf(e.Node) {
		globs = append(globs, s.epic.Gates[name].Protect...)
	}
	if len(globs) == 0 {
		return nil, nil
	}
	q := s.git.asking(ctx)
	out := slices.DeleteFunc(slices.Clone(whole.paths), func(p string) bool {
		return !glob.MatchAny(globs, p) || slices.ContainsFunc(e.Inputs, func(in executor.Result) bool { return q.ref(in.Commit+":"+p) == q.ref(commit+":"+p) })
	})
	return out, q.err
}

// gatesOf returns the names of all gates of a node, or of the sum.
func (s *space) gatesOf(id ir.NodeID) []string {
	if id == executor.Integration {
		return s.epic.Epic.Integration.Gates
	}
	var out []string
	for i := range s.nodes[id].Steps {
		for _, g := range s.nodes[id].Steps[i].Gates {
			if !slices.Contains(out, g) {
				out = append(out, g)
			}
		}
	}
	return out
}
