package workspace

import (
	"context"
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// Base implements executor.Workspace: it merges the inputs one after another
// with merge-tree, touching no worktree. The commits carry fixed people and
// dates, so that the same inputs give the same commit everywhere.
func (s *Space) Base(ctx context.Context, e executor.Effect) (executor.BaseMade, error) {
	if e.Onto != executor.OntoInputs {
		return s.onto(ctx, e)
	}
	j, err := s.join(ctx, e.Node, e.Inputs[0].Commit, e.Inputs[1:])
	if err != nil {
		return executor.BaseMade{}, err
	}
	if len(j.paths) > 0 {
		first, more := j.paths, ""
		if len(first) > shown {
			first, more = first[:shown], fmt.Sprintf(" and %d more", len(first)-shown)
		}
		return executor.BaseMade{}, &executor.Failure{Class: executor.FailConflict, Paths: j.paths, Err: fmt.Errorf(
			"the result of %s does not merge with what was merged before it; in conflict: %s%s", s.name(j.culprit), strings.Join(first, ", "), more)}
	}
	if err := s.pinJoined(ctx, e, j.commit); err != nil {
		return executor.BaseMade{}, err
	}
	return executor.BaseMade{Base: executor.Tree{Commit: j.commit, Tree: j.tree}}, nil
}

// pinJoined keeps a derived commit from a gc of the user's until the first
// attempt stands on it.
func (s *Space) pinJoined(ctx context.Context, e executor.Effect, commit string) error {
	for _, in := range e.Inputs {
		if in.Commit == commit {
			return nil
		}
	}
	ref := s.nodeRef(e.Node, "joined")
	old, err := s.git.ref(ctx, ref)
	if err != nil {
		return err
	}
	return s.git.update(ctx, "base", move{ref, old, commit})
}

// shown is how many paths in conflict are named.
const shown = 10

// derive makes the merge of in into at, whose tree is given, with fixed people
// and dates.
func (s *Space) derive(ctx context.Context, id ir.NodeID, tree, at string, in executor.Result) (string, error) {
	latest := ""
	for _, c := range []string{at, in.Commit} {
		h, err := s.git.commitHeader(ctx, c)
		if err != nil {
			return "", err
		}
		if t := h.when; len(t) > len(latest) || len(t) == len(latest) && t > latest {
			latest = t
		}
	}
	msg := fmt.Sprintf("Merge %s for %s (%s/%s)\n\nRalph-Epic: %s\nRalph-Node: %s\n",
		s.name(in.Node), s.name(id), s.epic.Epic.ID, id, s.epic.Epic.ID, id)
	date := "@" + latest + " +0000"
	env := []string{
		"GIT_AUTHOR_NAME=ralph", "GIT_AUTHOR_EMAIL=ralph@localhost", "GIT_AUTHOR_DATE=" + date,
		"GIT_COMMITTER_NAME=ralph", "GIT_COMMITTER_EMAIL=ralph@localhost", "GIT_COMMITTER_DATE=" + date,
	}
	b, err := s.git.run(ctx, place{}, msg, env, "commit-tree", tree, "-p", at, "-p", in.Commit)
	return strings.TrimSpace(string(b)), err
}

// name is how a node is called in messages.
func (s *Space) name(id ir.NodeID) string {
	if n := s.nodes[id]; n != nil {
		return string(n.Key)
	}
	return string(id)
}
