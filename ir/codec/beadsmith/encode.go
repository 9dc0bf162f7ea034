package beadsmith

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

var _ foreign.Encode = Encode

// Encode writes a list with a TaskState for each node, in epic order. Unknown values are
// null, and a breach where the format requires a number.
func Encode(w io.Writer, e *ir.Epic, h *ir.History) ([]foreign.Breach, error) {
	var breaches []foreign.Breach
	states := make([]json.RawMessage, 0, len(e.Nodes))
	for _, n := range lists.Each(e.Nodes) {
		s, own, list := State(e, n, h)
		breaches = append(breaches, list...)
		raw, err := withKeys(s, own)
		if err != nil {
			return nil, fmt.Errorf("task %s: %w", n.Key, err)
		}
		states = append(states, raw)
	}
	return breaches, foreign.Write(w, states)
}

// State is a node as a task, with the keys kept from its import.
func State(e *ir.Epic, node *ir.Node, h *ir.History) (s TaskState, own map[string]json.RawMessage, breaches []foreign.Breach) {
	n := h.Node(node.ID)
	top := ""
	if h != nil {
		top = h.Top
	}
	def, kept := definition(e, node, top)
	s = TaskState{
		TaskDefinition: def, Key: string(node.Key), Status: n.Words["task"], FailureCode: n.Failure, Reason: n.Reason,
		BeadStatus: n.Words["bead"], Beads: []Recorded[Bead]{}, BeadResults: []Recorded[BeadResult]{},
	}
	if node.Done && len(n.Attempts) == 0 && n.Status == "pending" { // never applied
		s.Status, s.BeadStatus = "completed", "approved"
	}
	s.Status = cmp.Or(s.Status, "idle")
	s.BeadStatus = cmp.Or(s.BeadStatus, "running")
	lack := func(pointer, what string) {
		breaches = append(breaches, foreign.Breach{Node: node.Key, Pointer: pointer, Message: what})
	}
	s.imported(kept.Beads)
	s.BeadResults = append(s.BeadResults, lists.Map(kept.Results, imported[BeadResult])...)
	first := s.BeadNumber
	for i := range n.Attempts {
		b := bead(node, n, i, first+i+1)
		r := Result(e, node, &n.Attempts[i], b.BeadNumber)
		if b.TokensUsed == nil {
			lack(fmt.Sprintf("/beads/%d/tokensUsed", len(s.Beads)), "must be a number; nobody counted the tokens")
		}
		s.Beads, s.BeadResults = append(s.Beads, Recorded[Bead]{Own: b}), append(s.BeadResults, Recorded[BeadResult]{Own: r})
		s.BeadNumber, s.BeadIterationCount, s.BeadStatus, s.CurrentBeadID = b.BeadNumber, b.IterationCount, b.Status, ""
		if b.CompletedAt == "" {
			s.CurrentBeadID = b.ID
		} else {
			s.LastBeadSummary = &BeadSummary{
				BeadNumber: b.BeadNumber, Status: b.Status, FilesChanged: len(b.FilesChanged), TokensUsed: b.TokensUsed, TestsPassed: passed(b.TestResults),
			}
		}
	}
	if len(s.Beads) == 0 && s.Status == "idle" { // no bead runs
		s.BeadStatus = "idle"
	}
	s.TokenBudgetRemaining = remaining(def.TokenBudget, n)
	if s.WorkspaceRoot == "" {
		lack("/workspaceRoot", "must be an absolute path; the epic was not applied here")
	}
	switch {
	case def.TokenBudget == nil:
		lack("/tokenBudget", "must be a number; the node has no limit")
	case s.TokenBudgetRemaining == nil:
		lack("/tokenBudgetRemaining", "must be a number; nobody counted the tokens")
	}
	return s, kept.Keys, breaches
}

func imported[Own any](raw json.RawMessage) Recorded[Own] { return Recorded[Own]{Imported: raw} }

// imported puts the beads of another program first.
func (s *TaskState) imported(beads []json.RawMessage) {
	for _, raw := range beads {
		s.Beads = append(s.Beads, imported[Bead](raw))
		r := foreign.Reader{File: diag.NewFile("", raw)}
		b := r.Object(foreign.MaxBytes)
		if b == nil {
			continue
		}
		number := func(key string) int {
			n, _ := r.Whole(b.Any(key), 0, 1_000_000)
			return int(n)
		}
		if n := number("beadNumber"); n >= s.BeadNumber {
			s.BeadNumber, s.BeadIterationCount = n, number("iterationCount")
			if status := b.Any("status"); status != nil {
				s.BeadStatus = status.Text
			}
		}
	}
}

// remaining is what is left of a budget of tokens, with what people added; nil
// without one, or if unknown what was used.
func remaining(budget *int64, n *ir.NodeHistory) *int64 {
	if budget == nil {
		return nil
	}
	left := max(*budget, n.Budget.Tokens)
	switch {
	case n.Tokens != nil:
		left = max(left-*n.Tokens, 0)
	case len(n.Attempts) > 0:
		return nil
	}
	return &left
}

// withKeys writes a task with the keys that were kept after its own.
func withKeys(s TaskState, keys map[string]json.RawMessage) (json.RawMessage, error) {
	raw, err := foreign.JSON(s)
	if err != nil || len(keys) == 0 {
		return raw, err
	}
	more, err := foreign.JSON(keys)
	return slices.Concat(raw[:len(raw)-1], []byte(","), more[1:]), err
}
