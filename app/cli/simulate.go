package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/simulate"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
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
	cmd := newCommand("simulate [epic.json]", "Play an epic in seconds: made-up agents, gates, people and crashes", cobra.MaximumNArgs(1), func(cmd *cobra.Command, args []string) error { return runSimulate(cmd, a, args) })
	f := cmd.Flags()
	f.StringVar(&a.scenario, "scenario", "", "file that says what the world does (default: all goes well)")
	f.Uint64Var(&a.seed, "seed", 0, "of chance, instead of the scenario's")
	f.IntVar(&a.parallel, "parallel", 0, "sprints that may run at the same time (default: scenario, then policy)")
	f.StringVar(&a.events, "events", "", "jsonl: print events instead of lines for people")
	f.BoolVar(&a.quiet, "quiet", false, "only the account at the end")
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
		return exit.Inputf("%w", err)
	}
	if cmd.Flags().Changed("seed") {
		s.Seed = a.seed
	}
	if a.parallel > 0 {
		s.Slots = a.parallel
	}
	out := bufio.NewWriterSize(cmd.OutOrStdout(), 1<<16)
	v, err := newSimulated(out, epic, s.Start, a)
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
	account(to, res)
	if err := out.Flush(); err != nil {
		return err
	}
	if res.Starts == 0 { // as apply: the plan waits for approval
		return &exit.Error{Code: exit.Waiting}
	}
	if code := record.ExitCode(res.Run, false); code != exit.Done {
		return &exit.Error{Code: code}
	}
	return nil
}

// simulated shows the events of a simulation with the time since its start.
type simulated struct {
	*view.Run
	shadow *machine.Run // source of the lines; it survives simulated crashes
	start  time.Time
	quiet  bool
}

func newSimulated(out io.Writer, epic *ir.Epic, start time.Time, a *simulateArgs) (*simulated, error) {
	run, err := machine.New(epic)
	if err != nil {
		return nil, exit.Inputf("%w", err)
	}
	return &simulated{view.NewRun(out, io.Discard, epic, run, a.events == "jsonl"), run, start, a.quiet}, nil
}

func (v *simulated) Events(list []executor.Event) {
	for _, e := range list {
		switch {
		case v.Jsonl:
			if b, err := json.Marshal(e); err == nil {
				_, _ = v.Out.Write(append(reveal.JSON(b), '\n'))
			}
		case !v.quiet:
			if err := v.shadow.Apply(e); err != nil {
				continue // the simulation reports it
			}
			if line := v.Line(e); line != "" {
				fmt.Fprintf(v.Out, "%7s  %s\n", words.Brief(e.At.Sub(v.start)), line)
			}
		}
	}
}

// account prints the outcome of a simulation.
func account(w io.Writer, res simulate.Result) {
	fmt.Fprintf(w, "\n%s in %s of virtual time", words.TallyOf(res.Run), words.Brief(res.Ended.Sub(res.Began)))
	if res.Starts > 1 {
		fmt.Fprintf(w, ", %s", text.Count(res.Starts, "start"))
	}
	fmt.Fprintf(w, ", %d events\n", res.Events)
	if s := words.Spent(res.Run.Overview().Spent); s != "" {
		fmt.Fprintf(w, "spent: %s\n", s)
	}
	switch {
	case res.Open != "" && res.Starts == 0:
		fmt.Fprintf(w, "It did not begin: %s.\n", res.Open)
	case res.Open != "":
		fmt.Fprintf(w, "It did not come to an end: %s.\n", res.Open)
	}
	for i, r := range res.Refused {
		if i == 20 {
			fmt.Fprintf(w, "and %d more decisions did not apply\n", len(res.Refused)-i)
			break
		}
		fmt.Fprintf(w, "did not apply: %s\n", reveal.Words(r))
	}
	shown := 0
	for _, n := range res.Run.Views() {
		if n.Status == executor.Done || n.ID == executor.Integration && n.Status == executor.Pending {
			continue
		}
		if shown == 0 {
			fmt.Fprintln(w, "\nNot done:")
		}
		if shown++; shown > 60 {
			continue
		}
		fmt.Fprintf(w, "  %s  %s\n", reveal.Words(string(n.Key)), reveal.Words(words.WhyNot(n)))
	}
	if shown > 60 {
		fmt.Fprintf(w, "  and %d more\n", shown-60)
	}
}
