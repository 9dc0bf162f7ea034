package executor

import (
	"encoding/json"

	"github.com/ralph-compiler/ralph/internal/text"
)

// eventRoom is how many bytes of an event what the agent says may fill: an event
// stays below 4 KB. The whole of it stays in the turn's files.
const eventRoom = 3600

// firstFew bounds what is kept of a list.
const firstFew = 5

// Bound shortens the agent's report until it fits into an event: lists first, then
// printed output, then its summary.
func (e *AgentEnded) Bound() {
	o := &e.Outcome
	o.Errors, o.Pointers, o.Proposals = o.Errors[:min(len(o.Errors), firstFew)], o.Pointers[:min(len(o.Pointers), firstFew)], o.Proposals[:min(len(o.Proposals), firstFew)]
	for range 40 {
		if b, err := json.Marshal(e); err != nil || len(b) <= eventRoom {
			return
		}
		texts := 0
		for i := range o.Proposals {
			texts += len(o.Proposals[i].Text)
			o.Proposals[i].Text = ""
		}
		switch {
		case texts > 0:
		case len(o.Proposals) > 1:
			o.Proposals = o.Proposals[:len(o.Proposals)-1]
		case len(o.Pointers) > 1:
			o.Pointers = o.Pointers[:len(o.Pointers)-1]
		case len(o.Errors) > 1:
			o.Errors = o.Errors[:len(o.Errors)-1]
		case len(e.Tail) > 200:
			e.Tail = text.Tail(e.Tail, len(e.Tail)/2)
		case len(o.Summary) > 100:
			o.Summary = text.Head(o.Summary, len(o.Summary)*3/4)
		default:
			o.Proposals, o.Pointers, o.Errors, e.Tail = nil, nil, nil, ""
		}
	}
}

// Fits reports whether a verdict fits into an event.
func (g *GateJudged) Fits() bool {
	b, err := json.Marshal(g)
	return err != nil || len(b) <= eventRoom
}

// Bound shortens a verdict until it fits into an event: lists first, then its message.
func (g *GateJudged) Bound() {
	for range 20 {
		if g.Fits() {
			return
		}
		switch {
		case len(g.Failed) > 3:
			g.Failed = g.Failed[:len(g.Failed)/2]
		case len(g.Removed) > 3:
			g.Removed = g.Removed[:len(g.Removed)/2]
		default:
			g.Message = text.Head(g.Message, len(g.Message)*3/4)
		}
	}
}

// Bound shortens a verdict on a base until it fits into an event.
func (b *BaselineJudged) Bound() {
	for range 20 {
		if j, err := json.Marshal(b); err != nil || len(j) <= eventRoom {
			return
		}
		b.Message = text.Head(b.Message, len(b.Message)*3/4)
	}
}
