package beadsmith

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

var _ foreign.Encode = Encode

// Encode writes a list with a TaskState for each node, in the epic's order. What
// nobody knows is null and a breach, where the format demands a number.
func Encode(w io.Writer, e *ir.Epic, h *ir.History) ([]foreign.Breach, error) {
	var breaches []foreign.Breach
	states := make([]json.RawMessage, 0, len(e.Nodes))
	for i := range e.Nodes {
		n := &e.Nodes[i]
		s, own, list := State(e, n, h)
		breaches = append(breaches, list...)
		raw, err := withKeys(s, own)
		if err != nil {
			return nil, fmt.Errorf("task %s: %w", n.Key, err)
		}
		states = append(states, raw)
	}
	raw, err := plain(states)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, raw, "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	_, err = w.Write(out.Bytes())
	return breaches, err
}

// State is a node as a task, with the keys that were kept of its import.
func State(e *ir.Epic, node *ir.Node, h *ir.History) (s TaskState, own map[string]any, breaches []foreign.Breach) {
	n := h.Node(node.ID)
	top := ""
	if h != nil {
		top = h.Top
	}
	def, kept := definition(e, node, top)
	s = TaskState{
		TaskDefinition: def, Key: string(node.Key), Status: n.Words["task"], FailureCode: n.Failure, Reason: n.Reason,
		BeadStatus: n.Words["bead"], Beads: []any{}, BeadResults: []BeadResult{},
	}
	if node.Done && len(n.Attempts) == 0 && n.Status == "pending" { // never applied
		s.Status, s.BeadStatus = "completed", "approved"
	}
	if s.Status == "" {
		s.Status = "idle"
	}
	if s.BeadStatus == "" {
		s.BeadStatus = "running"
	}
	lack := func(pointer, what string) {
		breaches = append(breaches, foreign.Breach{Node: node.Key, Pointer: pointer, Message: what})
	}
	s.imported(kept.Beads)
	first := s.BeadNumber
	for i := range n.Attempts {
		b := bead(node, n, i, first+i+1)
		r := Result(e, node, &n.Attempts[i], b.BeadNumber)
		if b.TokensUsed == nil {
			lack(fmt.Sprintf("/beads/%d/tokensUsed", len(s.Beads)), "must be a number; nobody counted the tokens")
		}
		s.Beads, s.BeadResults = append(s.Beads, b), append(s.BeadResults, r)
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

// imported puts the beads of another program first.
func (s *TaskState) imported(beads []json.RawMessage) {
	for _, raw := range beads {
		s.Beads = append(s.Beads, raw)
		var b struct {
			BeadNumber     json.Number `json:"beadNumber"`
			Status         string      `json:"status"`
			IterationCount json.Number `json:"iterationCount"`
		}
		_ = json.Unmarshal(fieldNames(raw), &b)
		if n, err := b.BeadNumber.Int64(); err == nil && int(n) >= s.BeadNumber {
			s.BeadNumber, s.BeadStatus = int(n), b.Status
			k, _ := b.IterationCount.Int64()
			s.BeadIterationCount = int(k)
		}
	}
}

// fieldNames writes the keys of an object as this format spells them.
func fieldNames(raw json.RawMessage) json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return raw
	}
	out := map[string]json.RawMessage{}
	for k, v := range m {
		for _, name := range []string{"beadNumber", "status", "iterationCount"} {
			if foreign.Plain(k) == foreign.Plain(name) {
				k = name
			}
		}
		out[k] = v
	}
	b, err := json.Marshal(out)
	if err != nil {
		return raw
	}
	return b
}

// remaining is what is left of a budget of tokens, with what people added; nil
// without one, or if nobody knows what was used.
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

// withKeys writes a value with the keys that were kept behind its own.
func withKeys(v any, keys map[string]any) (json.RawMessage, error) {
	raw, err := plain(v)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.Write(bytes.TrimSuffix(raw, []byte("}")))
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		name, err := plain(k)
		if err != nil {
			return nil, err
		}
		value, err := plain(keys[k])
		if err != nil {
			return nil, err
		}
		b.WriteByte(',')
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// plain is JSON without escapes for HTML and without a line end.
func plain(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
