package view

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/effects"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
	"github.com/ralph-compiler/ralph/ir"
)

// Status prints where each node of a run stands, and what to type.
func Status(r *record.Record, out io.Writer, attempts bool) error {
	w := &strings.Builder{}
	paint := term.For(out)
	views := r.Run.Views()
	o := r.Run.Overview()
	fmt.Fprintf(w, "%s  %s\n", paint.Paint(term.Bold, reveal.Words(r.Epic.Epic.Title)), reveal.Words(r.Epic.Epic.Plan))
	fmt.Fprintf(w, "run: %s\n", reveal.Words(r.StateOfRun()))
	SaySurvivors(r, w)
	if o.Held.For != "" {
		fmt.Fprintf(w, "     nothing new starts (%s): %s\n", o.Held.For, reveal.Words(words.First(o.Held.Detail)))
		fmt.Fprintf(w, "     %s\n", endHold(r, o))
	}
	if o.Over != "" && o.Held.For != executor.ForBudget {
		fmt.Fprintf(w, "     more than the budget: %s\n", o.Over)
	}
	for _, p := range o.Parked {
		fmt.Fprintf(w, "     runner %s is not asked before %s: %s\n", reveal.Words(p.Runner), words.Clock(r.Now, p.Until), words.First(p.Detail))
	}
	if r.Changed {
		fmt.Fprintf(w, "     %s has changed since the last apply: ralph plan%s says what the next one would do\n", reveal.Words(r.File), record.Applies(r.File))
	}
	saySent(r, func(format string, args ...any) {
		fmt.Fprintf(w, "     %s\n", reveal.Words(fmt.Sprintf(format, args...)))
	})
	if r.Epic.Run.HITL.Plan == "required" && !o.PlanApproved {
		fmt.Fprintf(w, "     the plan waits for approval: ralph approve%s\n", r.About())
	}
	fmt.Fprintf(w, "     %s\n", words.TallyOf(r.Run))
	if s := words.SpentOfRun(o); s != "" {
		fmt.Fprintf(w, "     spent: %s\n", s)
	}
	w.WriteString("\n")
	nodeTable(r, w, paint, views, attempts)
	SayDoubts(w, r.Run, views)
	SayMovedOut(w, r.Space, func(id ir.NodeID) string { return string(r.Node(id).Key) })
	if len(o.Proposals) > 0 {
		fmt.Fprintf(w, "\nAgents propose (nothing of it is done by itself):\n")
		for _, p := range o.Proposals {
			fmt.Fprintf(w, "  - %s\n", words.Proposal(p))
		}
	}
	if o.Begun && !r.Held {
		SayOlder(r.Branch(), w)
	}
	if o.Begun || !o.Recovered.IsZero() {
		sayNextOf(r, w, views)
		sayOpen(r, w, views)
		SayChanges(w, r.Changes())
	} else {
		fmt.Fprintf(w, "\nNothing has run yet. To begin: ralph apply%s\n", record.Applies(r.File))
	}
	_, err := io.WriteString(out, w.String())
	return err
}

// endHold says what ends a hold of the run.
func endHold(r *record.Record, o machine.RunView) string {
	command := words.ResumeCommand(o.Held.For, o.More) + r.About()
	if o.Held.For == executor.ForBase {
		return command + " begins all the same; or " + words.MendBase(record.Applies(r.File))
	}
	if o.Open && r.Held {
		return command + " goes on"
	}
	return command + ", then ralph apply" + record.Applies(r.File)
}

// doing says in one cell what a node is at.
func doing(r *record.Record, v machine.NodeView) (what, active string) {
	k := len(v.Attempts)
	what = v.Doing
	if what == "" && k > 0 {
		what = fmt.Sprintf("%s #%d", v.Attempts[k-1].Step, v.Attempts[k-1].Number)
	}
	switch {
	case v.Status == executor.Running && k > 0:
		dir := effects.Files(r.Space.State(), v.ID, v.Attempts[k-1].Step, v.Attempts[k-1].Number)
		if at, ok := record.LastActivity(dir); ok {
			active = words.Ago(r.Now, at)
		}
	case !v.Since.IsZero() && v.Status != executor.Pending && v.Status != executor.Ready:
		active = words.Ago(r.Now, v.Since)
	}
	return what, active
}

// wrote says when a person last wrote in a session of a node's agents.
func wrote(now time.Time, v machine.NodeView) string { return words.Ago(now, v.Human) }

func nodeTable(r *record.Record, w io.Writer, paint term.Style, views []machine.NodeView, attempts bool) {
	t := &Grid{Paint: paint}
	t.Row(term.Faint, "sprint", "status", "step", "last sign", "a person wrote", "spent", "title")
	for _, v := range views {
		what, active := doing(r, v)
		t.Row(ColourOf(v.Status), string(v.Key), words.Status(v), what, active, wrote(r.Now, v), words.SpentShort(v.Spent), v.Title)
		if !attempts {
			continue
		}
		for _, a := range v.Attempts {
			t.Row(term.Faint, "", "  "+attemptWord(r, v, a), fmt.Sprintf("%s #%d", a.Step, a.Number), "", "", words.Usage(a), words.AttemptFacts(a))
		}
	}
	t.Write(w)
}

// attemptWord says how an attempt ended; of the open one, what its node is at.
func attemptWord(r *record.Record, v machine.NodeView, a machine.AttemptLog) string {
	if a.Status == executor.AttemptRunning && v.Status != executor.Pending && v.Status != executor.Ready {
		return words.Status(v)
	}
	return a.Status.String()
}
