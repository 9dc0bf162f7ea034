package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/wall"
	"github.com/ralph-compiler/ralph/ir"
)

type planArgs struct {
	reader
	only, rerun      []string
	rebase, detailed bool
	try              bool   // the gates, on the base
	sandbox          string // in place of the policy's
}

func newPlanCommand() *cobra.Command {
	a := &planArgs{}
	cmd := newCommand("plan [epic.json]", "Show what apply would run, run again and keep, and why", cobra.MaximumNArgs(1), func(cmd *cobra.Command, args []string) error { return runPlan(cmd, a, args) })
	a.add(cmd, "print JSON")
	f := cmd.Flags()
	f.StringArrayVar(&a.only, "only", nil, "as apply --only")
	f.StringArrayVar(&a.rerun, "rerun", nil, "as apply --rerun")
	f.BoolVar(&a.rebase, "rebase", false, "as apply --rebase")
	f.BoolVar(&a.detailed, "detailed-exitcode", false, "exit code 2 if something would be done, 4 if a person has to let it start")
	addSandboxFlag(&a.sandbox, cmd)
	f.BoolVar(&a.try, "preflight", false, "try the gates on the base first, as apply does before it starts anything")
	return cmd
}

func runPlan(cmd *cobra.Command, a *planArgs, args []string) error {
	if err := checkSandbox(a.sandbox); err != nil {
		return err
	}
	file, epic, raw, err := a.load(cmd, args...)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	if a.try {
		if err := a.preflight(ctx, cmd, file, epic, raw); err != nil {
			return err
		}
	}
	r, err := record.OpenAbout(ctx, project.EpicDir(file), file, epic)
	if err != nil {
		return err
	}
	p, err := run.PlanOf(ctx, epic, r.Space, r.Run, a.only, a.rerun, a.rebase)
	if err != nil {
		return err
	}
	if r.Held && r.Run.Overview().Open {
		p.AtWork = r.Holder.PID
	}
	if p.Cannot == "" {
		p.Cannot = run.Unconfinable(ctx, epic, a.sandbox)
	}
	if a.sandbox == string(wall.None) {
		p.Warnings = append(p.Warnings, run.AsYou)
	}
	if w := run.StaleWarning(file, epic, raw); w != "" {
		p.Warnings = append([]string{w}, p.Warnings...)
	}
	err = printed(&a.reader, cmd, p, func() error {
		return view.Plan(p, cmd.OutOrStdout(), epic, a.flags()+record.Applies(file), record.Applies(file))
	})
	switch {
	case err != nil:
		return err
	case a.detailed && p.Cannot != "":
		return exit.After(exit.Input)
	case a.try && p.Held(), a.detailed && (p.Held() || len(p.First) > 0):
		return exit.After(exit.Waiting)
	case a.detailed && p.Changes:
		return exit.After(exit.Usage) // 2, as terraform: changes
	}
	return nil
}

// flags are those of apply that would do what was planned.
func (a *planArgs) flags() string {
	out := ""
	for _, k := range a.only {
		out += " --only " + words.QuoteArg(k)
	}
	for _, k := range a.rerun {
		out += " --rerun " + words.QuoteArg(k)
	}
	if a.rebase {
		out += " --rebase"
	}
	if a.sandbox != "" {
		out += " --sandbox " + a.sandbox
	}
	return out
}

// preflight tries the gates on the base alone: it holds the lock like a run, pins
// nothing and starts no agent.
func (a *planArgs) preflight(ctx context.Context, cmd *cobra.Command, file string, epic *ir.Epic, raw []byte) (err error) {
	if err := process.Supported(); err != nil {
		return err
	}
	if err := run.Refuse(epic); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	r, err := run.Open(ctx, file, epic, raw, &run.Args{Only: a.only, Rerun: a.rerun, Rebase: a.rebase, Sandbox: a.sandbox, Trial: true})
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
