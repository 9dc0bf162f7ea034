package workspace

import (
	"context"
	"fmt"

	"github.com/ralph-compiler/ralph/ir"
)

// Kept is a worktree that Clean left, and why.
type Kept struct {
	Node ir.NodeID
	Dir  string
	Why  string
}

// Clean removes the worktrees of nodes whose results need them no longer. One
// with changes that are not committed, or whose work is not merged into the
// integration branch or the base, or not pushed although a pull request was asked
// for, stays and is reported. Nothing is forced.
func (s Trees) Clean(ctx context.Context, nodes []ir.NodeID) ([]Kept, error) {
	var kept []Kept
	for _, id := range nodes {
		why, err := s.clean(ctx, s.nodes[id])
		if err != nil {
			return kept, fmt.Errorf("clean up %s: %w", s.dirOf(id), err)
		}
		if why != "" {
			kept = append(kept, Kept{id, s.dirOf(id), why})
		}
	}
	return kept, nil
}

func (s *space) clean(ctx context.Context, n *ir.Node) (string, error) {
	defer s.hold(string(n.ID))()
	w := s.own(n)
	if there, err := s.stands(w); err != nil || !there {
		return "", err
	}
	if found, err := special(ctx, w.dir, ""); err != nil || len(found) > 0 {
		return fmt.Sprintf("it holds %d special files, such as FIFOs", len(found)), err
	}
	if !s.linkIntact(w) {
		return "its .git is not the one that ralph wrote", nil
	}
	if err := s.take(ctx, w); err != nil || w.refused != "" {
		return w.refused, err
	}
	now, err := s.look(ctx, w)
	switch {
	case err != nil:
		return "", err
	case w.Shot != "" || len(s.mergeHeads(w)) > 0:
		return "a merge is under way there", nil
	case now.dirty:
		return "it holds changes that are not committed", nil
	}
	if why, err := s.unmerged(ctx, now.head); err != nil || why != "" {
		return why, err
	}
	if in := s.epic.Epic.Integration; in.PR == "node" || in.Mode == "wait" {
		q := s.git.asking(ctx)
		pushed := q.ref(s.nodeRef(n.ID, "pushed"))
		if pushed == "" || !q.ancestor(now.head, pushed) {
			return "its work is not pushed", q.err
		}
	}
	return "", s.takeAway(w)
}

// unmerged says where work is not merged, "" if the integration branch, the base or the
// target has it.
func (s *space) unmerged(ctx context.Context, work string) (string, error) {
	base, err := s.base(ctx)
	q := s.git.asking(ctx)
	q.note(err)
	for _, ref := range []string{s.sumRef(), base, s.prefix() + "target"} {
		if ref == "" {
			continue
		}
		merged := false
		if tip := q.ref(ref); tip != "" {
			q.do(func() (err error) { merged, err = s.holds(ctx, tip, work); return err })
		}
		if q.err != nil || merged {
			return "", q.err
		}
	}
	if s.sumRef() == "" {
		return "its work is merged nowhere", q.err
	}
	return "its work is not merged into " + s.epic.Epic.Integration.Branch, q.err
}
