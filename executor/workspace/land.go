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
func (s *Space) onto(ctx context.Context, e executor.Effect) (executor.BaseMade, error) {
	made := executor.BaseMade{}
	var head, name string
	var err error
	if e.Onto == executor.OntoTarget {
		name = s.target()
		head, err = s.fetch(ctx, name)
	} else {
		name = s.epic.Epic.Integration.Branch
		head, err = s.Head(ctx)
	}
	if err != nil {
		return made, err
	}
	if head == "" {
		return made, config("there is neither a branch %s nor a pinned base to start from", name)
	}
	for _, in := range e.Inputs {
		has, err := s.arrived(ctx, head, in)
		if err != nil {
			return made, err
		}
		if !has {
			return made, &executor.Failure{Class: executor.FailTransient, Err: fmt.Errorf(
				"%s stands at %.12s, which does not hold the result of %s (%.12s): was it rewound?", name, head, s.name(in.Node), in.Commit)}
		}
	}
	tree, err := s.git.tree(ctx, head)
	made.Base, made.Head = executor.Tree{Commit: head, Tree: tree}, head
	return made, err
}

// holds reports whether a commit has the work of another: it is an ancestor, or
// to merge it changes nothing (it was squashed, or picked).
func (s *Space) holds(ctx context.Context, commit, work string) (bool, error) {
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
func (s *Space) arrived(ctx context.Context, head string, in executor.Result) (bool, error) {
	merged, err := s.git.ref(ctx, s.nodeRef(in.Node, "merged"))
	if err != nil {
		return false, err
	}
	pushed, err := s.git.ref(ctx, s.nodeRef(in.Node, "pushed"))
	if err != nil {
		return false, err
	}
	if merged != "" && pushed == in.Commit {
		if has, err := s.git.ancestor(ctx, merged, head); err != nil || has {
			return has, err
		}
	}
	return s.holds(ctx, head, in.Commit)
}

// Land implements executor.Workspace. Whether it has happened is read from the
// branch: it holds e.Commit, or all of e.Inputs. One lands at a time.
func (s *Space) Land(ctx context.Context, e executor.Effect) (executor.Landed, error) {
	defer s.hold("land")()
	name := s.epic.Epic.Integration.Branch
	branch := "refs/heads/" + name
	now, err := s.git.ref(ctx, branch)
	if err != nil {
		return executor.Landed{}, err
	}
	if now != "" {
		landed, err := s.git.ancestor(ctx, e.Commit, now)
		if err != nil {
			return executor.Landed{}, err
		}
		if landed {
			return s.landed(ctx, now)
		}
	}
	lacks, err := s.lacks(ctx, e.Commit, e.Inputs)
	if err != nil {
		return executor.Landed{}, err
	}
	if len(lacks) > 0 {
		return executor.Landed{}, config("%.12s is to land on %s and does not hold the result of %s", e.Commit, name, s.name(lacks[0].Node))
	}
	old := e.Old
	if old == "" && now != "" {
		// It may stand at the base already, made by the user for this.
		base, err := s.base(ctx)
		if err != nil {
			return executor.Landed{}, err
		}
		if now != base {
			return executor.Landed{}, config("the integration branch %s exists and is not ralph's: rename it (git branch -m %s OTHER)", name, shellword.Quote(name))
		}
		old = now
	}
	if now == "" && old != "" {
		if base, err := s.base(ctx); err != nil || base != old {
			return executor.Landed{}, config("the integration branch %s was deleted: restore it (git branch %s %.12s)", name, shellword.Quote(name), old)
		}
		old = "" // nothing has landed yet: it begins at the base
	}
	forward := true
	if now != "" {
		if forward, err = s.git.ancestor(ctx, now, e.Commit); err != nil {
			return executor.Landed{}, err
		}
	}
	if now != old || !forward {
		tree, err := s.git.tree(ctx, now)
		if err != nil {
			return executor.Landed{}, err
		}
		return executor.Landed{}, &executor.Failure{Class: executor.FailMoved, Head: executor.Tree{Commit: now, Tree: tree}, Err: fmt.Errorf(
			"%s has moved to %.12s meanwhile, which %.12s does not hold", name, now, e.Commit)}
	}
	if by := s.checkedOut(branch, ""); by != "" {
		return executor.Landed{}, config("the integration branch %s is checked out in %s: check out another branch there", name, by)
	}
	if err := s.git.update(ctx, "land", move{branch, old, e.Commit}); err != nil {
		return executor.Landed{}, err
	}
	return s.landed(ctx, e.Commit)
}

func (s *Space) landed(ctx context.Context, head string) (executor.Landed, error) {
	tree, err := s.git.tree(ctx, head)
	return executor.Landed{Head: executor.Tree{Commit: head, Tree: tree}}, err
}
