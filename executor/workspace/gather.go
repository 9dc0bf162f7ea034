package workspace

import (
	"context"
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/ir"
)

// Gathered is where work on an epic would start if it was built on the results of nodes
// of any epic of this repository.
type Gathered struct {
	Base    executor.Tree
	Results []executor.Result // that it holds, in the order in which they were asked for
	Missing []ir.NodeID       // without a result here

	// A conflict leaves Base empty.
	Culprit ir.NodeID // whose result does not merge with those before it
	Paths   []string  // in conflict
}

// nodeName is what an id has to look like to be looked up among the refs.
var nodeName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// Gather merges the results of nodes, of any epic, into the head of the branch that
// this epic starts from, for the epic's first node. It moves no ref. of names a node's
// epic if several epics have a node of its id; without an entry, or if that epic has no
// result, an only result is taken.
func (s Results) Gather(ctx context.Context, nodes []ir.NodeID, of map[ir.NodeID]ir.NodeID) (Gathered, error) {
	var g Gathered
	for _, id := range nodes {
		commit, err := s.resultOf(ctx, id, of[id])
		if err != nil {
			return g, err
		}
		if commit == "" {
			g.Missing = append(g.Missing, id)
			continue
		}
		at, err := s.git.at(ctx, commit)
		if err != nil {
			return g, err
		}
		g.Results = append(g.Results, executor.Result{Node: id, Tree: at})
	}
	heads, _, err := Bases(s).Heads(ctx)
	if err != nil || len(g.Results) == 0 {
		g.Base = heads
		return g, err
	}
	j, err := s.join(ctx, s.epic.Nodes[0].ID, heads.Commit, g.Results)
	if err != nil {
		return g, err
	}
	if g.Culprit, g.Paths = j.culprit, j.paths; len(j.paths) == 0 {
		g.Base = executor.Tree{Commit: j.commit, Tree: j.tree}
	}
	return g, nil
}

// resultOf finds the result of a node of any epic; "" if there is none, or several
// and nothing says which.
func (s *space) resultOf(ctx context.Context, id, epic ir.NodeID) (string, error) {
	if !nodeName.MatchString(string(id)) {
		return "", nil
	}
	out, err := s.git.line(ctx, place{}, "for-each-ref", "--format=%(refname) %(objectname)", "refs/ralph/*/nodes/"+string(id)+"/result")
	if err != nil {
		return "", err
	}
	found := map[string]bool{}
	last := ""
	for line := range strings.Lines(out) {
		ref, commit, _ := strings.Cut(strings.TrimSpace(line), " ")
		if ref == fmt.Sprintf("refs/ralph/%s/nodes/%s/result", epic, id) {
			return commit, nil
		}
		found[commit], last = true, commit
	}
	if len(found) != 1 {
		return "", nil
	}
	return last, nil
}

// Holds reports whether the pinned base of the epic has all these results in its
// history; false if nothing is pinned.
func (s Results) Holds(ctx context.Context, results []executor.Result) (bool, error) {
	base, err := s.base(ctx)
	if err != nil || base == "" {
		return false, err
	}
	missing, err := s.lacks(ctx, base, results)
	return len(missing) == 0, err
}

// PinAt pins the base of the epic at a commit, wherever it was before, and returns
// the bases as Pin does. The caller holds the run lock.
func (s Bases) PinAt(ctx context.Context, commit string) (executor.Tree, []executor.NamedTree, error) {
	now, err := s.git.ref(ctx, commit+"^{commit}")
	if err == nil && now == "" {
		err = &Refusal{What: fmt.Sprintf("there is no commit %q in this repository", commit)}
	}
	if err == nil {
		err = s.git.point(ctx, "pin base", [2]string{s.prefix() + "base", now})
	}
	if err != nil {
		return executor.Tree{}, nil, err
	}
	return s.Pin(ctx)
}
