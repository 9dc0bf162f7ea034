package workspace

import (
	"context"
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// joined is what several results give when they are merged in order.
type joined struct {
	commit  string // of all of them; with conflicts it holds their markers and is nobody's result
	tree    string
	clean   string            // commit before the first conflict
	heads   []string          // what is merged into clean, if there is a conflict
	culprit ir.NodeID         // whose result conflicts first
	paths   []string          // in conflict, in order of their first
	stages  map[string]string // of these, as git update-index --index-info reads them
}

// join merges inputs into at, in order, without a worktree. It does not stop at
// a conflict: what follows is merged into the tree with its markers, so that all
// conflicts of a node lie before whoever resolves them at once.
func (s *Space) join(ctx context.Context, id ir.NodeID, at string, inputs []executor.Result) (*joined, error) {
	j := &joined{stages: map[string]string{}}
	for _, in := range inputs {
		if has, err := s.git.ancestor(ctx, in.Commit, at); err != nil || has {
			if err != nil {
				return nil, err
			}
			continue
		}
		if as, err := s.sameAs(ctx, in, at); err != nil {
			return nil, err
		} else if as != "" && len(j.paths) == 0 {
			if at, err = s.derive(ctx, id, as, at, in); err != nil {
				return nil, err
			}
			continue
		}
		if len(j.paths) == 0 {
			j.clean = at
			if forward, err := s.git.ancestor(ctx, at, in.Commit); err != nil {
				return nil, err
			} else if forward {
				at = in.Commit
				continue
			}
		}
		tree, entries, err := s.mergeTree(ctx, at, in.Commit, s.label(ctx, in))
		if err != nil {
			return nil, err
		}
		if len(entries) > 0 && j.culprit == "" {
			j.culprit = in.Node
		}
		j.note(entries)
		if len(j.paths) > 0 {
			j.heads = append(j.heads, in.Commit)
		}
		if at, err = s.derive(ctx, id, tree, at, in); err != nil {
			return nil, err
		}
	}
	if len(j.paths) == 0 {
		j.clean = at
	}
	j.commit = at
	var err error
	j.tree, err = s.git.tree(ctx, at)
	return j, err
}

// sameAs returns the tree of at, if that holds a commit with the very files of the
// result: to merge it changes nothing, whatever others have made of these files.
func (s *Space) sameAs(ctx context.Context, in executor.Result, at string) (string, error) {
	if in.Same == "" {
		return "", nil
	}
	if has, err := s.git.ancestor(ctx, in.Same, at); err != nil || !has {
		return "", err
	}
	was, err := s.git.tree(ctx, in.Same)
	if err != nil {
		return "", err
	}
	if now, err := s.git.tree(ctx, in.Commit); err != nil || now != was {
		return "", err
	}
	return s.git.tree(ctx, at)
}

// note adds the index entries of paths in conflict. A path that conflicts twice
// keeps those of the first time.
func (j *joined) note(entries []string) {
	fresh := map[string]bool{}
	for _, e := range entries {
		_, path, _ := strings.Cut(e, "\t")
		if _, known := j.stages[path]; !known {
			fresh[path] = true
			j.paths = append(j.paths, path)
		}
		if fresh[path] {
			j.stages[path] += e + "\x00"
		}
	}
}

// label is how markers call a result: its branch, if that stands there.
func (s *Space) label(ctx context.Context, in executor.Result) string {
	if n := s.nodes[in.Node]; n != nil && n.ID != executor.Integration {
		if at, err := s.git.ref(ctx, "refs/heads/"+n.Git.Branch); err == nil && at == in.Commit {
			return n.Git.Branch
		}
	}
	return in.Commit
}

// contains reports which of the inputs are not in a commit's history.
func (s *Space) lacks(ctx context.Context, commit string, inputs []executor.Result) ([]executor.Result, error) {
	var out []executor.Result
	for _, in := range inputs {
		has, err := s.git.ancestor(ctx, in.Commit, commit)
		if err != nil {
			return nil, err
		}
		if !has {
			out = append(out, in)
		}
	}
	return out, nil
}

// reduced returns the commits of inputs, in order, without those that another
// one contains.
func (s *Space) reduced(ctx context.Context, inputs []executor.Result) ([]string, error) {
	var out []string
	for i, in := range inputs {
		keep := true
		for k, other := range inputs {
			if i == k || in.Commit == other.Commit && k > i {
				continue
			}
			has, err := s.git.ancestor(ctx, in.Commit, other.Commit)
			if err != nil {
				return nil, err
			}
			if has {
				keep = false
				break
			}
		}
		if keep {
			out = append(out, in.Commit)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("nothing to merge")
	}
	return out, nil
}
