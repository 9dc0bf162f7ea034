package workspace

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/ir"
)

// noteRefs remembers where the refs stand that are not ralph's, before an agent
// begins.
func (s *space) noteRefs(id ir.NodeID) error {
	now, err := s.standsNow()
	if err == nil {
		s.refs.Store(id, now)
	}
	return err
}

// standsNow reads the user's refs, and what is stashed.
func (s *space) standsNow() (*standing, error) {
	refs, err := s.foreignRefs()
	if err != nil {
		return nil, err
	}
	stash, err := s.readStash()
	return &standing{refs, stash}, err
}

// standing is the former state of the user's refs, and what was stashed.
type standing struct {
	refs  map[string]string
	stash []stashed
}

// movedRefs lists the refs that are not ralph's and moved since noteRefs, and the
// secrets that came with them. They are never put back: it may have been the user.
func (s *space) movedRefs(ctx context.Context, id ir.NodeID) (out, secrets []string, err error) {
	v, ok := s.refs.Load(id)
	if !ok { // ralph was interrupted in between
		return nil, nil, nil
	}
	was := v.(*standing)
	now, err := s.standsNow()
	if err != nil {
		return nil, nil, err
	}
	if secrets, err = s.knownRefs(ctx, was.refs, now.refs); err != nil {
		return nil, nil, err
	}
	s.refs.Delete(id)
	for _, ref := range union(was.refs, now.refs) {
		switch old, at := was.refs[ref], now.refs[ref]; {
		case old == at:
		case old == "":
			out = append(out, ref+" was made")
		case at == "":
			out = append(out, ref+" was deleted")
		default:
			out = append(out, ref+" moved")
		}
	}
	for _, e := range without(was.stash, now.stash) {
		out = append([]string{fmt.Sprintf("%s: %s was dropped or popped (to have it back: %s)", stashRef, stashNames([]stashed{e}), e.store())}, out...)
	}
	if len(out) > shown {
		out = append(out[:shown:shown], fmt.Sprintf("and %d more refs", len(out)-shown))
	}
	for i := range out {
		out[i] += meanwhile
	}
	return out, secrets, nil
}

const meanwhile = " meanwhile (by the agent, or by you)"

// foreignRefs returns the refs that are not ralph's, but for the stash and those that
// a checkout has for itself.
func (s *space) foreignRefs() (map[string]string, error) { return s.git.refsBut(s.owned, "refs") }

// owned reports whether a ref, or a directory of refs that ends with a slash, is
// ralph's, the stash, or a checkout's own.
func (s *space) owned(ref string) bool {
	within := func(own string) bool { return strings.HasPrefix(ref, own) }
	return slices.ContainsFunc([]string{"refs/ralph/", "refs/bisect/", "refs/rewritten/", "refs/worktree/"}, within) || ref == stashRef || s.branches[branchRef(ref)]
}

// branchRef is the branch that a push left a remote one of, else the ref itself.
func branchRef(ref string) string {
	if name, ok := strings.CutPrefix(ref, "refs/remotes/"); ok {
		_, ref, _ = strings.Cut(name, "/")
		ref = "refs/heads/" + ref
	}
	return ref
}

// skipped says what of a commit is left out of worktrees on purpose.
func (s *space) skipped(ctx context.Context, commit string) ([]string, error) {
	if s.epic.Run.Worktree.Submodules {
		return nil, nil
	}
	if oid, err := s.git.ref(ctx, commit+":.gitmodules"); err != nil || oid == "" {
		return nil, err
	}
	return []string{"submodules"}, nil
}
