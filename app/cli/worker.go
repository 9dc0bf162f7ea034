package cli

import (
	"cmp"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/app/worker"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/term"
)

func newWorkerCommand() *cobra.Command {
	a := &worker.Args{}
	cmd := newCommand("worker [DIR]", "Work on the ready issues of a beads database that have no plan", cobra.MaximumNArgs(1), func(cmd *cobra.Command, args []string) error {
		dir := "."
		if len(args) > 0 {
			dir = args[0]
		}
		if !project.IsDir(dir) {
			hint := ""
			if !strings.ContainsAny(dir, `/\`) {
				hint = "; to work on one issue: " + cmd.CommandPath() + " --issue " + words.QuoteArg(dir)
			}
			return exit.Usagef("there is no directory %s%s", dir, hint)
		}
		return runWorker(cmd, a, dir)
	})
	f := cmd.Flags()
	f.StringVar(&a.Issue, "issue", "", "work on this issue only, if it is ready, then exit")
	f.StringVar(&a.Step, "step", "", "with --issue: start at this step, whatever its label phase:<step> says")
	f.BoolVar(&a.Once, "once", false, "exit when nothing is ready and nothing runs")
	f.DurationVar(&a.Poll, "poll", 0, "how often to poll bd (default: tracker { poll }, else 15s)")
	f.IntVar(&a.Max, "max", 0, "issues at the same time (default: tracker { max_concurrent_runs }, else 1)")
	f.StringArrayVar(&a.Policies, "policy", nil, "policy file or directory; replaces the default policy path (repeatable)")
	f.DurationVar(&a.Grace, "grace", 2*time.Minute, "grace period of running attempts after the first Ctrl-C")
	addSandboxFlag(&a.Sandbox, cmd)
	return cmd
}

func runWorker(cmd *cobra.Command, a *worker.Args, dir string) (err error) {
	switch {
	case a.Max < 0:
		return exit.Usagef("--max %d: write a number from 1", a.Max)
	case a.Poll < 0:
		return exit.Usagef("--poll %s: write a time that is not negative", a.Poll)
	case a.Step != "" && a.Issue == "":
		return exit.Usagef("--step %s: name the issue with --issue", a.Step)
	case a.Issue != "" && a.Max > 1:
		return exit.Usagef("--max %d: with --issue there is one", a.Max)
	case a.Grace < 0:
		return exit.Usagef("--grace %s: write a time that is not negative", a.Grace)
	}
	if err := cmp.Or(checkSandbox(a.Sandbox), process.Supported()); err != nil {
		return err
	}
	if a.Issue != "" {
		a.Once, a.Max = true, 1
	}
	ctx := cmd.Context()
	interrupts, stop := run.CatchInterrupts()
	defer stop()
	w := &worker.Worker{
		Args: a, Say: worker.Voice{Listener: &view.WorkerLines{Out: cmd.OutOrStdout(), Err: cmd.ErrOrStderr(), Paint: term.For(cmd.OutOrStdout())}},
		Runs: map[string]*worker.Run{}, Ended: make(chan *worker.Run, 64), Told: map[string]string{}, Looked: map[string]worker.LabelLook{}, Left: map[string]string{},
	}
	if err := w.Open(ctx, dir); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Project.Close()) }()
	return w.Loop(ctx, interrupts)
}
