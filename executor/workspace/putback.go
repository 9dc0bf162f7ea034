package workspace

import (
	"context"
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// Began tells which nodes have attempts by the journal: their branches are ralph's, also
// where somebody has deleted the refs that say so.
func (s Names) Began(nodes []ir.NodeID) {
	s.begun = make(map[ir.NodeID]bool, len(nodes))
	for _, id := range nodes {
		s.begun[id] = true
	}
}

// PutBack makes refs of the epic that are gone anew, where the record says that they
// stood, and says which; also whose commits are gone, too. The caller holds the run lock.
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
		said = append(said, fmt.Sprintf("refs of this epic were deleted; they are back where the journal says that they stood: %s", listed(back)))
	}
	if len(lost) > 0 {
		said = append(said, fmt.Sprintf("refs of this epic were deleted, and their commits are not in the repository any more: %s. git fsck --lost-found may know them", listed(lost)))
	}
	return said, s.git.update(ctx, "put back", moves...)
}
