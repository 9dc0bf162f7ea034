package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/effects"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/columns"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
	"github.com/ralph-compiler/ralph/ir"
)

func newStatusCommand() *cobra.Command {
	var epic record.Flag
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
			file, err := epic.Path(args...)
			if err != nil {
				return err
			}
			r, err := record.Open(background(cmd), file, cmd.InOrStdin())
			if err != nil {
				return err
			}
			if asJSON {
				return view.WriteJSON(cmd.OutOrStdout(), record.StatusOf(r))
			}
			if err := sayStatus(r, cmd.OutOrStdout(), attempts); err != nil || !record.IsDraft(r.Epic) {
				return err
			}
			draftOf(r).sayUnwritten(background(cmd), cmd.OutOrStdout())
			return nil
		},
	}
	addEpicFlag(&epic, cmd)
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

func sayStatus(r *record.Record, out io.Writer, attempts bool) error {
	w := &strings.Builder{}
	paint := term.For(out)
	views := r.Run.Views()
	o := r.Run.Overview()
	fmt.Fprintf(w, "%s  %s\n", paint.Paint(term.Bold, reveal.Words(r.Epic.Epic.Title)), reveal.Words(r.Epic.Epic.Plan))
	fmt.Fprintf(w, "run: %s\n", reveal.Words(r.StateOfRun()))
	view.SaySurvivors(r, w)
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
	view.SayDoubts(w, r.Run, views)
	view.SayMovedOut(w, r.Space, func(id ir.NodeID) string { return string(r.Node(id).Key) })
	if len(o.Proposals) > 0 {
		fmt.Fprintf(w, "\nAgents propose (nothing of it is done by itself):\n")
		for _, p := range o.Proposals {
			fmt.Fprintf(w, "  - %s\n", words.Proposal(p))
		}
	}
	if o.Begun && !r.Held {
		view.SayOlder(r.Branch(), w)
	}
	if o.Begun || !o.Recovered.IsZero() {
		sayNextOf(r, w, views)
		sayOpen(r, w, views)
		view.SayChanges(w, r.Changes())
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
	t := &view.Grid{Paint: paint}
	t.Row(term.Faint, "sprint", "status", "step", "last sign", "a person wrote", "spent", "title")
	for _, v := range views {
		what, active := doing(r, v)
		t.Row(view.ColourOf(v.Status), string(v.Key), words.Status(v), what, active, wrote(r.Now, v), words.SpentShort(v.Spent), v.Title)
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

// sayNextOf says what to type about everything that waits for a person.
func sayNextOf(r *record.Record, w io.Writer, views []machine.NodeView) {
	named := 0
	for _, v := range views {
		steps := r.NextSteps(v)
		if len(steps) == 0 || v.Status == executor.Skipped {
			continue
		}
		if named++; named > words.MostNamed {
			continue
		}
		fmt.Fprintf(w, "\n%s (%s):\n", reveal.Words(string(v.Key)), reveal.Words(words.Status(v)))
		view.WriteSteps(w, steps)
	}
	if named > words.MostNamed {
		fmt.Fprintf(w, "\nand %d more; ralph show KEY says the same about each\n", named-words.MostNamed)
	}
}

// sayOpen writes one line for each node that is not done, with its one reason.
func sayOpen(r *record.Record, w io.Writer, views []machine.NodeView) {
	const most = 60
	open := slices.DeleteFunc(slices.Clone(views), func(v machine.NodeView) bool {
		return v.Status == executor.Done || v.Status == executor.Running && r.Held || v.ID == executor.Integration && v.Status == executor.Pending
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
		fmt.Fprintf(w, "  %s  %s\n", words.PadTo(reveal.Words(string(v.Key)), wide), reveal.Words(whyNotOf(r, v)))
	}
}

// whyNotOf is the one reason why a node is not done, and what to type where only
// the next run is missing.
func whyNotOf(r *record.Record, v machine.NodeView) string {
	why, apply := whyNot(v), "ralph apply"+record.Applies(r.File)
	switch {
	case r.Held:
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
func whyNot(v machine.NodeView) string {
	why := words.Asks(v)
	if v.Status == executor.Pending && v.Reason != "" {
		why = words.First(v.Reason)
	}
	if v.Paused != "" && v.Cause != executor.CausePaused && v.Status != executor.Running && v.Status != executor.Blocked && v.Status != executor.Skipped && v.Status != executor.Cancelled {
		why += "; paused by " + v.Paused
	}
	return why
}
