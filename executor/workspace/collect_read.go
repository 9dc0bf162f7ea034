package workspace

import (
	"context"
	"errors"

	"github.com/ralph-compiler/ralph/executor"
)

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
		c.Problems = append(c.Problems, "the step may only read, and it changed "+listed(append(now.changed, now.unmerged...)))
	}
	if len(now.fresh) > 0 {
		c.Listed = append(c.Listed, "new files of a step that only reads, taken away: "+listed(now.fresh))
	}
	q.do(func() error { return s.saved(ctx, w, now, e.Seq) })
	q.do(func() error { return s.give(ctx, w, e.Commit, e.Seq) })
	q.do(func() error { return errors.Join(s.reset(ctx, w, e.Commit), s.swept(w)) })
	return c, q.err
}
