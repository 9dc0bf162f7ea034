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

func (q *asking) ref(name string) string {
	return asked(q, func() (string, error) { return q.git.ref(q.ctx, name) })
}

func (q *asking) tree(commit string) string {
	return asked(q, func() (string, error) { return q.git.tree(q.ctx, commit) })
}

func (q *asking) at(commit string) executor.Tree {
	return asked(q, func() (executor.Tree, error) { return q.git.at(q.ctx, commit) })
}

// ancestor reports whether a is b or an ancestor of b.
func (q *asking) ancestor(a, b string) bool {
	return asked(q, func() (bool, error) { return q.git.ancestor(q.ctx, a, b) })
}

func (q *asking) update(why string, moves ...move) {
	q.do(func() error { return q.git.update(q.ctx, why, moves...) })
}

// beyond returns a commit if another does not hold it, "" if it does or there is none.
func (q *asking) beyond(commit, than string) string {
	if commit == "" || q.ancestor(commit, than) || q.err != nil {
		return ""
	}
	return commit
}

func (q *asking) point(why string, targets ...[2]string) {
	q.do(func() error { return q.git.point(q.ctx, why, targets...) })
}

// line runs git and returns its output without the last line ending.
func (q *asking) line(at place, args ...string) string {
	return asked(q, func() (string, error) { return q.git.line(q.ctx, at, args...) })
}

// commit makes a commit; env says who made it, and when.
func (q *asking) commit(message string, env []string, tree string, parents ...string) string {
	return asked(q, func() (string, error) { return q.git.commitTree(q.ctx, message, env, tree, parents...) })
}

// do takes a step of the caller's own.
func (q *asking) do(step func() error) {
	if q.err == nil {
		q.err = step()
	}
}

// asked returns what a question is answered with; the zero value if it fails, or was not
// asked because another one failed before.
func asked[T any](q *asking, question func() (T, error)) (answer T) {
	if q.err == nil {
		answer, q.err = question()
	}
	return answer
}
