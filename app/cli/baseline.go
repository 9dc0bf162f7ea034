package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/columns"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
	"github.com/ralph-compiler/ralph/ir"
)

func baselines(checks []machine.BaseCheck) []record.BaselineJSON {
	var out []record.BaselineJSON
	for _, c := range checks {
		j := record.BaselineJSON{Gate: c.Gate, Also: c.Also, Base: c.Base.Commit, Green: c.Green, Approved: c.Approved, Held: c.Held()}
		if c.Known != nil {
			j.Verdict, j.Message = c.Known.Verdict, c.Known.Message
		}
		out = append(out, j)
	}
	return out
}

// writeBaseline says what gates found on the base before any work.
func writeBaseline(p record.PlanJSON, b *strings.Builder, paint term.Style) {
	if len(p.Baseline) == 0 {
		return
	}
	wide := 0
	for _, x := range p.Baseline {
		wide = max(wide, min(columns.Of(reveal.Words(x.Gate)), 24))
	}
	fmt.Fprintf(b, "\ngates on the base, before any work:\n")
	for _, x := range p.Baseline {
		mark, ink, text := "·", term.Faint, "not tried yet"
		switch x.Verdict {
		case executor.Pass:
			mark, ink, text = "✓", term.Good, "green"
		case executor.Fail, executor.Stop:
			mark, ink, text = "✗", term.Bad, "red: "+words.First(x.Message)
		case executor.ErrorJudged:
			mark, ink, text = "!", term.Warn, "no verdict: "+words.First(x.Message)
		}
		if x.Approved != "" {
			text += "; approved by " + x.Approved
		}
		fmt.Fprintf(b, "%s  %s\n", paint.Paint(ink, mark+" "+words.PadTo(reveal.Words(x.Gate), wide)), reveal.Words(text))
	}
}

// preflight tries the gates on the base alone: it holds the lock like a run, pins
// nothing and starts no agent.
func (a *planArgs) preflight(ctx context.Context, cmd *cobra.Command, file string, epic *ir.Epic, raw []byte) (err error) {
	if err := process.Supported(); err != nil {
		return exit.Inputf("%w", err)
	}
	if err := run.Refuse(epic); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	r, err := run.Open(ctx, file, epic, raw, &run.Args{Only: a.only, Rerun: a.rerun, Rebase: a.rebase, Trial: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	start, err := record.PlannedStart(ctx, epic, r.Space, r.Run, a.only, a.rerun, a.rebase)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if a.json {
		out = cmd.ErrOrStderr()
	}
	view := view.NewRun(out, cmd.ErrOrStderr(), epic, r.Run, false)
	defer view.Finish()
	view.State, view.Applies = r.Space.State(), record.Applies(file)
	_, err = r.TryBases(ctx, start, view.Activity, view.Events)
	return err
}
