package cli

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
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
			d.Budget, err = parseBudget(budget)
			return err
		})
	cmd.Flags().StringVar(&budget, "budget", "", "what is added: usd=+20, tokens=+1M, wall=+1h, with commas between")
	return cmd
}

func newCancelCommand() *cobra.Command {
	return decision(executor.Cancel, "cancel [KEY]", "Give up a sprint; without a key: end the run", "why", nil)
}

// parseBudget reads what is added to a budget: "usd=+20,tokens=+1M,wall=+1h". An
// empty text adds nothing.
func parseBudget(text string) (ir.Budget, error) {
	var b ir.Budget
	if text == "" {
		return b, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		bad := func() error {
			return exit.Usagef("--budget %s: write what is added, such as usd=+20, tokens=+1M or wall=+1h", part)
		}
		value, plus := strings.CutPrefix(value, "+")
		if !ok || !plus {
			return b, bad()
		}
		switch name {
		case "usd":
			f, err := strconv.ParseFloat(strings.TrimPrefix(value, "$"), 64)
			if err != nil || !(f > 0 && f < 1e9) {
				return b, bad()
			}
			b.USDMicro += int64(math.Round(f * 1e6))
		case "tokens":
			n, ok := parseTokens(value)
			if !ok {
				return b, bad()
			}
			b.Tokens += n
		case "wall":
			d, err := time.ParseDuration(value)
			if err != nil || d < time.Millisecond {
				return b, bad()
			}
			b.WallMS += d.Milliseconds()
		default:
			return b, bad()
		}
	}
	return b, nil
}

// parseTokens reads "500000", "500k" or "1.5M".
func parseTokens(text string) (int64, bool) {
	factor := 1.0
	for suffix, f := range map[string]float64{"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9} {
		if rest, ok := strings.CutSuffix(text, suffix); ok {
			text, factor = rest, f
			break
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f > 0) || f*factor > 1e15 {
		return 0, false
	}
	return int64(math.Round(f * factor)), true
}
