package workspace

import (
	"context"
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// Rebase moves each pinned base to its branch's commit in Heads, all or none. Work built
// on the old ones stays on record. A base that was never pinned is pinned. The caller
// holds the run lock.
func (s Bases) Rebase(ctx context.Context, base executor.Tree, own []executor.NamedTree) error {
	var targets [][2]string
	err := s.eachPin(base.Commit, own, func(ref, to string) error {
		targets = append(targets, [2]string{ref, to})
		return nil
	})
	if err != nil {
		return err
	}
	return s.git.point(ctx, "rebase", targets...)
}

// Restore moves the pinned bases back to their commits in the journal, and returns which
// ones others had moved: everything protected is compared with them. The caller holds the
// run lock.
func (s Bases) Restore(ctx context.Context, base executor.Tree, own []executor.NamedTree) ([]string, error) {
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
		moved = append(moved, fmt.Sprintf("%s %s, which is not in the journal: it is at %.12s again. To start from the branch as it is now: ralph apply --rebase", ref, stood, pinned))
		return nil
	}
	if err := s.eachPin(base.Commit, own, look); err != nil {
		return nil, err
	}
	return moved, s.git.update(ctx, "restore base", moves...)
}

// Head returns the commit of the integration branch: before anything has landed, the
// pinned base.
func (s Refs) Head(ctx context.Context) (string, error) {
	if head, err := s.Integrated(ctx); err != nil || head != "" {
		return head, err
	}
	return s.base(ctx)
}

// Integrated returns the integration branch's commit, "" if there is no such branch.
func (s Refs) Integrated(ctx context.Context) (string, error) {
	if s.sumRef() == "" {
		return "", nil
	}
	return s.git.ref(ctx, s.sumRef())
}

// Within returns those of the commits that are the head of the integration branch or in
// its history; none without such a branch.
func (s Refs) Within(ctx context.Context, commits []string) (map[string]bool, error) {
	head, err := s.Integrated(ctx)
	if err != nil {
		return nil, err
	}
	return s.WithinCommit(ctx, head, commits)
}

// WithinCommit is Within for a commit instead of the branch; "" holds nothing.
func (s Refs) WithinCommit(ctx context.Context, head string, commits []string) (map[string]bool, error) {
	if head == "" || len(commits) == 0 {
		return map[string]bool{}, nil
	}
	out, err := s.git.run(ctx, place{}, strings.Join(commits, "\n")+"\n^"+head+"\n", nil, "rev-list", "--stdin")
	if err != nil {
		return nil, err
	}
	in := lists.Set(commits)
	for c := range strings.FieldsSeq(string(out)) {
		in[c] = false
	}
	return in, nil
}

// Merged returns those of the results that a base already holds: an ancestor of it, or
// one whose merge changes nothing (it was squashed), or what one of those was made from,
// which may have changed it since. They are done by the base.
func (s Results) Merged(ctx context.Context, base string, results []executor.Result) ([]ir.NodeID, error) {
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
	return lists.Map(lists.Keep(results, func(r executor.Result) bool { return in[r.Commit] }), func(r executor.Result) ir.NodeID { return r.Node }), nil
}

// Unpinned reports whether the epic has no pinned base yet.
func (s Bases) Unpinned(ctx context.Context) (bool, error) {
	list, err := s.pins(ctx)
	return len(list) == 0, err
}

// Unpin removes the pinned bases of a run that did not begin. The caller holds the run
// lock.
func (s Bases) Unpin(ctx context.Context) error {
	list, err := s.pins(ctx)
	if err != nil || len(list) == 0 {
		return err
	}
	_, err = s.git.run(ctx, place{}, "delete "+strings.Join(list, "\ndelete ")+"\n", nil, "update-ref", "--no-deref", "-m", "ralph: nothing began", "--stdin")
	return err
}

func (s *space) pins(ctx context.Context) ([]string, error) {
	out, err := s.git.line(ctx, place{}, "for-each-ref", "--format=%(refname) %(objectname)", s.prefix()+"base", s.prefix()+"nodes/*/base")
	var list []string
	for line := range strings.Lines(out) {
		list = append(list, strings.TrimSpace(line))
	}
	return list, err
}

// Began sets which nodes have attempts in the journal: their branches are ralph's, even if
// the refs that say so were deleted.
func (s Names) Began(nodes []ir.NodeID) {
	s.begun = lists.Set(nodes)
}

// PutBack recreates missing refs of the epic at their recorded commits, and returns which,
// and those whose commits are missing, too. The caller holds the run lock.
func (s Refs) PutBack(ctx context.Context, pins []executor.Pin) ([]string, error) {
	have, err := s.git.readRefs(strings.TrimSuffix(s.prefix(), "/"))
	if err != nil {
		return nil, err
	}
	w := &watch{s: s.space}
	var moves []move
	var back, lost, said []string
	for _, p := range pins {
		ref, commit := w.pinRef(p), p.Commits[len(p.Commits)-1]
		if have[ref] != "" {
			continue
		}
		if there, err := s.git.ref(ctx, commit+"^{commit}"); err != nil {
			return nil, err
		} else if there == "" {
			lost = append(lost, fmt.Sprintf("%s (%.12s)", ref, commit))
			continue
		}
		moves, back = append(moves, move{ref, "", commit}), append(back, ref)
	}
	if len(back) > 0 {
		said = append(said, fmt.Sprintf("refs of this epic were deleted; they are restored to where the journal has them: %s", listed(back)))
	}
	if len(lost) > 0 {
		said = append(said, fmt.Sprintf("refs of this epic were deleted, and their commits are no longer in the repository: %s. git fsck --lost-found may find them", listed(lost)))
	}
	return said, s.git.update(ctx, "put back", moves...)
}
