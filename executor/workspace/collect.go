package workspace

import (
	"context"
	"errors"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// Collect implements executor.Workspace: the attempt's changes become one commit of
// ralph's, with trailers, on the node's branch.
func (s *Space) Collect(ctx context.Context, e executor.Effect, o executor.Outcome) (c executor.Collected, err error) {
	defer s.hold(string(e.Node))()
	n := s.nodes[e.Node]
	if e.Merge && e.Commit == "" {
		e.Commit = e.Inputs[0].Commit
	}
	if n.Kind == ir.Manual && !e.Merge {
		return s.collectManual(ctx, e, n)
	}
	if e.Judged {
		commit := e.Commit
		e.Start, e.Commit = e.Base, ""
		return s.examine(ctx, e, n, &ir.Step{Name: e.Step, Access: "write", AllowEmpty: true}, commit, nil)
	}
	step := stepOf(n, e.Step)
	if e.Person || e.Merge || e.Node == executor.Integration && s.merger(n) != "" { // of the sum: the conflict agent mends what gates found
		step = &ir.Step{Name: e.Step, Agent: s.merger(n), Access: "write", AllowEmpty: true}
	}
	commit, problems, err := s.adopt(ctx, e)
	if err != nil {
		return c, err
	}
	var seen []string // that is only listed
	w := s.own(n)
	if commit != "" {
		err = s.told(w) // by the commit
	} else if err = s.worktree(ctx, w, e.Commit); err == nil {
		if step.Access == "read" {
			return s.collectRead(ctx, e, w)
		}
		if e.Person {
			seen = specialProblems(w.special)
		}
		if e.Person && !e.Merge {
			err = s.bringOwn(ctx, w, e)
		}
		if err == nil {
			commit, problems, err = s.collect(ctx, e, w, step, o)
		}
	}
	if err != nil {
		return c, err
	}
	moved, named, err := s.movedRefs(ctx, e.Node)
	if err != nil {
		return c, err
	}
	if e.Person || w.Clone { // from a clone git leads nowhere: it was the user, or a fetch
		seen = append(seen, named...)
	} else {
		problems = append(problems, named...)
	}
	if e.Merge {
		c, err = s.examineMerge(ctx, e, commit, problems)
	} else if c, err = s.examine(ctx, e, n, step, commit, problems); err == nil && e.Person {
		err = s.lacking(ctx, &c, e)
	}
	list(&c, append(c.Listed, append(seen, moved...)...), c.Fresh)
	return c, err
}

// collect commits what is in the worktree and returns the commit and what can be
// seen only there.
func (s *space) collect(ctx context.Context, e executor.Effect, w *worktree, step *ir.Step, o executor.Outcome) (commit string, problems []string, err error) {
	if w.gone {
		// Not a change that anybody wants: the next attempt begins where this one did.
		moved, err := s.untold(w)
		q := asking{err: err}
		problems = append([]string{deleted}, moved...)
		q.do(func() (err error) { commit, err = s.forsaken(ctx, e, w, step, o, problems...); return err })
		return commit, problems, q.err
	}
	parent, tree, problems, err := s.gathered(ctx, e, w)
	q := s.git.asking(ctx)
	q.note(err)
	taken := asked(q, func() (string, error) { return s.ofTheStash(ctx, e, w, tree) })
	if taken != "" && q.err == nil {
		return s.takeNothing(ctx, e, w, step, o, append(problems, taken))
	}
	own := []string{parent}
	if e.Person { // of an agent's merge the parents are others
		own = append(own, s.mergeHeads(w)...)
	}
	secrets := asked(q, func() ([]string, error) { return s.known(ctx, e, own, tree) })
	switch {
	case q.err != nil:
	case len(secrets) > 0 && e.Person:
		q.err = config("%s; nothing was committed", strings.Join(secrets, "; "))
	case len(secrets) > 0:
		return s.takeNothing(ctx, e, w, step, executor.Outcome{}, append(secrets, problems...)) // its words may hold the secret
	case e.Merge:
		own, q.err = s.reduced(ctx, e.Inputs)
	case !e.Person && s.epic.Run.Git.Commit == "squash":
		own = []string{e.Commit}
	}
	commit = asked(q, func() (string, error) { return s.commit(ctx, e, w.node, step, o, tree, own, problems) })
	q.do(func() error { return s.keep(ctx, e, w, commit) })
	return commit, problems, q.err
}

// gathered stages all that is in a worktree. It returns the tree, the commit that it
// is on, and what is wrong with it so far.
func (s *space) gathered(ctx context.Context, e executor.Effect, w *worktree) (parent, tree string, problems []string, err error) {
	if parent, problems, err = s.tip(ctx, e, w); err != nil {
		return "", "", nil, err
	}
	same := s.asIndexed(w) // then nothing was staged, and it can be read
	q := s.git.asking(ctx)
	if !same {
		q.do(func() error { return s.mendIndex(ctx, w, e.Commit) })
	}
	add := func(more []string, err error) error {
		problems = append(problems, more...)
		return err
	}
	q.do(func() error { return add(s.unfinished(ctx, e, w)) })
	if !e.Person {
		problems = append(problems, specialProblems(w.special)...)
	}
	q.do(func() error { return s.unnest(ctx, w, same) })
	q.do(func() error { return s.stage(ctx, w, w.at) })
	q.do(func() error { return add(s.untold(w)) })
	tree = q.line(w.at, "write-tree")
	return parent, tree, problems, q.err
}

// unfinished says what is left to do in the merge of a person or of a conflict's agent.
func (s *space) unfinished(ctx context.Context, e executor.Effect, w *worktree) ([]string, error) {
	if !e.Person && !e.Merge {
		return nil, nil
	}
	now, err := s.look(ctx, w)
	if err != nil {
		return nil, err
	}
	if e.Merge {
		return s.stuck(ctx, w, now)
	}
	left, err := s.halfMerged(ctx, w, now)
	if left == "" {
		return nil, err
	}
	return []string{left}, err
}

// merger is the agent who resolves conflicts of a node: its first that may
// write, else the one that the epic names.
func (s *space) merger(n *ir.Node) string {
	for i := range n.Steps {
		if n.Steps[i].Access == "write" && n.Steps[i].Agent != "" {
			return n.Steps[i].Agent
		}
	}
	return s.epic.Epic.Integration.ConflictAgent
}

const deleted = "it deleted its worktree"

// forsaken records an attempt of which nothing is taken: the tree that it started
// from.
func (s *space) forsaken(ctx context.Context, e executor.Effect, w *worktree, step *ir.Step, o executor.Outcome, problems ...string) (commit string, err error) {
	q := s.git.asking(ctx)
	tree := q.tree(e.Commit)
	commit = asked(q, func() (string, error) {
		return s.commit(ctx, e, w.node, step, o, tree, []string{e.Commit}, problems)
	})
	q.do(func() error { return s.keep(ctx, e, w, commit) })
	return commit, q.err
}

// takeNothing leaves all of what an attempt left: it is saved, and the next one begins
// where this one did.
func (s *space) takeNothing(ctx context.Context, e executor.Effect, w *worktree, step *ir.Step, o executor.Outcome, problems []string) (commit string, _ []string, err error) {
	now, err := s.look(ctx, w)
	q := asking{err: err}
	q.do(func() error { return s.saved(ctx, w, now, e.Seq) })
	q.do(func() (err error) { commit, err = s.forsaken(ctx, e, w, step, o, problems...); return err })
	q.do(func() error { return s.reset(ctx, w, commit) })
	return commit, problems, q.err
}

func stepOf(n *ir.Node, name string) *ir.Step {
	for i := range n.Steps {
		if n.Steps[i].Name == name {
			return &n.Steps[i]
		}
	}
	return &ir.Step{Name: name, Access: "read"}
}

// collectRead is for steps that may change nothing: new files are removed and
// listed, changed ones fail the attempt, and the result is where it started.
func (s *space) collectRead(ctx context.Context, e executor.Effect, w *worktree) (executor.Collected, error) {
	c, err := s.undoRead(ctx, e, w)
	q := asking{err: err}
	var out, named []string
	q.do(func() (err error) { out, err = s.tellMoved(w); return err })
	q.do(func() (err error) { _, named, err = s.movedRefs(ctx, e.Node); return err })
	c.Listed = append(c.Listed, out...)
	if w.Clone {
		c.Listed = append(c.Listed, named...)
	} else {
		c.Problems = append(c.Problems, named...)
	}
	return c, q.err
}

// undoRead puts a worktree back, and says what was changed in it.
func (s *space) undoRead(ctx context.Context, e executor.Effect, w *worktree) (executor.Collected, error) {
	q := s.git.asking(ctx)
	c := executor.Collected{Problems: specialProblems(w.special), Result: q.at(e.Commit)}
	if q.err != nil {
		return c, q.err
	}
	now, err := s.look(ctx, w)
	if err != nil {
		return c, err
	}
	if !now.dirty && now.head == e.Commit && !w.gone {
		return c, s.swept(w)
	}
	if w.gone {
		c.Problems = append(c.Problems, deleted)
	} else if w.cut || now.broken || len(now.changed)+len(now.unmerged) > 0 || now.head != e.Commit {
		c.Problems = append(c.Problems, "the step is read-only, but changed "+listed(append(now.changed, now.unmerged...)))
	}
	if len(now.fresh) > 0 {
		c.Listed = append(c.Listed, "new files of a read-only step, removed: "+listed(now.fresh))
	}
	q.do(func() error { return s.saved(ctx, w, now, e.Seq) })
	q.do(func() error { return s.give(ctx, w, e.Commit, e.Seq) })
	q.do(func() error { return errors.Join(s.reset(ctx, w, e.Commit), s.swept(w)) })
	return c, q.err
}
