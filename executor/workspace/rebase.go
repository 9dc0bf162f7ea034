package workspace

import (
	"context"
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// Rebase moves each pinned base to where Heads found its branch, all or none. What was
// built on the old ones stays on record. A base that was never pinned is pinned. The
// caller holds the run lock.
func (s *Space) Rebase(ctx context.Context, base executor.Tree, own []executor.NamedTree) error {
	var moves []move
	add := func(ref, to string) error {
		old, err := s.git.ref(ctx, ref)
		if err == nil && old != to {
			moves = append(moves, move{ref, old, to})
		}
		return err
	}
	if err := add(s.prefix()+"base", base.Commit); err != nil {
		return err
	}
	for i := range s.epic.Nodes {
		n := &s.epic.Nodes[i]
		if !s.ownBase(n) {
			continue
		}
		for _, b := range own {
			if b.Name != n.Git.Base {
				continue
			}
			if err := add(s.nodeRef(n.ID, "base"), b.Commit); err != nil {
				return fmt.Errorf("node %s: %w", n.Key, err)
			}
			break
		}
	}
	return s.git.update(ctx, "rebase", moves...)
}

// Restore puts the pinned bases back to where the journal says that they were
// pinned, and says which somebody else had moved: everything that is protected is
// compared with them. The caller holds the run lock.
func (s *Space) Restore(ctx context.Context, base executor.Tree, own []executor.NamedTree) ([]string, error) {
	var moves []move
	var moved []string
	look := func(ref, pinned string) error {
		now, err := s.git.ref(ctx, ref)
		if err != nil || pinned == "" || now == pinned && !s.git.symbolic(ref) {
			return err
		}
		if there, err := s.git.ref(ctx, pinned+"^{commit}"); err != nil || there == "" { // in another repository
			return err
		}
		moves = append(moves, move{ref, now, pinned})
		stood := "stood nowhere"
		if now != "" {
			stood = fmt.Sprintf("stood at %.12s", now)
		}
		moved = append(moved, fmt.Sprintf("%s %s, and the journal knows nothing of that: it is at %.12s again. To start from the branch as it is now: ralph apply --rebase", ref, stood, pinned))
		return nil
	}
	if err := look(s.prefix()+"base", base.Commit); err != nil {
		return nil, err
	}
	for i := range s.epic.Nodes {
		n := &s.epic.Nodes[i]
		if !s.ownBase(n) {
			continue
		}
		for _, b := range own {
			if b.Name != n.Git.Base {
				continue
			}
			if err := look(s.nodeRef(n.ID, "base"), b.Tree.Commit); err != nil {
				return nil, err
			}
		}
	}
	return moved, s.git.update(ctx, "restore base", moves...)
}

// Head returns where the integration branch stands: before anything has landed,
// at the pinned base.
func (s *Space) Head(ctx context.Context) (string, error) {
	head, err := s.Integrated(ctx)
	if err != nil || head != "" {
		return head, err
	}
	return s.base(ctx)
}

// Integrated returns the integration branch's commit, "" if there is no such branch.
func (s *Space) Integrated(ctx context.Context) (string, error) {
	if s.sumRef() == "" {
		return "", nil
	}
	return s.git.ref(ctx, s.sumRef())
}

// Within returns those of the commits that the head of the integration branch is, or
// has in its history. Without such a branch it is none.
func (s *Space) Within(ctx context.Context, commits []string) (map[string]bool, error) {
	head, err := s.Integrated(ctx)
	if err != nil {
		return nil, err
	}
	return s.WithinCommit(ctx, head, commits)
}

// WithinCommit is Within of a commit; "" holds nothing.
func (s *Space) WithinCommit(ctx context.Context, head string, commits []string) (map[string]bool, error) {
	in := make(map[string]bool, len(commits))
	if head == "" || len(commits) == 0 {
		return in, nil
	}
	out, err := s.git.run(ctx, place{}, strings.Join(commits, "\n")+"\n^"+head+"\n", nil, "rev-list", "--stdin")
	if err != nil {
		return nil, err
	}
	for _, c := range commits {
		in[c] = true
	}
	for c := range strings.FieldsSeq(string(out)) {
		in[c] = false
	}
	return in, nil
}

// ownBase reports whether a node is a root that names a base of its own.
func (s *Space) ownBase(n *ir.Node) bool {
	return n.Git.Base != "" && n.Git.Base != s.epic.Epic.Base && len(n.Merges) == 0 && !blocked(n)
}

// Merged returns those of the results that a base holds already: an ancestor of
// it, or such that to merge it changes nothing (it was squashed), or what one of
// those was made from, which may have changed it since. They are done by the base.
func (s *Space) Merged(ctx context.Context, base string, results []executor.Result) ([]ir.NodeID, error) {
	in := map[string]bool{}
	held := []string{"rev-list"}
	for _, r := range results {
		if r.Commit == "" || in[r.Commit] {
			continue
		}
		has, err := s.holds(ctx, base, r.Commit)
		if err != nil {
			return nil, fmt.Errorf("result of %s: %w", s.name(r.Node), err)
		}
		if has {
			in[r.Commit] = true
			held = append(held, r.Commit)
		}
	}
	if len(in) > 0 && len(in) < len(results) {
		below, err := s.git.run(ctx, place{}, "", nil, append(held, "^"+base)...)
		if err != nil {
			return nil, err
		}
		for commit := range strings.FieldsSeq(string(below)) {
			in[commit] = true
		}
	}
	var out []ir.NodeID
	for _, r := range results {
		if in[r.Commit] {
			out = append(out, r.Node)
		}
	}
	return out, nil
}
