package workspace

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// joined is what several results give when they are merged in order.
type joined struct {
	commit  string // of all of them; with conflicts it holds their markers and is not a result
	tree    string
	clean   string            // commit before the first conflict
	heads   []string          // what is merged into clean, if there is a conflict
	culprit ir.NodeID         // whose result conflicts first
	paths   []string          // in conflict, in order of their first
	stages  map[string]string // of these, as git update-index --index-info reads them
}

// join merges inputs into at, in order, without a worktree. It does not stop at
// a conflict: what follows is merged into the tree with its markers, so that all
// conflicts of a node are before their resolver at once.
func (s *space) join(ctx context.Context, id ir.NodeID, at string, inputs []executor.Result) (*joined, error) {
	j := &joined{stages: map[string]string{}}
	for _, in := range inputs {
		if has, err := s.git.ancestor(ctx, in.Commit, at); err != nil {
			return nil, err
		} else if has {
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
func (s *space) sameAs(ctx context.Context, in executor.Result, at string) (string, error) {
	q := s.git.asking(ctx)
	if in.Same == "" || !q.ancestor(in.Same, at) || q.tree(in.Same) != q.tree(in.Commit) {
		return "", q.err
	}
	tree := q.tree(at)
	return tree, q.err
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

// label is how markers call a result: its branch, if that is there.
func (s *space) label(ctx context.Context, in executor.Result) string {
	if n := s.nodes[in.Node]; n != nil && n.ID != executor.Integration {
		if at, err := s.git.ref(ctx, "refs/heads/"+n.Git.Branch); err == nil && at == in.Commit {
			return n.Git.Branch
		}
	}
	return in.Commit
}

// lacks returns those of the inputs are not in a commit's history.
func (s *space) lacks(ctx context.Context, commit string, inputs []executor.Result) ([]executor.Result, error) {
	q := s.git.asking(ctx)
	out := slices.DeleteFunc(slices.Clone(inputs), func(in executor.Result) bool { return q.ancestor(in.Commit, commit) })
	return out, q.err
}

// reduced returns the commits of inputs, in order, without those that another
// one contains.
func (s *space) reduced(ctx context.Context, inputs []executor.Result) ([]string, error) {
	q := s.git.asking(ctx)
	var commits []string // each once
	for _, in := range inputs {
		if !slices.Contains(commits, in.Commit) {
			commits = append(commits, in.Commit)
		}
	}
	out := slices.DeleteFunc(slices.Clone(commits), func(c string) bool {
		return slices.ContainsFunc(commits, func(other string) bool { return c != other && q.ancestor(c, other) })
	})
	if len(out) == 0 {
		q.note(errors.New("nothing to merge"))
	}
	return out, q.err
}
