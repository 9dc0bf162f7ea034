package view

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// Sprint prints everything about one node.
func Sprint(s record.ShowJSON, out io.Writer) error {
	w := &sheet{}
	showFacts(s, w)
	showSpec(s, w)
	for i, a := range s.Attempts {
		showAttempt(w, s.View, a, s.View.Attempts[i])
	}
	if len(s.Feedback) > 0 && s.View.Status != executor.Done {
		w.head("%s", toldTo(s.View))
		w.text(strings.Join(s.Feedback, "\n"))
	}
	if len(s.Decisions) > 0 {
		w.head("Decisions")
		for _, d := range s.Decisions {
			w.line("  %s  %s", d.At.Local().Format(time.DateTime), words.Decision(d))
		}
	}
	if len(s.Refs) > 0 {
		w.head("Refs")
		for _, ref := range s.Refs {
			w.line("  %s", ref)
		}
	}
	if len(s.MovedOut) > 0 {
		w.head("Moved out of its worktree (no other copy)")
		for _, m := range s.MovedOut {
			w.line("  %s  %s", m.Dir, m.Amount())
			w.line("    %s", m.Why)
		}
	}
	if len(s.Next) > 0 {
		w.head("Next")
		WriteSteps(&w.b, s.Next)
	}
	return write(out, w.b.String())
}

// showFacts writes where a node is and what it is about.
func showFacts(s record.ShowJSON, w *sheet) {
	v := s.View
	w.line("%s  %s", s.Key, s.Title)
	w.field("status", asksOrStatus(v))
	if _, active := doing(s.Now, s.NodeJSON); v.Status == executor.Running && active != "" {
		w.field("alive", "last sign of life "+active)
	}
	if !v.Human.IsZero() {
		w.field("person", "wrote in its agent's session "+words.Ago(s.Now, v.Human)+words.Because(spoken(v)))
	}
	if n := s.Spec; n != nil {
		w.field("id", string(n.ID))
		w.field("kind", string(n.Kind))
		w.field("phase", n.Phase)
		w.field("goal", n.Goal)
		w.field("plan", s.Place.String())
		w.field("section", n.Section)
		w.field("needs", needsText(n))
	}
	w.field("started", dateTime(v.Started))
	w.field("ended", dateTime(v.Ended))
	w.field("spent", words.Spent(v.Spent))
	w.field("branch", s.Branch)
	w.field("worktree", s.Worktree)
	w.field("result", s.Commit)
	if s.PullURL != "" {
		p := executor.Pull{Number: s.PullNumber, URL: s.PullURL}
		w.field(p.Word(), p.Ref()+" "+p.URL)
	}
}

// dateTime is a time as people here read it; "" if it is not known.
func dateTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format(time.DateTime)
}

// spoken is what a person last wrote in a session of a node's agents, as far as it
// is known.
func spoken(v machine.NodeView) string {
	for i := range slices.Backward(v.Attempts) {
		for _, said := range slices.Backward(v.Attempts[i].Spoken) {
			if said.Said.Equal(v.Human) {
				return said.Text
			}
		}
	}
	return ""
}

func asksOrStatus(v machine.NodeView) string {
	if v.Doing != "" {
		return v.Status.String() + ": " + v.Doing
	}
	return words.Asks(v)
}

// toldTo says who is told what follows.
func toldTo(v machine.NodeView) string {
	if k := len(v.Attempts); k > 0 && v.Attempts[k-1].Status == executor.AttemptRunning {
		return fmt.Sprintf("What %s #%d was told", v.Attempts[k-1].Step, v.Attempts[k-1].Number)
	}
	return "What the next attempt is told"
}

func needsText(n *ir.Node) string {
	return strings.Join(lists.Map(lists.Keep(n.After, func(e ir.Edge) bool { return e.Type == ir.Blocks }), func(e ir.Edge) string { return string(e.Key) }), ", ")
}

func showSpec(s record.ShowJSON, w *sheet) {
	n := s.Spec
	if n == nil {
		return
	}
	list := func(head string, items []string) {
		if len(items) == 0 {
			return
		}
		w.head("%s", head)
		for _, i := range items {
			w.line("  - %s", i)
		}
	}
	list("Tasks", lists.Map(n.Tasks, func(t ir.Task) string { return t.Text }))
	if s.Draft {
		w.head("Brief")
		for _, l := range n.Acceptance {
			w.line("  %s", l)
		}
	} else {
		list("Acceptance", n.Acceptance)
	}
	list("Owns", n.Scope.Owns)
	if len(n.Steps) == 0 {
		return
	}
	w.head("Steps")
	for s := range lists.Refs(n.Steps) {
		attempts := ""
		if s.Limits.Attempts > 0 { // a person has as many as it takes
			attempts = fmt.Sprintf("; attempts: %d", s.Limits.Attempts)
		}
		w.line("  %s by %s; gates: %s%s", s.Name, cmp.Or(s.Agent, "a person"), cmp.Or(strings.Join(s.Gates, ", "), "none"), attempts)
	}
}

// Bead prints a bead's data in beads.
func Bead(out io.Writer, b record.BeadJSON, sprint string, at record.Place) error {
	w := &sheet{}
	w.line("%s  %s", b.ID, b.Title)
	w.field("status", b.Status+" (in beads)")
	w.field("epic", string(b.Epic))
	w.field("sprint", sprint)
	w.field("plan", at.String())
	w.field("section", b.Section)
	if k := b.Kept; k != nil && k.Success != nil {
		w.field("result", k.Success.Result.Commit)
	}
	if b.Epic != "" && string(b.Epic) != b.ID {
		w.head("Next")
		WriteSteps(&w.b, []record.NextStep{{Command: "ralph recover " + string(b.Epic), What: "go on with its run in this repository"}})
	}
	return write(out, w.b.String())
}
