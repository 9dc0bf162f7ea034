package main

import (
	"fmt"

	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// trackerJSON is what status --json says of an epic's tracker; it has none where the
// policy has none. Lists are never null. While a run is at work what is unsent may be
// on its way.
type trackerJSON struct {
	Kind           string       `json:"kind"`            // bd
	Away           string       `json:"away,omitempty"`  // why it cannot be told anything now
	CommentsUnsent int          `json:"comments_unsent"` // that it does not have yet
	BeadsUnsent    int          `json:"beads_unsent"`    // how many unsent names
	Unsent         []bd.Unsent  `json:"unsent"`          // what the last apply could not tell it; the next one goes on with it
	Left           []bd.Left    `json:"left"`            // beads that stay as people put them, other than their sprints stand
	Refused        []bd.Refusal `json:"refused"`         // what it did not take though it takes others; over: passed over
	Error          string       `json:"error,omitempty"` // why all this is not known
}

// tracker reads what the tracker was told; nil if the epic has none.
func (r *record) tracker() *trackerJSON {
	t := r.epic.Run.Tracker
	if t == nil {
		return nil
	}
	out := &trackerJSON{Kind: t.Kind, Unsent: []bd.Unsent{}, Left: []bd.Left{}, Refused: []bd.Refusal{}}
	told, err := bd.ReadTold(r.space.State())
	if err != nil {
		out.Error = err.Error()
		return out
	}
	out.Unsent, out.Left, out.BeadsUnsent = append(out.Unsent, told.Unsent...), append(out.Left, told.Left...), len(told.Unsent)
	if r.held {
		out.Away = told.Away
	}
	for _, x := range told.Refused {
		if x.ID == "" {
			x.ID = r.epic.Epic.ID
		}
		out.Refused = append(out.Refused, x)
	}
	if !bd.Mirrors(r.epic, bd.MirrorComments) {
		return out
	}
	beads := []ir.NodeID{""}
	if claimOf(r.space.State(), r.epic) != nil { // the epic has no bead
		beads = nil
	}
	for i := range r.epic.Nodes {
		beads = append(beads, r.epic.Nodes[i].ID)
	}
	for _, id := range beads {
		out.CommentsUnsent += len(told.Owed(id, r.run.Comments(id)))
	}
	return out
}

// saySent tells what the tracker does not have, for status.
func (r *record) saySent(say func(format string, args ...any)) {
	t := r.tracker()
	if t == nil {
		return
	}
	var lines []string
	switch {
	case t.Error != "":
		say("what bd was told cannot be read: %s", t.Error)
		return
	case t.Away != "":
		say("bd does not take what it is told; ralph goes on and tells it later: %s", first(t.Away))
	case r.held: // it is on its way
	case len(t.Unsent) > 0:
		lines = unsentLines(t.Unsent)
	case t.CommentsUnsent > 0: // the last ralph ended without a word
		say("bd was not told everything: %s; the next ralph apply goes on with it", text.Count(t.CommentsUnsent, "comment"))
	}
	lines = append(append(lines, leftLines(t.Left)...), refusedLines(t.Refused)...)
	for _, line := range lines {
		say("%s", line)
	}
}

// mostUnsent is how many beads are named that are not up to date.
const mostUnsent = 5

// listed is a headline and the first of the lines below it.
func listed(headline string, lines []string) []string {
	out := []string{headline}
	for i, line := range lines {
		if i == mostUnsent && len(lines) > mostUnsent+1 {
			return append(out, fmt.Sprintf("  and %d more", len(lines)-mostUnsent))
		}
		out = append(out, "  "+line)
	}
	return out
}

// unsentLines say what bd was not told.
func unsentLines(unsent []bd.Unsent) []string {
	if len(unsent) == 0 {
		return nil
	}
	var lines []string
	for _, u := range unsent {
		lines = append(lines, u.String())
	}
	return listed(fmt.Sprintf("bd was not told everything (%s); the next ralph apply goes on with it:", text.Count(len(unsent), "bead")), lines)
}

// leftLines say what stays otherwise in bd, because people put it so.
func leftLines(left []bd.Left) []string {
	if len(left) == 0 {
		return nil
	}
	var lines []string
	for _, l := range left {
		lines = append(lines, l.Bead+" "+l.What)
	}
	return listed("in bd people keep some beads otherwise than ralph has them:", lines)
}

// refusedLines say what bd did not take, and what is not tried again.
func refusedLines(refused []bd.Refusal) []string {
	var lines []string
	for _, x := range refused {
		if x.Over {
			lines = append(lines, fmt.Sprintf("%s: %s: %s", x.ID, x.What, x.Why))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return listed(fmt.Sprintf("bd refused %s, and took the others:", text.Count(len(lines), "thing")), lines)
}
