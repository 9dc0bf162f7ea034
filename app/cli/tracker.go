package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// runPush writes the compiled epics into the tracker.
func runPush(cmd *cobra.Command, c *project.Compilation, targets []string, out io.Writer) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	say := func(text string) { view.Sayf(out, "%s\n", text) }
	for i, r := range c.Results {
		dir := c.Project.Dir
		client, err := run.OpenTracker(ctx, r.Epic, dir)
		if err != nil {
			return run.PushError(ctx, err)
		}
		h := &ir.History{Top: project.GitRoot(dir)}
		mode, why := machine.ModePlanning, "compiled from "+r.Epic.Epic.Plan+" again, and not approved yet"
		if targets[i] != "-" {
			if rec, err := record.Open(ctx, targets[i], nil); err == nil { // it may have been applied
				h = rec.History(ctx, project.Detail{})
				if !rec.Changed {
					mode, why = rec.Run.Summary().Mode()
				}
			}
		}
		p, err := run.PushEpic(ctx, client, r.Epic, h, say)
		if err == nil && p.Anew {
			err = bd.Planned(ctx, client, r.Epic, mode, why)
		}
		if err != nil {
			return run.PushError(ctx, err)
		}
		if p.Nothing() {
			say("bd is up to date with " + p.Epic + " already (" + text.Count(p.Beads, "bead") + ")")
		}
	}
	return nil
}

// tellApproved reports to the tracker that a plan was approved. Where a run is at work
// its mirror does, and where bd does not take it the next ralph apply does.
func tellApproved(ctx context.Context, out io.Writer, file string, epic *ir.Epic) {
	if epic.Run.Tracker == nil {
		return
	}
	rec, err := record.Open(ctx, file, nil)
	if err != nil || rec.Held || rec.Given.Digest != epic.Digest {
		return
	}
	c, err := run.OpenTracker(ctx, epic, rec.Space.Top())
	if _, missing := errors.AsType[*bd.Missing](err); missing {
		return // it was not pushed
	}
	if err == nil {
		err = bd.Approved(ctx, c, epic, "the plan was approved: digest "+epic.Digest)
	}
	if err != nil {
		view.Sayf(out, "  bd was not updated; the next ralph apply updates it: %v\n", err)
	}
}

// canPush refuses epics without a tracker.
func canPush(results []compiler.Result) error {
	if slices.ContainsFunc(results, func(r compiler.Result) bool { return r.Epic.Run.Tracker == nil }) {
		return exit.Inputf("%s", run.NoTracker)
	}
	return nil
}
