package workspace

import (
	"context"

	"github.com/ralph-compiler/ralph/executor"
)

// asking asks git one question after another. After the first error it asks and moves
// nothing, and its answers are zero: err is what the caller returns in the end.
type asking struct {
	git *git
	ctx context.Context
	err error
}

func (g *git) asking(ctx context.Context) *asking { return &asking{git: g, ctx: ctx} }

// note takes an error of the caller's own, if it is the first.
func (q *asking) note(err error) {
	if q.err == nil {
		q.err = err
	}
}

func (q *asking) ref(name string) (oid string) {
	if q.err == nil {
		oid, q.err = q.git.ref(q.ctx, name)
	}
	return oid
}

func (q *asking) tree(commit string) (tree string) {
	if q.err == nil {
		tree, q.err = q.git.tree(q.ctx, commit)
	}
	return tree
}

func (q *asking) at(commit string) (at executor.Tree) {
	if q.err == nil {
		at, q.err = q.git.at(q.ctx, commit)
	}
	return at
}

// ancestor reports whether a is b or an ancestor of b.
func (q *asking) ancestor(a, b string) (is bool) {
	if q.err == nil {
		is, q.err = q.git.ancestor(q.ctx, a, b)
	}
	return is
}

func (q *asking) update(why string, moves ...move) {
	if q.err == nil {
		q.err = q.git.update(q.ctx, why, moves...)
	}
}
