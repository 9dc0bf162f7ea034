package view

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/effects"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// Account prints a run's outcome: what is done, what is not and why, and what to type next.
func (v *Run) Account(r *run.Opened, b record.BranchHolds, interrupted bool, only []ir.NodeID) {
	w := v.Out
	if v.Jsonl {
		w = v.err
	}
	views := r.Run.Views()
	done, open, sum := settled(views)
	fmt.Fprintf(w, "\n%d of %s done in %s\n", done, text.Count(len(v.epic.Nodes), "sprint"), time.Since(v.begun).Round(time.Millisecond))
	v.overshoot(w, r.Run.Overview(), views)
	v.times(w, views)
	SayDoubts(w, record.DoubtsOf(r.Run), r.About)
	v.sayOpen(w, open)
	for _, n := range views {
		if k := len(n.Attempts); n.Kind == ir.Manual && n.Status == executor.Done && v.took(n) && k > 0 && len(n.Attempts[k-1].Collected.SinceStart()) == 0 {
			fmt.Fprintf(w, "  %s was approved as it was: nothing was changed in its worktree or on its branch\n", reveal.Words(string(n.Key)))
		}
	}
	for _, s := range v.saved[max(0, len(v.saved)-words.MostNamed):] {
		fmt.Fprintf(w, "  %s: what was left in its worktree was moved aside, as %s: git show %s\n", reveal.Words(v.Key(s.node)), s.ref, s.ref)
	}
	moved, err := record.MovedOut(r.Space, v.Key)
	SayMovedOut(w, moved, err)
	for _, lock := range r.Space.Checkout.Locks(context.Background()) {
		fmt.Fprintf(w, "\n%s\n", reveal.Words(run.LockWords(lock)))
	}
	if gone := r.Run.Summary().Gone(); len(gone) > 0 {
		fmt.Fprintf(w, "  %d recorded that the epic no longer has; kept in the journal, left out of the result\n", len(gone))
	}
	v.next(w, r, b, sum, open, interrupted, only)
	SayChanges(w, record.OfThisRun(record.ChangesOf(r.Run, v.Key, r.About, nil)))
}

// settled counts the sprints that are done, and lists what else there is, with the sum if it
// is not done either.
func settled(views []machine.NodeView) (done int, open []machine.NodeView, sum machine.NodeView) {
	for _, n := range views {
		switch {
		case n.ID == executor.Integration:
			sum = n
			if n.Status != executor.Done && n.Status != executor.Pending {
				open = append(open, n)
			}
		case n.Status == executor.Done:
			done++
		default:
			open = append(open, n)
		}
	}
	return done, open, sum
}

// sayOpen writes a line for each sprint that is not done.
func (v *Run) sayOpen(w io.Writer, open []machine.NodeView) {
	skippedByOnly := 0
	for _, n := range open {
		if n.Status == executor.Pending && !n.Selected && n.Paused == "" {
			skippedByOnly++
			continue
		}
		why, status := words.First(n.Reason), n.Status.String()
		if n.For == executor.ForTimer && n.Status == executor.Waiting {
			status, why = words.Asks(n), ""
		}
		if n.Interrupted {
			status = words.Interrupted
			if k := len(n.Attempts); k > 0 {
				why = fmt.Sprintf("in %s #%d", n.Attempts[k-1].Step, n.Attempts[k-1].Number)
			}
		}
		switch {
		case why != "" && n.Status.InReason():
			status, why = why, ""
		case why != "":
			why = ": " + why
		}
		fmt.Fprintln(w, reveal.Words(fmt.Sprintf("  %s  %s%s", v.pad(n.ID), status, why)))
	}
	if skippedByOnly > 0 {
		fmt.Fprintf(w, "  %d not selected by --only\n", skippedByOnly)
	}
}

// SayDoubts names the sprints whose gates passed without tests, or with fewer; about names
// their epic in a command.
func SayDoubts(w io.Writer, doubts []string, about string) {
	if len(doubts) == 0 {
		return
	}
	fmt.Fprintln(w, "\nCheck these before you trust them:")
	for _, d := range doubts[:min(len(doubts), words.MostNamed)] {
		fmt.Fprintln(w, reveal.Words("  ! "+d))
	}
	if more := len(doubts) - words.MostNamed; more > 0 {
		fmt.Fprintf(w, "  … and %d more: ralph report\n", more)
	}
	fmt.Fprintf(w, "    ralph show KEY --diff%s shows what was changed\n", about)
}

// savedWork is what lay in a node's worktree when it was put back.
type savedWork struct {
	node ir.NodeID
	ref  string
}

// overshoot says which budgets were exceeded; of one that holds the run, or a
// sprint, that is beside it.
func (v *Run) overshoot(w io.Writer, o machine.RunView, views []machine.NodeView) {
	if o.Over != "" && o.Held.For != executor.ForBudget {
		fmt.Fprintf(w, "more than the budget: %s\n", o.Over)
	}
	for _, n := range views {
		if n.Over != "" && n.Status == executor.Done && n.Ended.After(v.begun) {
			fmt.Fprintf(w, "more than the budget of %s: %s\n", reveal.Words(string(n.Key)), n.Over)
		}
	}
}

// times is a table of the sprints: their attempts, the time that these were at work,
// and what they cost, in all runs; where it is short enough to read.
func (v *Run) times(w io.Writer, views []machine.NodeView) {
	const most = 40
	g := &Grid{Paint: term.For(w)}
	g.Row(term.Faint, "  sprint", "status", "attempts", "took", "spent")
	for _, n := range views {
		if !v.took(n) {
			continue
		}
		took := ""
		if n.Worked > 0 {
			took = words.Brief(n.Worked)
		}
		g.Row(ColourOf(n.Status), "  "+string(n.Key), words.Status(n), fmt.Sprint(n.Tries()), took, words.SpentShort(n.Spent))
	}
	if len(g.rows) > 1 && len(g.rows) <= most {
		fmt.Fprintln(w)
		g.Write(w)
	}
}

// took reports whether something of a node was done in this run: an attempt, or that
// it became done without one, as its result counts again.
func (v *Run) took(n machine.NodeView) bool {
	k := len(n.Attempts)
	switch {
	case v.done[n.ID]:
		return true
	case k == 0:
		return false
	case n.Status == executor.Done && !v.was[n.ID]:
		return true
	}
	last := n.Attempts[k-1]
	return last.Ended.IsZero() || !last.Ended.Before(v.begun)
}

// next says what to type.
func (v *Run) next(w io.Writer, r *run.Opened, b record.BranchHolds, sum machine.NodeView, open []machine.NodeView, interrupted bool, only []ir.NodeID) {
	if interrupted {
		fmt.Fprintln(w, "\nInterrupted. To continue: ralph apply"+record.Applies(r.File))
	}
	if len(only) == 0 || !b.Joins {
		v.sayBranch(w, r.Run, b, sum, interrupted)
	}
	o := r.Run.Overview()
	if held := o.Held; held.For != "" {
		fmt.Fprintf(w, "\nNothing new starts (%s): %s\n  %s\n", held.For, reveal.Words(words.First(held.Detail)), words.ResumeCommand(held.For, o.More)+r.About)
		if held.For == executor.ForBase {
			fmt.Fprintf(w, "    starts anyway; or %s\n", words.MendBase(record.Applies(r.File)))
		}
	}
	named, confined := 0, false
	for _, n := range open {
		steps := record.NextSteps(n, r.Space.Dir(n.ID), v.Who)
		if len(steps) == 0 || n.Status == executor.Skipped || n.Cause == executor.CauseHeld || n.Cause == executor.CauseApproval && record.IsDraft(v.epic) { // it is shown with its plan
			continue
		}
		if named++; named > words.MostNamed {
			continue
		}
		fmt.Fprintf(w, "\n%s (%s):\n", reveal.Words(string(n.Key)), reveal.Words(words.Status(n)))
		WriteSteps(w, steps)
		v.places(w, r, n)
		confined = confined || slices.ContainsFunc(n.Attempts, func(a machine.AttemptLog) bool { return a.Sandbox.Confined() })
	}
	if named > words.MostNamed {
		fmt.Fprintf(w, "\nand %d more: ralph status%s\n", named-words.MostNamed, record.Applies(r.File))
	}
	if confined {
		fmt.Fprintf(w, "\nLook before you run what an agent left: ralph enter KEY%s opens the worktree inside its sandbox\n", r.About)
	}
	if len(open) > 0 || named > 0 {
		fmt.Fprintf(w, "\nMore about one: ralph show KEY%s; all of it on a page, to decide there: ralph ui\n", r.About)
	}
}

// places says where to look at an unfinished sprint.
func (v *Run) places(w io.Writer, r *run.Opened, n machine.NodeView) {
	k := len(n.Attempts)
	if k == 0 {
		return
	}
	fmt.Fprintf(w, "  worktree: %s\n", reveal.Words(r.Space.Dir(n.ID)))
	fmt.Fprintf(w, "  output:   %s\n", reveal.Words(effects.Files(r.Space.State(), n.ID, n.Attempts[k-1].Step, n.Attempts[k-1].Number)))
}
