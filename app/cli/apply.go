package cli

import (
	"cmp"
	"errors"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/beadsmith"
)

func newApplyCommand() *cobra.Command {
	a := &run.Args{}
	cmd := newCommand("apply [epic.json | EPIC-ID]", "Walk an epic: worktrees, agents, gates, merges", cobra.MaximumNArgs(1), func(cmd *cobra.Command, args []string) error { return runApply(cmd, a, args) })
	addEpicFlag(&a.Epic, cmd)
	f := cmd.Flags()
	f.IntVar(&a.Parallel, "parallel", 0, "sprints that may run at the same time (default: what the policy says)")
	f.StringArrayVar(&a.Only, "only", nil, "run this sprint and what it needs, nothing else (repeatable)")
	f.StringArrayVar(&a.Rerun, "rerun", nil, "run this sprint as if it had not been run (repeatable)")
	f.BoolVar(&a.Rebase, "rebase", false, "move the pinned bases to the heads of their branches; work that they already contain is done")
	f.BoolVar(&a.Wait, "wait", false, "keep running while only people are waited for")
	f.DurationVar(&a.Grace, "grace", 2*time.Minute, "grace period of running attempts after the first Ctrl-C or a cancel")
	f.StringVar(&a.Events, "events", "", "print events instead of progress: jsonl, or beadsmith for the events of a BeadManager")
	addSandboxFlag(&a.Sandbox, cmd)
	f.BoolVar(&a.Blind, "no-preflight", false, "do not try the gates on the base before the first sprint starts")
	f.StringVar(&a.Base, "base", "", "commit to pin the base at")
	f.BoolVar(&a.Worker, "worker", false, "ralph worker runs an issue with it")
	_ = errors.Join(f.MarkHidden("base"), f.MarkHidden("worker")) // they exist
	_ = cmd.RegisterFlagCompletionFunc("events", cobra.FixedCompletions([]string{"jsonl", beadsmith.Format}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func runApply(cmd *cobra.Command, a *run.Args, args []string) (err error) {
	if err := checkApply(a); err != nil {
		return err
	}
	file, err := a.Epic.Path(args...)
	if err != nil {
		return err
	}
	epic, raw, err := record.LoadSaying(file, cmd.InOrStdin(), func(c *project.Compilation) error { return view.SayCompilation(c, cmd.ErrOrStderr()) })
	if err != nil {
		return err
	}
	if record.IsDraft(epic) {
		return applyDraft(cmd, a, file, epic, raw)
	}
	return applyEpic(cmd, a, file, epic, raw)
}

// checkApply refuses invalid flags, and systems on which no agent can run.
func checkApply(a *run.Args) error {
	switch {
	case a.Parallel < 0:
		return exit.Usagef("--parallel %d: write a number from 1", a.Parallel)
	case !slices.Contains([]string{"", "jsonl", beadsmith.Format}, a.Events):
		return exit.Usagef("--events %s: write jsonl or %s", a.Events, beadsmith.Format)
	case a.Grace < 0:
		return exit.Usagef("--grace %s: write a time that is not negative", a.Grace)
	}
	return cmp.Or(checkSandbox(a.Sandbox), process.Supported())
}

// lessThanAuto are the words of --sandbox.
var lessThanAuto = []string{"landlock", "none"}

func addSandboxFlag(to *string, cmd *cobra.Command) {
	cmd.Flags().StringVar(to, "sandbox", "", "none: run without the policy's sandboxes on this machine, unless one is required; landlock: use Landlock instead, which isolates less")
	_ = cmd.RegisterFlagCompletionFunc("sandbox", cobra.FixedCompletions(lessThanAuto, cobra.ShellCompDirectiveNoFileComp))
}

func checkSandbox(word string) error {
	if word != "" && !slices.Contains(lessThanAuto, word) {
		return exit.Usagef("--sandbox %s: write none or landlock", word)
	}
	return nil
}

// applyEpic runs an epic that was read from file; raw are its bytes.
func applyEpic(cmd *cobra.Command, a *run.Args, file string, epic *ir.Epic, raw []byte) (err error) {
	only, err := record.NodeIDs(epic, a.Only)
	if err != nil {
		return err
	}
	rerun, err := record.NodeIDs(epic, a.Rerun)
	if err != nil {
		return err
	}
	if err := run.Refuse(epic); err != nil {
		return err
	}
	if err := run.CheckNotify(epic); err != nil {
		return err
	}
	// A reader that closes the pipe must not end the run. (Ignoring the signal
	// would be inherited by agents and gates; being told of it is not.)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	r, err := run.Open(cmd.Context(), file, epic, raw, a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	shown := view.NewRun(cmd.OutOrStdout(), cmd.ErrOrStderr(), epic, r.Run, a.Events != "")
	shown.Who = record.AskerOf(r.About, epic, r.Space)
	shown.State, shown.Applies = r.Space.State(), record.Applies(file)
	if a.Events == beadsmith.Format {
		shown.Beads = view.BeadEvents(r, cmd.OutOrStdout())
	}
	return r.Apply(cmd.Context(), a, only, rerun, shown)
}
