package view

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
)

// Status prints the state of each node of a run, and what to type.
func Status(s record.StatusJSON, out io.Writer, attempts bool) error {
	w := &strings.Builder{}
	paint := term.For(out)
	fmt.Fprintf(w, "%s  %s\n", paint.Paint(term.Bold, reveal.Words(s.Epic.Title)), reveal.Words(s.Epic.Plan))
	fmt.Fprintf(w, "run: %s\n", reveal.Words(s.Run.Says))
	saySurvivors(s, w)
	sayRun(s, w)
	w.WriteString("\n")
	nodeTable(s, w, paint, attempts)
	SayDoubts(w, s.Doubts, record.AboutEpic(s.File))
	SayMovedOut(w, s.MovedOut, s.Hidden)
	if len(s.Proposals) > 0 {
		fmt.Fprintf(w, "\nAgents propose (not done automatically):\n")
		for _, p := range s.Proposals {
			fmt.Fprintf(w, "  - %s\n", words.Proposal(p))
		}
	}
	if s.Run.View.Begun && !s.Run.AtWork() {
		SayOlder(s.Branch, w)
	}
	if s.Run.View.Begun || !s.Run.View.Recovered.IsZero() {
		sayNextOf(s, w)
		sayOpen(s, w)
		SayChanges(w, s.Changes)
		fmt.Fprintf(w, "\nAll of it on a page, to decide there: ralph ui\n")
	} else {
		fmt.Fprintf(w, "\nNothing has run yet.%s\n", toStart(s))
	}
	return write(out, w.String())
}

// toStart says what to type so that a run begins; "" if that has been said, or one is at work.
func toStart(s record.StatusJSON) string {
	if s.Run.AtWork() || s.Run.Held != "" {
		return ""
	}
	approve := ""
	if !s.Run.PlanApproved {
		approve = "ralph approve" + record.AboutEpic(s.File) + ", then "
	}
	return " To start: " + approve + "ralph apply" + record.Applies(s.File)
}

// sayRun writes what concerns all sprints: holds, parked runners, the tracker, amounts.
func sayRun(s record.StatusJSON, w io.Writer) {
	o := s.Run.View
	say := func(format string, args ...any) {
		fmt.Fprintf(w, "     %s\n", reveal.Words(fmt.Sprintf(format, args...)))
	}
	if s.Run.Sandbox != "" {
		say("applied with --sandbox %s, in place of what the policy says", s.Run.Sandbox)
	}
	if o.Held.For != "" {
		say("nothing new starts (%s): %s", o.Held.For, words.First(o.Held.Detail))
		say("%s", endHold(s))
	}
	if o.Over != "" && o.Held.For != executor.ForBudget {
		say("more than the budget: %s", o.Over)
	}
	for _, p := range o.Parked {
		say("%s", words.Parked(p, s.Now))
	}
	if s.Epic.Changed {
		say("%s has changed since the last apply: ralph plan%s shows what the next one would do", s.File, record.Applies(s.File))
	}
	saySent(s, say)
	if !s.Run.PlanApproved && o.Begun {
		say("the plan waits for approval: ralph approve%s", record.AboutEpic(s.File))
	}
	say("%s", s.Tally)
	if spent := words.SpentOfRun(o); spent != "" {
		say("spent: %s", spent)
	}
}

// endHold says what ends a hold of the run.
func endHold(s record.StatusJSON) string {
	o := s.Run.View
	command := words.ResumeCommand(o.Held.For, o.More) + record.AboutEpic(s.File)
	if o.Held.For == executor.ForBase {
		return command + " starts anyway; or " + words.MendBase(record.Applies(s.File))
	}
	if o.Open && s.Run.AtWork() {
		return command + " goes on"
	}
	return command + ", then ralph apply" + record.Applies(s.File)
}

// doing says in one cell what a node is at.
func doing(now time.Time, n record.NodeJSON) (what, active string) {
	k, v := len(n.Attempts), n.View
	what = n.Doing
	if what == "" && k > 0 {
		what = fmt.Sprintf("%s #%d", n.Attempts[k-1].Step, n.Attempts[k-1].Number)
	}
	switch {
	case v.Status == executor.Running && k > 0:
		if n.LastActivity != nil {
			active = words.Ago(now, *n.LastActivity)
		}
	case v.Status != executor.Pending && v.Status != executor.Ready:
		active = words.Ago(now, v.Since)
	}
	return what, active
}

func nodeTable(s record.StatusJSON, w io.Writer, paint term.Style, attempts bool) {
	t := &Grid{Paint: paint}
	t.Row(term.Faint, "sprint", "status", "step", "last sign", "a person wrote", "spent", "title")
	for _, n := range s.Nodes {
		what, active := doing(s.Now, n)
		t.Row(ColourOf(n.View.Status), string(n.Key), words.Status(n.View), what, active, words.Ago(s.Now, n.View.Human), words.SpentShort(n.View.Spent), n.Title)
		if !attempts {
			continue
		}
		for _, a := range n.View.Attempts {
			t.Row(term.Faint, "", "  "+words.Attempt(n.View, a), fmt.Sprintf("%s #%d", a.Step, a.Number), "", "", words.Usage(a), words.AttemptFacts(a))
		}
	}
	t.Write(w)
}
