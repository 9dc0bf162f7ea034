package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/local"
	"github.com/ralph-compiler/ralph/internal/columns"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

func newStatusCommand() *cobra.Command {
	var epic epicFlag
	var asJSON, attempts bool
	cmd := &cobra.Command{
		Use:   "status [epic.json]",
		Short: "Show where each sprint of a run stands, and what waits for you",
		Long: `Status reads the journal and prints where each sprint stands: while ralph apply is at
work, after it ended, after a crash. The row "integration" is the branch that joins
all results. It ends with one line for each sprint that is not done: the one reason
why.

A cost that an agent does not report is unknown, never 0.`,
		Example: `  ralph status
  ralph status --attempts           with a line for each attempt
  ralph status --json
  ralph status other/epic.json`,
		Args: countArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := epic.path(args...)
			if err != nil {
				return err
			}
			r, err := openRecord(background(cmd), file, cmd.InOrStdin())
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), statusOf(r))
			}
			if err := r.status(cmd.OutOrStdout(), attempts); err != nil || !isDraft(r.epic) {
				return err
			}
			draftOf(r).sayUnwritten(background(cmd), cmd.OutOrStdout())
			return nil
		},
	}
	epic.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&attempts, "attempts", false, "with a line for each attempt")
	return cmd
}

// background is the context of a command.
func background(cmd *cobra.Command) context.Context {
	if ctx := cmd.Context(); ctx != nil {
		return ctx
	}
	return context.Background()
}

func (r *record) status(out io.Writer, attempts bool) error {
	w := &strings.Builder{}
	paint := term.For(out)
	views := r.run.Views()
	o := r.run.Overview()
	fmt.Fprintf(w, "%s  %s\n", paint.Paint(term.Bold, reveal.Words(r.epic.Epic.Title)), reveal.Words(r.epic.Epic.Plan))
	fmt.Fprintf(w, "run: %s\n", reveal.Words(r.stateOfRun()))
	r.saySurvivors(w)
	if o.Held.For != "" {
		fmt.Fprintf(w, "     nothing new starts (%s): %s\n", o.Held.For, reveal.Words(first(o.Held.Detail)))
		fmt.Fprintf(w, "     %s\n", r.endHold(o))
	}
	if o.Over != "" && o.Held.For != executor.ForBudget {
		fmt.Fprintf(w, "     more than the budget: %s\n", o.Over)
	}
	for _, p := range o.Parked {
		fmt.Fprintf(w, "     runner %s is not asked before %s: %s\n", reveal.Words(p.Runner), clock(r.now, p.Until), first(p.Detail))
	}
	if r.changed {
		fmt.Fprintf(w, "     %s has changed since the last apply: ralph plan%s says what the next one would do\n", reveal.Words(r.file), applies(r.file))
	}
	r.saySent(func(format string, args ...any) {
		fmt.Fprintf(w, "     %s\n", reveal.Words(fmt.Sprintf(format, args...)))
	})
	if r.epic.Run.HITL.Plan == "required" && !o.PlanApproved {
		fmt.Fprintf(w, "     the plan waits for approval: ralph approve%s\n", r.about())
	}
	fmt.Fprintf(w, "     %s\n", tallyOf(r.run))
	if s := spentOfRun(o); s != "" {
		fmt.Fprintf(w, "     spent: %s\n", s)
	}
	w.WriteString("\n")
	r.table(w, paint, views, attempts)
	sayDoubts(w, r.run, views)
	sayMovedOut(w, r.space, func(id ir.NodeID) string { return string(r.node(id).Key) })
	if len(o.Proposals) > 0 {
		fmt.Fprintf(w, "\nAgents propose (nothing of it is done by itself):\n")
		for _, p := range o.Proposals {
			fmt.Fprintf(w, "  - %s\n", proposal(p))
		}
	}
	if o.Begun && !r.held {
		r.branch().sayOlder(w)
	}
	if o.Begun || !o.Recovered.IsZero() {
		r.sayNext(w, views)
		r.sayOpen(w, views)
		sayChanges(w, r.changes())
	} else {
		fmt.Fprintf(w, "\nNothing has run yet. To begin: ralph apply%s\n", applies(r.file))
	}
	_, err := io.WriteString(out, w.String())
	return err
}

// endHold says what ends a hold of the run.
func (r *record) endHold(o executor.RunView) string {
	command := resumeCommand(o.Held.For, o.More) + r.about()
	if o.Held.For == executor.ForBase {
		return command + " begins all the same; or " + mendBase(applies(r.file))
	}
	if o.Open && r.held {
		return command + " goes on"
	}
	return command + ", then ralph apply" + applies(r.file)
}

// tallyOf counts the sprints of a run as it stands.
func tallyOf(run *executor.Run) string { return tally(run.Counts(), run.GoOn(), run.Idle()) }

// tally counts sprints by status, in the order in which they go through them. goOn of
// those that wait need nobody; where nothing is at work, those that run were interrupted.
func tally(counts map[string]int, goOn int, idle bool) string {
	total := 0
	for _, n := range counts {
		total += n
	}
	parts := []string{fmt.Sprintf("%d of %s done", counts[executor.Done.String()], text.Count(total, "sprint"))}
	for _, s := range []executor.NodeStatus{executor.Running, executor.Waiting, executor.Blocked, executor.Skipped, executor.Cancelled, executor.Ready, executor.Pending} {
		n, word := counts[s.String()], s.String()
		switch {
		case s == executor.Running && idle:
			word = interruptedWord
		case s == executor.Waiting && goOn > 0:
			parts = append(parts, fmt.Sprintf("%d %s", goOn, goOnWord(goOn)))
			n -= goOn
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, word))
		}
	}
	return strings.Join(parts, ", ")
}

func ofBudget(o executor.RunView) string {
	var parts []string
	if o.Budget.Tokens > 0 {
		parts = append(parts, counted(o.Budget.Tokens)+" tokens")
	}
	if o.Budget.USDMicro > 0 {
		parts = append(parts, dollars(o.Budget.USDMicro))
	}
	if o.Budget.WallMS > 0 {
		parts = append(parts, millis(o.Budget.WallMS))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (budget: " + strings.Join(parts, ", ") + ")"
}

// clock is a time of today without its date.
func clock(now, t time.Time) string {
	t, now = t.Local(), now.Local()
	if y, m, d := t.Date(); y == now.Year() && m == now.Month() && d == now.Day() {
		return t.Format(time.TimeOnly)
	}
	return t.Format(time.DateTime)
}

// doing says in one cell what a node is at.
func (r *record) doing(v executor.NodeView) (what, active string) {
	k := len(v.Attempts)
	what = v.Doing
	if what == "" && k > 0 {
		what = fmt.Sprintf("%s #%d", v.Attempts[k-1].Step, v.Attempts[k-1].Number)
	}
	switch {
	case v.Status == executor.Running && k > 0:
		dir := local.Files(r.space.State(), v.ID, v.Attempts[k-1].Step, v.Attempts[k-1].Number)
		if at, ok := lastActivity(dir); ok {
			active = ago(r.now, at)
		}
	case !v.Since.IsZero() && v.Status != executor.Pending && v.Status != executor.Ready:
		active = ago(r.now, v.Since)
	}
	return what, active
}

// wrote says when a person last wrote in a session of a node's agents.
func wrote(now time.Time, v executor.NodeView) string { return ago(now, v.Human) }

func (r *record) table(w io.Writer, paint term.Style, views []executor.NodeView, attempts bool) {
	t := &grid{paint: paint}
	t.row(term.Faint, "sprint", "status", "step", "last sign", "a person wrote", "spent", "title")
	for _, v := range views {
		what, active := r.doing(v)
		t.row(colourOf(v.Status), string(v.Key), statusWord(v), what, active, wrote(r.now, v), spentShort(v.Spent), v.Title)
		if !attempts {
			continue
		}
		for _, a := range v.Attempts {
			t.row(term.Faint, "", "  "+r.attemptWord(v, a), fmt.Sprintf("%s #%d", a.Step, a.Number), "", "", usage(a), attemptFacts(a))
		}
	}
	t.write(w)
}

// attemptWord says how an attempt ended; of the open one, what its node is at.
func (r *record) attemptWord(v executor.NodeView, a executor.AttemptLog) string {
	if a.Status == executor.AttemptRunning && v.Status != executor.Pending && v.Status != executor.Ready {
		return statusWord(v)
	}
	return a.Status.String()
}

// usage is what an attempt's turns cost, for a column; "" where no agent was asked.
func usage(a executor.AttemptLog) string {
	u := a.Usage
	switch {
	case u.IsZero() && a.Turns+a.Untold == 0:
		return ""
	case u.USDMicro != nil:
		return money(*u.USDMicro, a.Untold == 0)
	case u.Tokens != nil:
		return figure(*u.Tokens, a.Untold == 0, counted(*u.Tokens)+" tok", "unknown")
	}
	return "unknown"
}

// attemptFacts are files changed and tests of an attempt.
func attemptFacts(a executor.AttemptLog) string {
	parts := []string{text.Count(a.Collected.Files, "file")}
	if c := testCounts(a); c != nil {
		parts = append(parts, fmt.Sprintf("%s passed, %d failed", text.Count(c.Passed, "test"), c.Failed))
	}
	if a.Status != executor.AttemptPassed && a.Reason != "" {
		parts = append(parts, first(a.Reason))
	}
	return strings.Join(parts, "; ")
}

// testCounts adds up what the gates of an attempt counted, nil if none did.
func testCounts(a executor.AttemptLog) *executor.TestCounts {
	var sum *executor.TestCounts
	for _, g := range a.Gates {
		if g.Counts == nil || g.Red {
			continue
		}
		if sum == nil {
			sum = &executor.TestCounts{}
		}
		sum.Passed += g.Counts.Passed
		sum.Failed += g.Counts.Failed
		sum.Skipped += g.Counts.Skipped
	}
	return sum
}

// interruptedWord stands for running where nothing is at work.
const interruptedWord = "interrupted"

func goOnWord(n int) string {
	return text.Form(n, "goes on", "go on")
}

func statusWord(v executor.NodeView) string {
	switch {
	case v.Interrupted:
		return interruptedWord
	case v.Status != executor.Waiting:
		return v.Status.String()
	case v.For == executor.ForTimer && v.Until.IsZero(): // decided; there is no timer
		return "goes on"
	}
	if v.Cause != "" {
		return fmt.Sprintf("waiting: %s", v.Cause)
	}
	return fmt.Sprintf("waiting: %s", v.For)
}

func colourOf(s executor.NodeStatus) term.Colour {
	switch s {
	case executor.Done, executor.Skipped:
		return term.Good
	case executor.Blocked, executor.Cancelled:
		return term.Bad
	case executor.Waiting:
		return term.Warn
	case executor.Running:
		return term.Info
	}
	return term.Plain
}

// sayNext says what to type about everything that waits for a person.
func (r *record) sayNext(w io.Writer, views []executor.NodeView) {
	named := 0
	for _, v := range views {
		steps := r.nextSteps(v)
		if len(steps) == 0 || v.Status == executor.Skipped {
			continue
		}
		if named++; named > mostNamed {
			continue
		}
		fmt.Fprintf(w, "\n%s (%s):\n", reveal.Words(string(v.Key)), reveal.Words(statusWord(v)))
		writeSteps(w, steps)
	}
	if named > mostNamed {
		fmt.Fprintf(w, "\nand %d more; ralph show KEY says the same about each\n", named-mostNamed)
	}
}

// changes are those that others made, as they stand now.
func (r *record) changes() []changeView {
	return changesOf(r.run, func(id ir.NodeID) string { return string(r.node(id).Key) }, r.about(), r.space.Undone)
}

// asks says in one line what a node wants from a person.
func asks(v executor.NodeView) string {
	what := statusWord(v)
	if v.For == executor.ForTimer && v.Status == executor.Waiting {
		what = "goes on"
		if !v.Until.IsZero() {
			what += " at " + v.Until.Local().Format(time.TimeOnly)
		}
		if v.Reason != "" {
			what += " (" + strings.TrimSuffix(first(v.Reason), "; goes on") + ")"
		}
		return what
	}
	if strings.HasPrefix(v.Reason, what) {
		return first(v.Reason) // "skipped by ada"
	}
	if v.Gate != "" {
		what += " (gate " + v.Gate
		if len(v.Approvers) > 0 {
			what += ", by " + strings.Join(v.Approvers, " or ")
		}
		what += ")"
	}
	if v.Reason != "" && v.Cause != executor.CauseApproval { // there the reason is the gate
		what += ": " + first(v.Reason)
	}
	return what
}

func writeSteps(w io.Writer, steps []nextStep) {
	wide := 0
	for _, s := range steps {
		if n := columns.Of(s.Command); n <= 60 {
			wide = max(wide, n)
		}
	}
	for _, s := range steps {
		fmt.Fprintf(w, "  %s%s   %s\n", reveal.Words(s.Command), strings.Repeat(" ", max(wide-columns.Of(s.Command), 0)), s.What)
	}
}

// sayOpen writes one line for each node that is not done, with its one reason.
func (r *record) sayOpen(w io.Writer, views []executor.NodeView) {
	const most = 60
	open := slices.DeleteFunc(slices.Clone(views), func(v executor.NodeView) bool {
		return v.Status == executor.Done || v.Status == executor.Running && r.held || v.ID == executor.Integration && v.Status == executor.Pending
	})
	if len(open) == 0 {
		return
	}
	wide := 0
	for _, v := range open {
		wide = max(wide, min(columns.Of(reveal.Words(string(v.Key))), 24))
	}
	fmt.Fprintln(w, "\nNot done:")
	for i, v := range open {
		if i == most {
			fmt.Fprintf(w, "  and %d more\n", len(open)-most)
			return
		}
		fmt.Fprintf(w, "  %s  %s\n", padTo(reveal.Words(string(v.Key)), wide), reveal.Words(r.whyNot(v)))
	}
}

// whyNot is the one reason why a node is not done, and what to type where only
// the next run is missing.
func (r *record) whyNot(v executor.NodeView) string {
	why, apply := whyNot(v), "ralph apply"+applies(r.file)
	switch {
	case r.held:
	case v.Interrupted && v.GoesOn:
		return "interrupted: goes on with " + apply
	case v.Status == executor.Ready && strings.HasSuffix(why, "waits for a free place"): // the run was killed
		return "ready: " + apply + " begins it"
	case strings.HasSuffix(why, "; goes on"):
		return why + " with " + apply
	}
	return why
}

// whyNot is the one reason why a node is not done, and that somebody paused it besides.
func whyNot(v executor.NodeView) string {
	why := asks(v)
	if v.Status == executor.Pending && v.Reason != "" {
		why = first(v.Reason)
	}
	if v.Paused != "" && v.Cause != executor.CausePaused && v.Status != executor.Running && v.Status != executor.Blocked && v.Status != executor.Skipped && v.Status != executor.Cancelled {
		why += "; paused by " + v.Paused
	}
	return why
}

func padTo(s string, wide int) string { return s + strings.Repeat(" ", max(wide-columns.Of(s), 0)) }
