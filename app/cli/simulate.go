package cli

import (
	"bufio"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/executor/simulate"
)

// simulateArgs are the flags of simulate.
type simulateArgs struct {
	scenario string
	seed     uint64
	parallel int
	events   string
	quiet    bool
}

func newSimulateCommand() *cobra.Command {
	a := &simulateArgs{}
	cmd := newCommand("simulate [epic.json]", "Play an epic in seconds: simulated agents, gates, people and crashes", cobra.MaximumNArgs(1), func(cmd *cobra.Command, args []string) error { return runSimulate(cmd, a, args) })
	f := cmd.Flags()
	f.StringVar(&a.scenario, "scenario", "", "scenario file: what agents, gates and people do (default: everything succeeds)")
	f.Uint64Var(&a.seed, "seed", 0, "random seed, instead of the scenario's")
	f.IntVar(&a.parallel, "parallel", 0, "sprints that may run at the same time (default: scenario, then policy)")
	f.StringVar(&a.events, "events", "", "jsonl: print events instead of readable lines")
	f.BoolVar(&a.quiet, "quiet", false, "only the summary at the end")
	_ = cmd.RegisterFlagCompletionFunc("events", cobra.FixedCompletions([]string{"jsonl"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func runSimulate(cmd *cobra.Command, a *simulateArgs, args []string) error {
	switch {
	case a.parallel < 0:
		return exit.Usagef("--parallel %d: write a number from 1", a.parallel)
	case a.events != "" && a.events != "jsonl":
		return exit.Usagef("--events %s: write jsonl", a.events)
	}
	file, err := project.EpicPath(args)
	if err != nil {
		return err
	}
	epic, _, err := record.Load(file, cmd.InOrStdin())
	if err != nil {
		return err
	}
	name, text := "scenario", []byte("{}")
	if a.scenario != "" {
		name = a.scenario
		if text, err = project.ReadFile(a.scenario); err != nil {
			return err
		}
	}
	s, err := simulate.Parse(name, text)
	if err != nil {
		return err
	}
	if cmd.Flags().Changed("seed") {
		s.Seed = a.seed
	}
	if a.parallel > 0 {
		s.Slots = a.parallel
	}
	out := bufio.NewWriterSize(cmd.OutOrStdout(), 1<<16)
	v, err := view.NewSimulated(out, epic, s.Start, a.events == "jsonl", a.quiet)
	if err != nil {
		return err
	}
	res, err := simulate.Run(epic, s, v.Events)
	if err != nil {
		return &exit.Error{Code: exit.Bug, Err: fmt.Errorf("bug in ralph: the simulation stopped: %w", err)}
	}
	to := io.Writer(out)
	if a.events == "jsonl" {
		to = cmd.ErrOrStderr()
	}
	view.SimulationAccount(to, res)
	if err := out.Flush(); err != nil {
		return err
	}
	if res.Starts == 0 { // as apply: the plan waits for approval
		return &exit.Error{Code: exit.Waiting}
	}
	return exit.After(record.ExitCode(res.Run, false))
}
