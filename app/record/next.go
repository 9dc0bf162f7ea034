package record

import (
	"cmp"
	"fmt"
	"os/user"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/ir"
)

// NextStep is one thing that a person can type, and what comes of it.
type NextStep struct {
	Command string `json:"command"`
	What    string `json:"what"`
}

// Asker is who asks what to type, and about which epic.
type Asker struct {
	about  string   // what names the epic in a command
	user   string   // of the system: who decides without --as
	names  []string // that git has for them, which count with --as
	labels bool     // approvers may decide in bd
}

// AskerOf is the person at this terminal.
func AskerOf(about string, epic *ir.Epic, space *workspace.Space) Asker {
	return Asker{about, project.UserName(), space.Names(), epic.Run.Tracker != nil && epic.Run.Tracker.Approvals}
}

// NextSteps says what a person can do about a node that does not go on by
// itself. dir is its worktree. docs/operations.md has the same table.
func NextSteps(v machine.NodeView, dir string, who Asker) []NextStep {
	var out []NextStep
	pending := []NextStep(nil) // what to do by hand before the command that follows
	for _, s := range stepsFor(v, dir, who) {
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
func applicable(v machine.NodeView, command string) bool {
	if len(v.Ways) == 0 || slices.Contains(strings.Fields(command), "--keep-old") && len(v.Keeps) > 0 || v.Cause == executor.CauseOlder || v.For == executor.ForBudget || v.Cause == executor.CauseHeld {
		return true
	}
	f := strings.Fields(command)
	if f[1] == "session" || f[1] == "show" { // they only look
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

func stepsFor(v machine.NodeView, dir string, who Asker) []NextStep {
	key, about := words.QuoteArg(string(v.Key)), who.about
	ralph := func(verb, rest, what string) NextStep {
		return NextStep{fmt.Sprintf("ralph %s %s%s%s", verb, key, rest, about), what}
	}
	edit := NextStep{"cd " + words.QuoteArg(dir), "mend it there yourself, then:"}
	mine := ralph("retry", " --gates-only", "the gates judge what is in its worktree")
	look := ralph("show", " --diff", "what it changed")
	merge := NextStep{}
	if v.Merge != "" {
		merge = NextStep{"git merge --no-edit " + v.Merge, "resolve what is in conflict there, then:"}
	}
	switch v.Status {
	case executor.Blocked:
		if v.ID == executor.Integration {
			return []NextStep{ralph("retry", "", "join the results again"), edit, mine}
		}
		return []NextStep{
			ralph("retry", ` -m "a hint"`, "try again; the hint goes into the prompt"), edit, mine,
			ralph("skip", "", "go on without it"),
		}
	case executor.Cancelled, executor.Skipped:
		return []NextStep{ralph("retry", "", "open it again")}
	case executor.Waiting:
	default:
		if len(v.Ways) > 0 && strings.HasPrefix(v.Ways[0], "ralph resume ") { // paused before it began
			return []NextStep{ralph("resume", "", "go on")}
		}
		return nil
	}
	if v.Cause == executor.CauseHeld {
		return []NextStep{{words.ResumeCommand(v.For, v.More) + about, "go on with the whole run"}}
	}
	if v.For == executor.ForBudget {
		return []NextStep{ralph("resume", " --budget "+cmp.Or(v.More, "usd=+20"), "add to its budget")}
	}
	if v.For == executor.ForLimit && slices.ContainsFunc(v.Ways, func(w string) bool { return strings.HasPrefix(w, "ralph retry ") }) {
		return []NextStep{ralph("retry", "", "if the limit is over, or you have another key: asks now; else it goes on by itself")}
	}
	if v.For != executor.ForHuman {
		return nil
	}
	reject := ralph("reject", ` -m "what to change"`, "the next attempt begins with that")
	switch v.Cause {
	case executor.CauseApproval:
		as, only := who.as(v.Approvers)
		return []NextStep{look, ralph("approve", as, "let it pass"+only), ralph("reject", as+` -m "what to change"`, reject.What)}
	case executor.CauseGate:
		return []NextStep{
			look, ralph("retry", "", "ask the gate again"), reject,
			ralph("approve", ` --override -m "why"`, "let it pass without that gate"),
		}
	case executor.CauseQuestion, executor.CauseDiagnosis:
		return []NextStep{
			ralph("retry", ` -m "the answer"`, "the agent goes on with it"),
			ralph("approve", "", "go on as it is, to its gates if it has any"),
		}
	case executor.CauseConfig, executor.CauseRunner, executor.CauseWorkspace:
		return []NextStep{ralph("retry", "", "once what it names is mended; ralph apply tries it again as well"), {"ralph doctor --live", "whether each agent answers by now: its program, its login, its model"}}
	case executor.CauseDeadline:
		return []NextStep{ralph("retry", "", "in spite of its deadline")}
	case executor.CauseProtected:
		return []NextStep{look, ralph("approve", "", "let the change of protected files pass"), reject, edit, mine}
	case executor.CauseConflict:
		if v.SameAs != "" {
			return nil // what resolves it there
		}
		edit.What = "resolve the conflict there, then:"
		return []NextStep{edit, mine}
	case executor.CauseManual:
		edit.What = "do the work there, then:"
		if merge.Command != "" {
			return []NextStep{{edit.Command, "your work is there: bring it onto what it starts from now"}, merge, ralph("approve", "", "its gates judge what is there, the merge committed or not")}
		}
		return []NextStep{edit, ralph("approve", "", "its gates judge what is there, committed or not, or what you put on its branch")}
	case executor.CauseHandedIn:
		own := ralph("retry", " --gates-only", "what is in its worktree is merged with what it starts from now, and its gates judge it")
		away := ralph("retry", " --discard", "it is kept under refs/ralph, and an agent begins anew")
		if merge.Command != "" {
			own.What = "its gates judge what is there, the merge committed or not"
			return []NextStep{{edit.Command, "the work is there: bring it onto what it starts from now"}, merge, own, away}
		}
		return []NextStep{own, away}
	case executor.CauseTakeover:
		return []NextStep{
			ralph("resume", "", "you are done in its session: the agent is asked to finish there, and to report"),
			ralph("approve", "", "go on as it is, to its gates if it has any"),
			ralph("retry", ` -m "what to do"`, "another attempt begins with that, from what is there"),
			ralph("session", "", "how to join its session"),
		}
	case executor.CausePaused:
		return []NextStep{ralph("resume", "", "go on")}
	case executor.CausePull:
		return []NextStep{{v.Pull.URL, "merge it or close it there; ralph apply sees it"}}
	case executor.CauseOlder:
		return append(keepOld(v, about), ralph("retry", "", "build the branch again from what is done now; what it holds is kept under refs/ralph"))
	case executor.CauseForeign:
		look.What = "how the branch differs from what ralph put there"
		again := "build the branch again; what stands there is kept under refs/ralph"
		if len(v.Keeps) > 0 { // to keep them is a question of its own, which comes after this one
			again = "set commits of others aside under refs/ralph; older results stay until you say so"
		}
		return []NextStep{look, ralph("approve", "", "go on from where the branch stands, commits of others with it, after the gates"), ralph("retry", "", again)}
	}
	return []NextStep{ralph("retry", "", "try again")}
}

// keepOld are the commands that let older results in the integration branch count.
func keepOld(v machine.NodeView, about string) (out []NextStep) {
	for _, k := range v.Keeps[:min(len(v.Keeps), words.MostNamed)] {
		out = append(out, NextStep{fmt.Sprintf("ralph retry %s --keep-old%s", words.QuoteArg(string(k)), about), "its older result counts, and the branch is made with it"})
	}
	return out
}

// as is what has to be added to a decision at a gate with these approvers, and who
// they are if the asker is none of them. A name that git has is a claim like any other
// (an agent can set it), so that it has to be said. Another's name is proposed only where they
// have no way of their own: no label in bd, and no account on this machine.
func (w Asker) as(approvers []string) (flag, only string) {
	if machine.MayApprove(w.user, approvers) {
		return "", ""
	}
	for _, name := range w.names {
		if machine.MayApprove(name, approvers) {
			return " --as " + words.QuoteArg(name), ""
		}
	}
	who := make([]string, 0, len(approvers))
	way := w.labels
	for _, a := range approvers {
		name := strings.TrimPrefix(a, "@")
		_, err := user.Lookup(name)
		way = way || err == nil
		who = append(who, name)
	}
	if !way {
		flag = " --as " + words.QuoteArg(who[0])
	}
	return flag, " (only " + strings.Join(who, " or ") + " may)"
}
