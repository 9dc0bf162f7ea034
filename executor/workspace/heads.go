package workspace

import (
	"context"
	"fmt"
	"slices"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/shellword"
)

// Heads returns the bases as they would be pinned if none was: what Rebase would
// move them to. It changes nothing.
func (s Bases) Heads(ctx context.Context) (executor.Tree, []executor.NamedTree, error) {
	return s.eachBase(func(_, branch string) (executor.Tree, error) {
		commit, err := s.headOfBase(ctx, branch)
		if err != nil {
			return executor.Tree{}, err
		}
		return s.git.at(ctx, commit)
	})
}

// eachBase asks for the base of the epic, and for those of roots that name their own, by
// the refs that pin them and the branches that they are taken from.
func (s *space) eachBase(at func(ref, branch string) (executor.Tree, error)) (base executor.Tree, own []executor.NamedTree, err error) {
	if base, err = at(s.prefix()+"base", s.epic.Epic.Base); err != nil {
		return base, nil, err
	}
	for i := range s.epic.Nodes {
		n := &s.epic.Nodes[i]
		if n.Git.Base == "" || n.Git.Base == s.epic.Epic.Base || len(n.Merges) > 0 || blocked(n) {
			continue
		}
		t, err := at(s.nodeRef(n.ID, "base"), n.Git.Base)
		if err != nil {
			return base, nil, fmt.Errorf("node %s: %w", n.Key, err)
		}
		own = append(own, executor.NamedTree{Name: n.Git.Base, Tree: t})
	}
	return base, own, nil
}

// eachPin goes through the refs that pin bases, with the commits that are known for them.
func (s *space) eachPin(base string, own []executor.NamedTree, do func(ref, commit string) error) error {
	_, _, err := s.eachBase(func(ref, branch string) (executor.Tree, error) {
		if ref == s.prefix()+"base" {
			return executor.Tree{}, do(ref, base)
		}
		if i := slices.IndexFunc(own, func(b executor.NamedTree) bool { return b.Name == branch }); i >= 0 {
			return executor.Tree{}, do(ref, own[i].Commit)
		}
		return executor.Tree{}, nil
	})
	return err
}

// headOfBase is the commit at which the base of this name is pinned today.
func (s *space) headOfBase(ctx context.Context, branch string) (string, error) {
	from, err := s.source(ctx, branch)
	if err != nil {
		return "", err
	}
	commit, err := s.git.ref(ctx, from+"^{commit}")
	if err == nil && commit == "" {
		err = &Refusal{fmt.Sprintf("the base %q does not exist in this repository", branch), "git branch " + shellword.Quote(branch) + " (or name another base in the plan)"}
	}
	return commit, err
}

// Size estimates, in bytes, what one worktree of a commit takes: its files.
func (s Bases) Size(ctx context.Context, commit string) (int64, error) {
	out, err := s.git.line(ctx, place{}, "ls-tree", "-r", "--format=%(objectsize)", commit)
	if err != nil {
		return 0, err
	}
	return sumSizes(out), nil
}

// sumSizes adds up numbers, one a line; submodules have none.
func sumSizes(lines string) (sum int64) {
	n := int64(0)
	for _, c := range []byte(lines + "\n") {
		switch {
		case c >= '0' && c <= '9':
			n = n*10 + int64(c-'0')
		case c == '\n':
			sum, n = sum+n, 0
		}
	}
	return sum
}
