package workspace

import (
	"context"
	"fmt"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/shellword"
)

// onto is what a node starts from in the modes that move a branch while they
// run: the head of the integration branch (before anything has landed, the pinned
// base), or the target's head, fetched.
func (s *space) onto(ctx context.Context, e executor.Effect) (made executor.BaseMade, err error) {
	name := s.epic.Epic.Integration.Branch
	if e.Onto == executor.OntoTarget {
		name = s.target()
		made.Head, err = s.fetch(ctx, name)
	} else {
		made.Head, err = Refs{s}.Head(ctx)
	}
	if err == nil && made.Head == "" {
		err = config("there is neither a branch %s nor a pinned base to start from", name)
	}
	if err != nil {
		return made, err
	}
	for _, in := range e.Inputs {
		has, err := s.arrived(ctx, made.Head, in)
		if err == nil && !has {
			err = &executor.Failure{Class: executor.FailTransient, Err: fmt.Errorf(
				"%s is at %.12s, which does not hold the result of %s (%.12s): was it rewound?", name, made.Head, s.name(in.Node), in.Commit)}
		}
		if err != nil {
			return made, err
		}
	}
	made.Base, err = s.git.at(ctx, made.Head)
	return made, err
}

// holds reports whether a commit has the work of another: it is an ancestor, or
// to merge it changes nothing (it was squashed, or picked).
func (s *space) holds(ctx context.Context, commit, work string) (bool, error) {
	has, err := s.git.ancestor(ctx, work, commit)
	if err != nil || has {
		return has, err
	}
	tree, conflicts, err := s.mergeTree(ctx, commit, work, work)
	if err != nil || len(conflicts) > 0 {
		return false, err
	}
	now, err := s.git.tree(ctx, commit)
	return tree == now, err
}

// arrived reports whether a branch's head has a result: it holds it, or the commit
// by which its pull request was merged, which later commits may have changed.
func (s *space) arrived(ctx context.Context, head string, in executor.Result) (bool, error) {
	q := s.git.asking(ctx)
	merged, pushed := q.ref(s.nodeRef(in.Node, "merged")), q.ref(s.nodeRef(in.Node, "pushed"))
	if has := merged != "" && pushed == in.Commit && q.ancestor(merged, head); q.err != nil || has {
		return has, q.err
	}
	return s.holds(ctx, head, in.Commit)
}

// Land implements executor.Workspace. Whether it has happened is read from the
// branch: it holds e.Commit, or all of e.Inputs. One lands at a time.
func (s *Space) Land(ctx context.Context, e executor.Effect) (executor.Landed, error) {
	defer s.hold("land")()
	name := s.epic.Epic.Integration.Branch
	branch := "refs/heads/" + name
	q := s.git.asking(ctx)
	now := q.ref(branch)
	if now != "" && q.ancestor(e.Commit, now) {
		head := q.at(now)
		return executor.Landed{Head: head}, q.err
	}
	lacks, err := s.lacks(ctx, e.Commit, e.Inputs)
	if q.note(err); q.err == nil && len(lacks) > 0 {
		q.err = config("%.12s is to land on %s and does not hold the result of %s", e.Commit, name, s.name(lacks[0].Node))
	}
	base, err := s.base(ctx)
	q.note(err)
	old := e.Old
	switch {
	case q.err != nil:
	case old == "" && now != "" && now != base: // it may stand at the base already, made by the user for this
		q.err = config("the integration branch %s exists and is not ralph's: rename it (git branch -m %s OTHER)", name, shellword.Quote(name))
	case old == "":
		old = now
	case now == "" && base != old:
		q.err = config("the integration branch %s was deleted: restore it (git branch %s %.12s)", name, shellword.Quote(name), old)
	case now == "":
		old = "" // nothing has landed yet: it begins at the base
	}
	if now != old || now != "" && !q.ancestor(now, e.Commit) {
		f := &executor.Failure{Class: executor.FailMoved, Head: q.at(now), Err: fmt.Errorf(
			"%s has moved to %.12s meanwhile, which %.12s does not hold", name, now, e.Commit)}
		q.note(f)
	}
	if by := s.checkedOut(branch, ""); by != "" {
		q.note(config("the integration branch %s is checked out in %s: check out another branch there", name, by))
	}
	q.update("land", move{branch, old, e.Commit})
	head := q.at(e.Commit)
	return executor.Landed{Head: head}, q.err
}
