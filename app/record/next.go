package record

import (
	"cmp"
	"os/user"
	"strings"

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/ir"
)

// NextStep is a command that a person can type, and its effect.
type NextStep struct {
	Command string       `json:"command"`
	What    string       `json:"what"`
	Way     *machine.Way `json:"way,omitempty"` // the command's decision; nil: it only looks, or is manual work
}

// Asker is the person who asks what to type, and the epic in question.
type Asker struct {
	about  string   // what names the epic in a command
	user   string   // of the system: the decider without --as
	names  []string // their names in git, accepted with --as
	labels bool     // approvers may decide in bd
}

// AskerOf is the person at this terminal.
func AskerOf(about string, epic *ir.Epic, space *workspace.Space) Asker {
	return Asker{about, project.UserName(), space.Checkout.Committer(), epic.Run.Tracker != nil && epic.Run.Tracker.Approvals}
}

// NextSteps lists what a person can do about a node that does not continue by itself. dir
// is its worktree. docs/operations.md has the same table.
func NextSteps(v machine.NodeView, dir string, who Asker) []NextStep {
	var out []NextStep
	pending := []NextStep(nil) // what to do by hand before the command that follows
	for _, s := range stepsFor(v, dir, who) {
		switch {
		case s.Way == nil && !strings.HasPrefix(s.Command, "ralph "):
			pending = append(pending, s)
		case s.Way == nil || applicable(v, *s.Way):
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

// applicable reports whether the machine would accept this decision now.
func applicable(v machine.NodeView, w machine.Way) bool {
	if len(v.Ways) == 0 || w.How == executor.KeepOld && len(v.Keeps) > 0 || v.Cause == executor.CauseOlder || v.For == executor.ForBudget || v.Cause == executor.CauseHeld {
		return true
	}
	return v.Offers(w.Verb, w.How)
}

// say is a way as a step. message is what its text could be, as a word of a shell.
func (who Asker) say(w machine.Way, asWhom, message, what string) NextStep {
	w.Message = message != ""
	return NextStep{w.Line(words.QuoteArg(string(w.Key)), asWhom, message) + who.about, what, &w}
}

// offer makes the steps for one node.
type offer struct {
	v   machine.NodeView
	who Asker
}

func (o offer) step(verb executor.Verb, how executor.How, message, what string) NextStep {
	return o.who.say(machine.Way{Verb: verb, How: how, Key: o.v.Key}, "", message, what)
}

func (o offer) do(verb executor.Verb, what string) NextStep {
	return o.step(verb, executor.HowPlain, "", what)
}

// mine hands in what a person did in the worktree.
func (o offer) mine() NextStep {
	return o.step(executor.RetryNode, executor.GatesOnly, "", "the gates judge what is in its worktree")
}

// stepsFor lists what a person could do, whether the machine would take it or not.
func stepsFor(v machine.NodeView, dir string, who Asker) []NextStep {
	o := offer{v, who}
	edit := NextStep{Command: "cd " + words.QuoteArg(dir), What: "fix it there yourself, then:"}
	switch v.Status {
	case executor.Blocked:
		if v.ID == executor.Integration {
			return []NextStep{o.do(executor.RetryNode, "join the results again"), edit, o.mine()}
		}
		return []NextStep{
			o.step(executor.RetryNode, executor.HowPlain, `"a hint"`, "try again; the hint goes into the prompt"), edit, o.mine(),
			o.do(executor.Skip, "go on without it"),
		}
	case executor.Cancelled, executor.Skipped:
		return []NextStep{o.do(executor.RetryNode, "open it again")}
	case executor.Waiting:
	default:
		if len(v.Ways) > 0 && v.Ways[0].Verb == executor.Resume { // paused before it began
			return []NextStep{o.do(executor.Resume, "go on")}
		}
		return nil
	}
	if v.Cause == executor.CauseHeld {
		return []NextStep{who.say(machine.HeldWay(v.For, v.More), "", "", "go on with the whole run")}
	}
	if v.For == executor.ForBudget {
		return []NextStep{who.say(machine.Way{Verb: executor.Resume, Key: v.Key, Budget: cmp.Or(v.More, "usd=+20")}, "", "", "add to its budget")}
	}
	if v.For == executor.ForLimit && v.Offers(executor.RetryNode, executor.HowPlain) {
		return []NextStep{o.do(executor.RetryNode, "if the limit is over, or you have another key: asks now; else it goes on by itself")}
	}
	if v.For == executor.ForHuman {
		return o.forPerson(edit)
	}
	return nil
}

// forPerson lists what ends a wait for a person. edit leads into the worktree.
func (o offer) forPerson(edit NextStep) []NextStep {
	v, who := o.v, o.who
	key := words.QuoteArg(string(v.Key)) + who.about
	look := NextStep{Command: "ralph show " + words.QuoteArg(string(v.Key)) + " --diff" + who.about, What: "what it changed"}
	reject := o.step(executor.Reject, executor.HowPlain, `"what to change"`, "the next attempt begins with that")
	switch v.Cause {
	case executor.CauseApproval:
		as, only := who.as(v.Approvers)
		return []NextStep{look, who.say(machine.Way{Verb: executor.Approve, Key: v.Key}, as, "", "let it pass"+only), who.say(machine.Way{Verb: executor.Reject, Key: v.Key}, as, `"what to change"`, reject.What)}
	case executor.CauseGate:
		return []NextStep{
			look, o.do(executor.RetryNode, "ask the gate again"), reject,
			o.step(executor.Approve, executor.Override, `"why"`, "let it pass without that gate"),
		}
	case executor.CauseQuestion, executor.CauseDiagnosis:
		return []NextStep{
			o.step(executor.RetryNode, executor.HowPlain, `"the answer"`, "the agent goes on with it"),
			o.do(executor.Approve, "go on as it is, to its gates if it has any"),
		}
	case executor.CauseConfig, executor.CauseRunner, executor.CauseWorkspace:
		return []NextStep{o.do(executor.RetryNode, "once what it names is fixed; ralph apply tries it again as well")}
	case executor.CauseDeadline:
		return []NextStep{o.do(executor.RetryNode, "in spite of its deadline")}
	case executor.CauseProtected:
		return []NextStep{look, o.do(executor.Approve, "let the change of protected files pass"), reject, edit, o.mine()}
	case executor.CauseConflict:
		if v.SameAs != "" {
			return nil // what resolves it there
		}
		edit.What = "resolve the conflict there, then:"
		return []NextStep{edit, o.mine()}
	case executor.CauseManual, executor.CauseHandedIn:
		return o.byHand(edit)
	case executor.CauseTakeover:
		return []NextStep{
			o.do(executor.Resume, "you are done in its session: the agent is asked to finish there, and to report"),
			o.do(executor.Approve, "go on as it is, to its gates if it has any"),
			o.step(executor.RetryNode, executor.HowPlain, `"what to do"`, "another attempt begins with that, from what is there"),
			{Command: "ralph session " + key, What: "how to join its session"},
		}
	case executor.CausePaused:
		return []NextStep{o.do(executor.Resume, "go on")}
	case executor.CausePull:
		return []NextStep{{Command: v.Pull.URL, What: "merge it or close it there; ralph apply sees it"}}
	case executor.CauseOlder:
		return append(keepOld(v, who), o.do(executor.RetryNode, "build the branch again from what is done now; what it holds is kept under refs/ralph"))
	case executor.CauseForeign:
		look.What = "how the branch differs from what ralph put there"
		again := "build the branch again; what is there is kept under refs/ralph"
		if len(v.Keeps) > 0 { // keeping them is a separate, later question
			again = "set commits of others aside under refs/ralph; older results stay until you say so"
		}
		return []NextStep{look, o.do(executor.Approve, "go on from where the branch stands, commits of others with it, after the gates"), o.do(executor.RetryNode, again)}
	}
	return []NextStep{o.do(executor.RetryNode, "try again")}
}

// byHand lists what ends a wait for a person's own work.
func (o offer) byHand(edit NextStep) []NextStep {
	merge := NextStep{Command: "git merge --no-edit " + o.v.Merge, What: "resolve what is in conflict there, then:"}
	if o.v.Cause == executor.CauseManual {
		if o.v.Merge != "" {
			edit.What = "your work is there: bring it onto what it starts from now"
			return []NextStep{edit, merge, o.do(executor.Approve, "its gates judge what is there, the merge committed or not")}
		}
		edit.What = "do the work there, then:"
		return []NextStep{edit, o.do(executor.Approve, "its gates judge what is there, committed or not, or what you put on its branch")}
	}
	own := o.step(executor.RetryNode, executor.GatesOnly, "", "what is in its worktree is merged with what it starts from now, and its gates judge it")
	away := o.step(executor.RetryNode, executor.Discard, "", "it is kept under refs/ralph, and an agent begins anew")
	if o.v.Merge == "" {
		return []NextStep{own, away}
	}
	own.What = "its gates judge what is there, the merge committed or not"
	edit.What = "the work is there: bring it onto what it starts from now"
	return []NextStep{edit, merge, own, away}
}

// keepOld are the commands that let older results in the integration branch count.
func keepOld(v machine.NodeView, who Asker) (out []NextStep) {
	for _, k := range v.Keeps[:min(len(v.Keeps), words.MostNamed)] {
		out = append(out, who.say(machine.Way{Verb: executor.RetryNode, How: executor.KeepOld, Key: k}, "", "", "its older result counts, and the branch is made with it"))
	}
	return out
}

// as returns the flag that a decision at a gate with these approvers needs, and the
// approvers if the asker is not one of them. A name from git is an unverified claim (an
// agent can set it), so it must be given explicitly. Another person's name is proposed only
// if that person cannot decide themselves: no label in bd, and no account on this machine.
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
