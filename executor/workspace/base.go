package workspace

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/shellword"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// Base implements executor.Workspace: it merges the inputs one after another
// with merge-tree, touching no worktree. The commits carry fixed people and
// dates, so that the same inputs give the same commit everywhere.
func (s *Space) Base(ctx context.Context, e executor.Effect) (executor.BaseMade, error) {
	if e.Onto != executor.OntoInputs {
		return s.onto(ctx, e)
	}
	if e.Resolved != "" {
		if made, err := s.resolvedBase(ctx, e); err != nil || made.Base.Commit != "" {
			return made, err
		}
	}
	j, err := s.join(ctx, e.Node, e.Inputs[0].Commit, e.Inputs[1:])
	if err != nil {
		return executor.BaseMade{}, err
	}
	if len(j.paths) > 0 {
		return executor.BaseMade{}, &executor.Failure{Class: executor.FailConflict, Paths: j.paths, Err: fmt.Errorf(
			"the result of %s does not merge with what was merged before it; in conflict: %s", s.name(j.culprit), text.Some(j.paths, shown))}
	}
	if err := s.pinJoined(ctx, e, j.commit); err != nil {
		return executor.BaseMade{}, err
	}
	return executor.BaseMade{Base: executor.Tree{Commit: j.commit, Tree: j.tree}}, nil
}

// pinJoined keeps a derived commit from a gc of the user's until the first
// attempt is on it.
func (s *space) pinJoined(ctx context.Context, e executor.Effect, commit string) error {
	if slices.ContainsFunc(e.Inputs, func(in executor.Result) bool { return in.Commit == commit }) {
		return nil
	}
	return s.git.point(ctx, "base", [2]string{s.nodeRef(e.Node, "joined"), commit})
}

// shown is how many paths in conflict are named.
const shown = 10

// resolvedBase merges the inputs to the tree that a conflict of the same trees was
// resolved to: they are other commits now, and each has to be an ancestor. It
// returns nothing if that tree is gone, or one input holds all others.
func (s *space) resolvedBase(ctx context.Context, e executor.Effect) (made executor.BaseMade, err error) {
	q := s.git.asking(ctx)
	tree := q.ref(e.Resolved + "^{tree}")
	if tree == "" {
		return made, q.err
	}
	parents, err := s.reduced(ctx, e.Inputs)
	if err != nil || len(parents) < 2 {
		return made, err
	}
	commit, err := s.derived(ctx, e.Node, tree, s.namesAmong(e.Inputs, parents), parents...)
	if err != nil {
		return made, err
	}
	return executor.BaseMade{Base: executor.Tree{Commit: commit, Tree: tree}}, s.pinJoined(ctx, e, commit)
}

// namesAmong names those of the inputs that are among the commits.
func (s *space) namesAmong(inputs []executor.Result, commits []string) string {
	among := lists.Keep(inputs, func(in executor.Result) bool { return slices.Contains(commits, in.Commit) })
	return strings.Join(lists.Map(among, func(in executor.Result) string { return s.name(in.Node) }), ", ")
}

// derive makes the merge of in into at, whose tree is given, with fixed people
// and dates.
func (s *space) derive(ctx context.Context, id ir.NodeID, tree, at string, in executor.Result) (string, error) {
	return s.derived(ctx, id, tree, s.name(in.Node), at, in.Commit)
}

// derived makes a merge commit for a node, with fixed people and dates.
func (s *space) derived(ctx context.Context, id ir.NodeID, tree, what string, parents ...string) (string, error) {
	latest := ""
	for _, c := range parents {
		h, err := s.git.commitHeader(ctx, c)
		if err != nil {
			return "", err
		}
		if t := h.when; len(t) > len(latest) || len(t) == len(latest) && t > latest {
			latest = t
		}
	}
	msg := fmt.Sprintf("Merge %s for %s (%s/%s)\n\nRalph-Epic: %s\nRalph-Node: %s\n",
		what, s.name(id), s.epic.Epic.ID, id, s.epic.Epic.ID, id)
	return s.git.commitTree(ctx, msg, byRalph(latest), tree, parents...)
}

// name is how a node is called in messages.
func (s *space) name(id ir.NodeID) string {
	if n := s.nodes[id]; n != nil {
		return string(n.Key)
	}
	return string(id)
}

// Heads returns the bases as they would be pinned now: where Rebase would move them.
// It changes nothing.
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
	for n := range lists.Refs(s.epic.Nodes) {
		if n.Git.Base == "" || n.Git.Base == s.epic.Epic.Base || len(n.Merges) > 0 || blocked(n) {
			continue
		}
		t, err := at(s.nodeRef(n.ID, "base"), n.Git.Base)
		if err != nil {
			return base, nil, fmt.Errorf("sprint %s: %w", n.Key, err)
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

// sumSizes adds up numbers, one per line; submodules have none.
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
