package workspace

import (
	"maps"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// shows returns the branches, remote branches and tags that the clone of a node gets,
// and where they stand. Of the epic's own these are the branches of what the node needs
// and of all results together: with those of every node each would cost as much as
// there are nodes. Where a person works, or all results are joined, all of them show.
func (s *space) shows(n *ir.Node) (map[string]string, error) {
	under := []string{"refs/heads", "refs/tags", "refs/remotes"}
	if n == nil || n.ID == executor.Integration || n.Kind == ir.Manual {
		return s.git.readRefs(under...)
	}
	sum := s.sumRef()
	refs, err := s.git.refsBut(func(ref string) bool {
		branch := branchRef(ref)
		return s.branches[branch] && branch != sum
	}, under...)
	if err != nil {
		return nil, err
	}
	needed, err := s.needed(n)
	maps.Copy(refs, needed)
	return refs, err
}

// needed returns the branches of the nodes that a node needs. One without a branch was
// skipped, or is done by the plan's word: what it needs itself counts in its place.
func (s *space) needed(n *ir.Node) (map[string]string, error) {
	refs := map[string]string{}
	seen := map[ir.Key]bool{}
	for todo := []*ir.Node{n}; len(todo) > 0; todo = todo[1:] {
		for _, e := range todo[0].After {
			dep := s.byKey[e.Key]
			if e.Type != ir.Blocks || dep == nil || seen[e.Key] {
				continue
			}
			seen[e.Key] = true
			ref := "refs/heads/" + dep.Git.Branch
			at, err := s.git.refFile(ref)
			switch {
			case err != nil:
				return nil, err
			case at == "":
				todo = append(todo, dep)
			default:
				refs[ref] = at
			}
		}
	}
	return refs, nil
}
