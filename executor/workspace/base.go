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
	at := e.Inputs[0].Commit
	for _, in := range e.Inputs[1:] {
		if has, err := s.git.ancestor(ctx, in.Commit, at); err != nil || has {
			if err != nil {
				return executor.BaseMade{}, err
			}
			continue
		}
		if forward, err := s.git.ancestor(ctx, at, in.Commit); err != nil {
			return executor.BaseMade{}, err
		} else if forward {
			at = in.Commit
			continue
		}
		merged, err := s.merge(ctx, e.Node, at, in)
		if err != nil {
			return executor.BaseMade{}, err
		}
		at = merged
	}
	tree, err := s.git.tree(ctx, at)
	return executor.BaseMade{Base: executor.Tree{Commit: at, Tree: tree}}, err
}

// shown is how many paths in conflict are named.
const shown = 10

func (s *Space) merge(ctx context.Context, id ir.NodeID, at string, in executor.Result) (string, error) {
	out, err := s.git.run(ctx, place{}, "", nil, "merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", at, in.Commit)
	fields := strings.Split(strings.TrimRight(string(out), "\x00"), "\x00")
	if exitCode(err) == 1 && len(fields) > 1 {
		paths := fields[1:]
		more := ""
		if len(paths) > shown {
			more = fmt.Sprintf(" and %d more", len(paths)-shown)
			paths = paths[:shown]
		}
		return "", conflict("the result of %s does not merge with what was merged before it; in conflict: %s%s",
			s.name(in.Node), strings.Join(paths, ", "), more)
	}
	if err != nil {
		return "", err
	}
	when, err := s.git.line(ctx, place{}, "show", "-s", "--format=%ct", at, in.Commit)
	if err != nil {
		return "", err
	}
	latest := ""
	for t := range strings.FieldsSeq(when) {
		if len(t) > len(latest) || len(t) == len(latest) && t > latest {
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
	b, err := s.git.run(ctx, place{}, msg, env, "commit-tree", fields[0], "-p", at, "-p", in.Commit)
	return strings.TrimSpace(string(b)), err
}

// name is how a node is called in messages.
func (s *Space) name(id ir.NodeID) string {
	if n := s.nodes[id]; n != nil {
		return string(n.Key)
	}
	return string(id)
}
