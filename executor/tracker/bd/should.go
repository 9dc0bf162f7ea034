package bd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/shellword"
	"github.com/ralph-compiler/ralph/ir"
	codec "github.com/ralph-compiler/ralph/ir/codec/bd"
)

// What tracker { mirror = […] } may name; nothing named is all of it.
const (
	MirrorStatus   = "status"   // status, assignee, close with a reason
	MirrorLabels   = "labels"   // phase:<step>, needs:human_approval
	MirrorComments = "comments" // iterations, rejections, decisions
	MirrorMetadata = "metadata" // seed metadata and what recovery needs
	MirrorMode     = "mode"     // the epic's
	MirrorPR       = "pr"       // pull requests as external references
)

// Mirrors reports whether an epic's policy mirrors things of this kind.
func Mirrors(e *ir.Epic, what string) bool {
	t := e.Run.Tracker
	return t != nil && (len(t.Mirror) == 0 || slices.Contains(t.Mirror, what))
}

// humanReview is in the place of the step while a person is asked.
const humanReview = "human_review"

// labels are the words that people and ralph use on beads, by their meaning: what
// hitl { labels } and tracker { labels } name them, else seed 004's.
type labels struct{ needs, approved, changes, exclude string }

func labelsOf(run ir.Run) labels {
	l := codec.LabelsOf(run)
	return labels{needs: l.Needs, approved: l.Approved, changes: l.Changes, exclude: l.Exclude}
}

// should is the required state of a node's bead.
type should struct {
	status string
	phase  string // "" none
	reason string // of the close
	ref    string // external reference
	ended  string // done, blocked, skipped, cancelled; "" if it has not
	begun  bool   // work on it has begun
	gate   *asked
	needs  bool   // a person is asked
	says   string // a comment about it; "" none
}

// asked is the question that a human gate puts to people.
type asked struct{ gate, digest, result, step, text string }

// same reports whether a decision about one is a decision about the other.
func (a *asked) same(b *asked) bool {
	return a != nil && b != nil && a.gate == b.gate && a.digest == b.digest && a.result == b.result
}

// shouldStand is the required state of a node's bead, from the node's state.
func (m *Mirror) shouldStand(v machine.NodeView) should {
	s := should{status: v.Word(executor.WordsIssue), ref: v.Pull.URL, begun: len(v.Attempts) > 0}
	if v.Paused != "" && v.Status == executor.Pending {
		s.status = "blocked"
	}
	if v.Status == executor.Running || v.Status == executor.Waiting {
		s.phase = v.Step
	}
	switch v.Status {
	case executor.Done:
		s.reason, s.ended = "done: every gate passed", "done"
		if v.Result.Commit != "" {
			s.reason += fmt.Sprintf(" (commit %.12s)", v.Result.Commit)
		}
		if v.Reason != "" {
			s.reason = v.Reason
		}
	case executor.Skipped, executor.Cancelled, executor.Blocked:
		s.reason, s.ended = v.Reason, v.Status.String()
	case executor.Waiting:
		if v.Cause == executor.CauseApproval {
			s.phase = humanReview
			s.gate, s.needs = m.asks(v), true
		}
	}
	if s.reason == "" {
		s.reason = v.Status.String()
	}
	return s
}

// asks is what a human gate asks, with what an answer is bound to.
func (m *Mirror) asks(v machine.NodeView) *asked {
	a := &asked{gate: v.Gate, digest: ir.GateDigest(m.epic, v.Gate), step: v.Step}
	n := 0
	if len(v.Attempts) > 0 {
		last := v.Attempts[len(v.Attempts)-1]
		a.result, n = last.Collected.Result.Tree, last.Number
	}
	var b strings.Builder
	fmt.Fprintf(&b, "[APPROVAL NEEDED] [task:%s] gate %s (%s) asks about %s #%d, tree %s.", v.ID, a.gate, a.digest, v.Step, n, a.result)
	if q := m.epic.Gates[a.gate].Prompt; len(q) > 0 {
		b.WriteString("\n\n" + strings.Join(q, "\n"))
	}
	who := "anybody"
	if len(v.Approvers) > 0 {
		who = strings.Join(v.Approvers, ", ")
	}
	key, about := shellword.Quote(string(v.Key)), ""
	switch { // neither has an epic.json in the checkout
	case m.Claim != nil:
		about = " --epic " + shellword.Quote(string(v.ID))
	case m.epic.Plans() != "":
		about = " --epic " + shellword.Quote(string(m.epic.Epic.ID))
	}
	if m.epic.Run.Tracker.Approvals {
		fmt.Fprintf(&b, "\n\nTo decide (%s):\n  bd label add %s %s\n  bd comments add %s \"what to change\" && bd label add %s %s\nor on the command line: ralph approve %s%s, ralph reject %s -m \"what to change\"%s",
			who, v.ID, shellword.Quote(m.labels.approved), v.ID, v.ID, shellword.Quote(m.labels.changes), key, about, key, about)
	} else {
		fmt.Fprintf(&b, "\n\nTo decide (%s): ralph approve %s%s, ralph reject %s -m \"what to change\"%s", who, key, about, key, about)
	}
	a.text = b.String()
	return a
}

// change is what an update has to write so that a bead is as it should, but for a
// close and its metadata; ok is false if there is nothing.
func (m *Mirror) change(b *bead, s should) (ch Change, ok bool) {
	have := b.known
	if m.says(MirrorStatus) && !b.lost && s.status != "closed" && s.status != have.Status {
		ch.Status, ch.If = s.status, have.Status
		if s.status == "in_progress" && have.Assignee != m.c.actor {
			ch.Assignee = m.c.actor
			if have.Assignee != "" { // bd lets no one else close it
				m.report("%s was assigned to %s in bd, and not claimed: ralph takes it", b.id, have.Assignee)
			}
		}
	}
	if m.says(MirrorStatus) && !b.lost && s.begun && have.Status != "closed" && have.Assignee == "" {
		ch.Assignee = m.c.actor // its work began, and it was not in progress whenever bd was told
	}
	if m.says(MirrorLabels) {
		m.rephase(b, s, &ch)
	}
	if m.says(MirrorLabels) || m.epic.Run.Tracker.Approvals { // else an old label would answer a new question
		m.relabel(b, s, &ch)
	}
	if m.says(MirrorPR) && s.ref != "" && s.ref != have.ExternalRef && !m.keepsRef(b, s.ref) {
		ch.ExternalRef = s.ref
	}
	return ch, ch.Status+ch.Assignee != "" || ch.ExternalRef != "" || len(ch.Add)+len(ch.Remove) > 0
}

// rephase makes the label of the phase the right one. A bead that ralph has not begun
// keeps the one that a person gave it.
func (m *Mirror) rephase(b *bead, s should, ch *Change) {
	have := b.known.Labels
	if s.phase != "" || s.status != "open" || b.known.Status != "open" {
		ch.Remove = append(ch.Remove, lists.Keep(have, func(l string) bool { return strings.HasPrefix(l, PhasePrefix) && l != PhasePrefix+s.phase })...)
	}
	if want := PhasePrefix + s.phase; s.phase != "" && !slices.Contains(have, want) {
		ch.Add = append(ch.Add, want)
	}
}

// relabel makes the labels the right ones by which people are asked and answer.
func (m *Mirror) relabel(b *bead, s should, ch *Change) {
	have := b.known.Labels
	needs := s.gate != nil
	if has := slices.Contains(have, m.labels.needs); s.needs && !has {
		ch.Add = append(ch.Add, m.labels.needs)
	} else if has && !s.needs {
		ch.Remove = append(ch.Remove, m.labels.needs)
	}
	for _, l := range b.drop {
		if slices.Contains(have, l) && !slices.Contains(ch.Remove, l) {
			ch.Remove = append(ch.Remove, l)
		}
	}
	if !m.epic.Run.Tracker.Approvals || needs && b.asked.same(s.gate) {
		return
	}
	for _, l := range []string{m.labels.approved, m.labels.changes} {
		// What was said before the question was put answers another one. It is taken
		// away also where it was not seen: it may have come since the last look.
		if (needs || slices.Contains(have, l)) && !slices.Contains(ch.Remove, l) {
			ch.Remove = append(ch.Remove, l)
		}
	}
}

// differs reports whether a bead's metadata lacks or has otherwise what is to be
// written: bd keeps neither the order of keys nor the way that numbers are spelt.
func differs(want map[string]json.RawMessage, have json.RawMessage) bool {
	got := map[string]json.RawMessage{}
	if len(have) > 0 && json.Unmarshal(have, &got) != nil {
		return true
	}
	for k, v := range want {
		if !bytes.Equal(canonical(v), canonical(got[k])) {
			return true
		}
	}
	return false
}

func canonical(text json.RawMessage) []byte {
	var v any
	if json.Unmarshal(text, &v) != nil {
		return nil
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return b
}
