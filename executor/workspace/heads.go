package workspace

import (
	"context"
	"fmt"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/shellword"
)

// Heads returns the bases as they would be pinned if none was: what Rebase would
// move them to. It changes nothing.
func (s *Space) Heads(ctx context.Context) (executor.Tree, []executor.NamedTree, error) {
	at := func(branch string) (executor.Tree, error) {
		from, err := s.source(ctx, branch)
		if err != nil {
			return executor.Tree{}, err
		}
		commit, err := s.git.ref(ctx, from+"^{commit}")
		if err != nil {
			return executor.Tree{}, err
		}
		if commit == "" {
			return executor.Tree{}, &Refusal{fmt.Sprintf("the base %q does not exist in this repository", branch), "git branch " + shellword.Quote(branch) + " (or name another base in the plan)"}
		}
		tree, err := s.git.tree(ctx, commit)
		return executor.Tree{Commit: commit, Tree: tree}, err
	}
	base, err := at(s.epic.Epic.Base)
	if err != nil {
		return base, nil, err
	}
	var own []executor.NamedTree
	for i := range s.epic.Nodes {
		n := &s.epic.Nodes[i]
		if n.Git.Base == s.epic.Epic.Base || n.Git.Base == "" || len(n.Merges) > 0 || blocked(n) {
			continue
		}
		t, err := at(n.Git.Base)
		if err != nil {
			return base, nil, fmt.Errorf("node %s: %w", n.Key, err)
		}
		own = append(own, executor.NamedTree{Name: n.Git.Base, Tree: t})
	}
	return base, own, nil
}

// Size estimates, in bytes, what one worktree of a commit takes: its files.
func (s *Space) Size(ctx context.Context, commit string) (int64, error) {
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
