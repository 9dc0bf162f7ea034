package cli

import (
	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
)

// keyOf is the key among a command's arguments, "" for the run as a whole.
func keyOf(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

func newApproveCommand() *cobra.Command {
	a := &decideArgs{}
	var override, baseline bool
	var tamper string
	cmd := &cobra.Command{
		Use:   "approve [KEY]",
		Short: "Let a sprint pass that waits for a person; without a key: the plan",
		Long: `Approve lets a sprint pass that waits at a human gate, for an answer, or to be done by
a person (kind manual). It counts for exactly what was there to be seen: the gate, the
result and what it started from; if one of them changes, it is asked again.

Without a key it approves the plan: with hitl { plan = "required" } nothing starts
before that, and another epic.json has to be approved again. "ralph approve
integration" keeps commits that somebody added to the integration branch.

Of a draft (ralph draft) it approves the plan that was written, with its key and
without, and writes it into the checkout.

--baseline lets the first sprint start although a gate that says baseline = "green" is
red on the base. It counts for these gates, this base and this setup.

--override lets a gate pass that could not be judged; -m says why.

--tamper accepts a change of settings, hooks or refs that others made while agents were
at work: apply exits with 3 until each is accepted or put back. ralph status names them.`,
		Example: `  ralph approve                     the plan
  ralph approve --baseline          the base as it is, although a gate is red there
  ralph approve 1.2a
  ralph approve 1.2a --as ada       where the policy names approvers
  ralph approve 1 --epic draft-login     the plan that ralph draft had written
  ralph approve 1.2a --override -m "the service is down, checked by hand"
  ralph approve --tamper 3fa8c21d   a change that ralph status names`,
		Args: countArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			d := executor.Decision{Verb: executor.Approve, Tamper: tamper}
			if cmd.Flags().Changed("tamper") && (tamper == "" || override || len(args) > 0) {
				return exit.Usagef("--tamper is about one change, by its id: ralph approve --tamper ID; ralph status names them")
			}
			if baseline {
				d.How = executor.Baseline
				if len(args) > 0 || override || tamper != "" {
					return exit.Usagef("--baseline is about the base that all sprints start from: ralph approve --baseline")
				}
			}
			if override {
				d.How = executor.Override
				if a.message == "" {
					return exit.Usagef("--override needs a reason: -m \"why\"")
				}
				if len(args) == 0 {
					return exit.Usagef("--override is about a sprint: ralph approve KEY --override -m \"why\"")
				}
			}
			return a.run(cmd, keyOf(args), d)
		},
	}
	a.add(cmd, "a note, kept with the approval")
	cmd.Flags().BoolVar(&override, "override", false, "in spite of a gate that could not be judged")
	cmd.Flags().BoolVar(&baseline, "baseline", false, "begin although gates are red on the base")
	cmd.Flags().StringVar(&tamper, "tamper", "", "accept this change that others made")
	return cmd
}

func newRejectCommand() *cobra.Command {
	a := &decideArgs{}
	cmd := &cobra.Command{
		Use:   "reject KEY",
		Short: "Send a sprint that waits for a person back to its agent",
		Long: `Reject ends the wait of a sprint at a human gate, or at a gate that could not be
judged: the next attempt begins, and its agent is told the message. It costs none of
the sprint's attempts.`,
		Example: `  ralph reject 1.2a -m "the error message must name the file"
  ralph reject 1.2a -m - < notes.md`,
		Args: countArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.message == "" {
				return exit.Usagef("say what has to change: ralph reject %s -m \"what to change\"%s", words.QuoteArg(args[0]), record.AboutEpic(a.epic.File))
			}
			return a.run(cmd, args[0], executor.Decision{Verb: executor.Reject})
		},
	}
	a.add(cmd, "what has to change; it goes into the next prompt")
	return cmd
}

func newRetryCommand() *cobra.Command {
	a := &decideArgs{}
	var gatesOnly, discard, keepOld bool
	cmd := &cobra.Command{
		Use:   "retry KEY",
		Short: "Try again: a blocked, skipped, cancelled or waiting sprint",
		Long: `Retry opens a sprint again that is blocked, skipped or cancelled, and ends most waits:
a gate is asked again, a question is answered (-m), a program that was missing is
looked for again. It has all its attempts again.

If somebody worked in its worktree since the last attempt, say what is to become of
that: --gates-only makes an attempt of it, judged by all gates, and starts no agent;
--discard keeps it under refs/ralph and puts the worktree back.
--keep-old lets an earlier result count for the text as it is now: the one before a
failed apply --rerun, or before the text changed. Gates judge it again only if they
changed. It has to hold the present results of what the sprint needs.

"ralph retry integration" joins the results again. Where the branch was not moved
because of what it holds, it is built of what is done now; its head is kept.`,
		Example: `  ralph retry 1.2a
  ralph retry 1.2a -m "the schema is in db/schema.sql"
  ralph retry 1.2a --keep-old       the earlier result is good enough
  ralph retry 1.2a --gates-only     you mended it in its worktree
  ralph retry integration`,
		Args: countArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			d := executor.Decision{Verb: executor.RetryNode}
			n := 0
			for how, on := range map[executor.How]bool{executor.GatesOnly: gatesOnly, executor.Discard: discard, executor.KeepOld: keepOld} {
				if on {
					d.How = how
					n++
				}
			}
			if n > 1 {
				return exit.Usagef("--gates-only, --discard and --keep-old: write one of them")
			}
			return a.run(cmd, args[0], d)
		},
	}
	a.add(cmd, "a hint or an answer; it goes into the next prompt")
	f := cmd.Flags()
	f.BoolVar(&gatesOnly, "gates-only", false, "judge what is in the worktree; no agent")
	f.BoolVar(&discard, "discard", false, "save what is in the worktree, then begin from the last attempt")
	f.BoolVar(&keepOld, "keep-old", false, "let the earlier result count, before --rerun or a change of the text")
	return cmd
}

func newSkipCommand() *cobra.Command {
	a := &decideArgs{}
	var force bool
	cmd := &cobra.Command{
		Use:   "skip KEY",
		Short: "Go on without a sprint: what needs it starts from what it needs",
		Long: `Skip takes a sprint for satisfied without a result: what needs it goes on, from the
results that the skipped one would have started from. Work that it has done stays
under refs/ralph and is not merged. ralph retry opens it again.`,
		Example: `  ralph skip 1.2a -m "moved to the next plan"
  ralph skip 1.2a --force           also while it runs`,
		Args: countArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			d := executor.Decision{Verb: executor.Skip}
			if force {
				d.How = executor.Forced
			}
			return a.run(cmd, args[0], d)
		},
	}
	a.add(cmd, "why")
	cmd.Flags().BoolVar(&force, "force", false, "also while it runs: its attempt is ended")
	return cmd
}

func newPauseCommand() *cobra.Command {
	a := &decideArgs{}
	cmd := &cobra.Command{
		Use:   "pause [KEY]",
		Short: "Start nothing new, or hold one sprint, until ralph resume",
		Long: `Pause holds one sprint, or without a key the whole run: nothing new starts, what is at
work may finish its turn. It lasts until ralph resume, also over the end of apply.`,
		Example: `  ralph pause
  ralph pause 1.2a`,
		Args: countArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.run(cmd, keyOf(args), executor.Decision{Verb: executor.Pause})
		},
	}
	a.add(cmd, "why")
	return cmd
}

func newResumeCommand() *cobra.Command {
	a := &decideArgs{}
	var budget string
	cmd := &cobra.Command{
		Use:   "resume [KEY]",
		Short: "End a pause; --budget adds to what may be spent",
		Long: `Resume ends a pause of one sprint, or without a key of the run. Where a budget is used
up, --budget adds to it: of the run, or with a key of that sprint.`,
		Example: `  ralph resume
  ralph resume 1.2a
  ralph resume --budget usd=+20,tokens=+1M,wall=+1h`,
		Args: countArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := parseBudget(budget)
			if err != nil {
				return err
			}
			return a.run(cmd, keyOf(args), executor.Decision{Verb: executor.Resume, Budget: b})
		},
	}
	a.add(cmd, "")
	cmd.Flags().StringVar(&budget, "budget", "", "what is added: usd=+20, tokens=+1M, wall=+1h, with commas between")
	return cmd
}

func newCancelCommand() *cobra.Command {
	a := &decideArgs{}
	cmd := &cobra.Command{
		Use:   "cancel [KEY]",
		Short: "Give up a sprint; without a key: end the run",
		Long: `Cancel gives a sprint up: it and what needs it are not done, everything else goes on.
Without a key the run ends: nothing new starts and running attempts get the time of
apply's --grace. ralph retry opens a cancelled sprint again.`,
		Example: `  ralph cancel 1.2a -m "no longer wanted"
  ralph cancel`,
		Args: countArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.run(cmd, keyOf(args), executor.Decision{Verb: executor.Cancel})
		},
	}
	a.add(cmd, "why")
	return cmd
}
