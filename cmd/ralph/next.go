package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
)

// nextStep is one thing that a person can type, and what comes of it.
type nextStep struct {
	Command string `json:"command"`
	What    string `json:"what"`
}

// nextSteps says what a person can do about a node that does not go on by
// itself. dir is its worktree, about what names the epic. docs/operations.md has
// the same table.
func nextSteps(v executor.NodeView, dir, about string) []nextStep {
	var out []nextStep
	pending := []nextStep(nil) // what to do by hand before the command that follows
	for _, s := range stepsFor(v, dir, about) {
		switch {
		case !strings.HasPrefix(s.Command, "ralph "):
			pending = append(pending, s)
		case applicable(v, s.Command):
			out = append(append(out, pending...), s)
			pending = nil
		default:
			pending = nil
		}
	}
	if len(out) == 0 {
		return pending
	}
	return out
}

// applicable reports whether the machine would take a command now.
func applicable(v executor.NodeView, command string) bool {
	if len(v.Ways) == 0 || v.For == executor.ForBudget || v.Cause == executor.CauseHeld {
		return true
	}
	f := strings.Fields(command)
	if f[1] == "session" { // it only looks
		return true
	}
	flag := ""
	for _, how := range []string{"--gates-only", "--discard", "--keep-old", "--override"} {
		if strings.Contains(command, how) {
			flag = how
		}
	}
	return slices.ContainsFunc(v.Ways, func(way string) bool {
		w := strings.Fields(way)
		return len(w) > 1 && w[1] == f[1] && (flag == "" || slices.Contains(w, flag))
	})
}

func stepsFor(v executor.NodeView, dir, about string) []nextStep {
	key := quoteArg(string(v.Key))
	ralph := func(verb, rest, what string) nextStep {
		return nextStep{fmt.Sprintf("ralph %s %s%s%s", verb, key, rest, about), what}
	}
	edit := nextStep{"cd " + quoteArg(dir), "mend it there yourself, then:"}
	mine := ralph("retry", " --gates-only", "the gates judge what is in its worktree")
	switch v.Status {
	case executor.Blocked:
		if v.ID == executor.Integration {
			return []nextStep{ralph("retry", "", "join the results again"), edit, mine}
		}
		return []nextStep{
			ralph("retry", ` -m "a hint"`, "try again; the hint goes into the prompt"), edit, mine,
			ralph("skip", "", "go on without it"),
		}
	case executor.Cancelled, executor.Skipped:
		return []nextStep{ralph("retry", "", "open it again")}
	case executor.Waiting:
	default:
		if len(v.Ways) > 0 && strings.HasPrefix(v.Ways[0], "ralph resume ") { // paused before it began
			return []nextStep{ralph("resume", "", "go on")}
		}
		return nil
	}
	if v.Cause == executor.CauseHeld {
		return []nextStep{{resumeCommand(v.For) + about, "go on with the whole run"}}
	}
	if v.For == executor.ForBudget {
		return []nextStep{ralph("resume", " --budget usd=+20", "add to its budget (also tokens=+1M, wall=+1h)")}
	}
	if v.For == executor.ForLimit && slices.ContainsFunc(v.Ways, func(w string) bool { return strings.HasPrefix(w, "ralph retry ") }) {
		return []nextStep{ralph("retry", "", "if the limit is over, or you have another key: asks now; else it goes on by itself")}
	}
	if v.For != executor.ForHuman {
		return nil
	}
	reject := ralph("reject", ` -m "what to change"`, "the next attempt begins with that")
	switch v.Cause {
	case executor.CauseApproval:
		as := ""
		if len(v.Approvers) > 0 && !slices.Contains(v.Approvers, userName()) {
			as = " --as " + quoteArg(v.Approvers[0])
		}
		return []nextStep{ralph("approve", as, "let it pass"), ralph("reject", as+` -m "what to change"`, reject.What)}
	case executor.CauseGate:
		return []nextStep{
			ralph("retry", "", "ask the gate again"), reject,
			ralph("approve", ` --override -m "why"`, "let it pass without that gate"),
		}
	case executor.CauseQuestion, executor.CauseDiagnosis:
		return []nextStep{
			ralph("retry", ` -m "the answer"`, "the agent goes on with it"),
			ralph("approve", "", "go to the gates as it is"),
		}
	case executor.CauseConfig, executor.CauseRunner, executor.CauseWorkspace:
		return []nextStep{ralph("retry", "", "once what it names is mended; ralph apply tries it again as well"), {"ralph doctor --live", "whether each agent answers by now: its program, its login, its model"}}
	case executor.CauseDeadline:
		return []nextStep{ralph("retry", "", "in spite of its deadline")}
	case executor.CauseProtected:
		return []nextStep{ralph("approve", "", "let the change of protected files pass"), reject, edit, mine}
	case executor.CauseConflict:
		edit.What = "resolve the conflict there, then:"
		return []nextStep{edit, mine}
	case executor.CauseManual:
		edit.What = "do the work there and commit it, then:"
		return []nextStep{edit, ralph("approve", "", "its gates judge the tip of its branch")}
	case executor.CauseTakeover:
		return []nextStep{
			ralph("resume", "", "you are done in its session: the agent is asked to finish there, and to report"),
			ralph("approve", "", "go to the gates as it is"),
			ralph("retry", ` -m "what to do"`, "another attempt begins with that, from what is there"),
			ralph("session", "", "how to join its session"),
		}
	case executor.CausePaused:
		return []nextStep{ralph("resume", "", "go on")}
	case executor.CausePull:
		return []nextStep{{v.Pull.URL, "merge it or close it there; ralph apply sees it"}}
	case executor.CauseForeign:
		return []nextStep{
			ralph("approve", "", "keep the commits that were added, after the gates"),
			ralph("retry", "", "set them aside under refs/ralph, build the branch again"),
		}
	}
	return []nextStep{ralph("retry", "", "try again")}
}
