package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
)

// decision makes a command that decides about a sprint or, where use says [KEY], about the
// run as a whole, whose key is "". message says what -m is; "" is none. fill puts what the
// flags say into the decision.
func decision(verb executor.Verb, use, short, message string, fill func(cmd *cobra.Command, a *decideArgs, key string, d *executor.Decision) error) *cobra.Command {
	a := &decideArgs{}
	count := cobra.ExactArgs(1)
	if strings.HasSuffix(use, "]") {
		count = cobra.MaximumNArgs(1)
	}
	cmd := newCommand(use, short, count, func(cmd *cobra.Command, args []string) error {
		key, d := strings.Join(args, ""), executor.Decision{Verb: verb}
		if fill != nil {
			if err := fill(cmd, a, key, &d); err != nil {
				return err
			}
		}
		return a.run(cmd, key, d)
	})
	a.add(cmd, message)
	return cmd
}

func newApproveCommand() *cobra.Command {
	var override, baseline bool
	var tamper string
	cmd := decision(executor.Approve, "approve [KEY]", "Approve a sprint that waits for a person; without a key: the plan", "a note, kept with the approval",
		func(cmd *cobra.Command, a *decideArgs, key string, d *executor.Decision) error {
			d.Tamper = tamper
			switch {
			case cmd.Flags().Changed("tamper") && (tamper == "" || override || key != ""):
				return exit.Usagef("--tamper takes the id of one change: ralph approve --tamper ID; ralph status names them")
			case baseline && (key != "" || override || tamper != ""):
				return exit.Usagef("--baseline takes no sprint, --override or --tamper: ralph approve --baseline")
			case baseline:
				d.How = executor.Baseline
			case override && a.message == "":
				return exit.Usagef("--override needs a reason: -m \"why\"")
			case override && key == "":
				return exit.Usagef("--override needs a sprint: ralph approve KEY --override -m \"why\"")
			case override:
				d.How = executor.Override
			}
			return nil
		})
	cmd.Flags().BoolVar(&override, "override", false, "approve although a gate gave no verdict")
	cmd.Flags().BoolVar(&baseline, "baseline", false, "start although gates are red on the base")
	cmd.Flags().StringVar(&tamper, "tamper", "", "accept this change that others made")
	return cmd
}

func newRejectCommand() *cobra.Command {
	return decision(executor.Reject, "reject KEY", "Send a sprint that waits for a person back to its agent", "what has to change; it goes into the next prompt",
		func(_ *cobra.Command, a *decideArgs, key string, _ *executor.Decision) error {
			if a.message == "" {
				return exit.Usagef("say what has to change: ralph reject %s -m \"what to change\"%s", words.QuoteArg(key), record.AboutEpic(a.epic.File))
			}
			return nil
		})
}

func newRetryCommand() *cobra.Command {
	var gatesOnly, discard, keepOld bool
	cmd := decision(executor.RetryNode, "retry KEY", "Retry a blocked, skipped, cancelled or waiting sprint", "a hint or an answer; it goes into the next prompt",
		func(_ *cobra.Command, _ *decideArgs, _ string, d *executor.Decision) error {
			for how, on := range map[executor.How]bool{executor.GatesOnly: gatesOnly, executor.Discard: discard, executor.KeepOld: keepOld} {
				if on && d.How != "" {
					return exit.Usagef("--gates-only, --discard and --keep-old: write one of them")
				}
				if on {
					d.How = how
				}
			}
			return nil
		})
	f := cmd.Flags()
	f.BoolVar(&gatesOnly, "gates-only", false, "judge what is in the worktree; no agent")
	f.BoolVar(&discard, "discard", false, "save the worktree's content, then start again from the last attempt")
	f.BoolVar(&keepOld, "keep-old", false, "keep the earlier result, from before --rerun or a change of the text")
	return cmd
}

func newSkipCommand() *cobra.Command {
	var force bool
	cmd := decision(executor.Skip, "skip KEY", "Skip a sprint: what needs it starts from what it needs", "why",
		func(_ *cobra.Command, _ *decideArgs, _ string, d *executor.Decision) error {
			if force {
				d.How = executor.Forced
			}
			return nil
		})
	cmd.Flags().BoolVar(&force, "force", false, "even while it runs: its attempt is stopped")
	return cmd
}

func newPauseCommand() *cobra.Command {
	return decision(executor.Pause, "pause [KEY]", "Start nothing new, or hold one sprint, until ralph resume", "why", nil)
}

func newResumeCommand() *cobra.Command {
	var budget string
	cmd := decision(executor.Resume, "resume [KEY]", "End a pause; --budget adds to what may be spent", "",
		func(_ *cobra.Command, _ *decideArgs, _ string, d *executor.Decision) (err error) {
			d.Budget, err = run.ParseBudget(budget)
			return err
		})
	cmd.Flags().StringVar(&budget, "budget", "", "what is added: usd=+20, tokens=+1M, wall=+1h, with commas between")
	return cmd
}

func newCancelCommand() *cobra.Command {
	return decision(executor.Cancel, "cancel [KEY]", "Give up a sprint; without a key: end the run", "why", nil)
}
