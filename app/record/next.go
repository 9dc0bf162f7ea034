package record

import (
	"os/user"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// NextStep is a command that a person can type, and its effect.
type NextStep struct {
	Command string       `json:"command"`
	What    string       `json:"what"`
	Way     *machine.Way `json:"way,omitempty"` // the command's decision; nil: it only looks, or is manual work
	As      string       `json:"-"`             // who decides, where the command says it
}

// Asker is the person who asks what to type, and the epic in question.
type Asker struct {
	about    string          // what names the epic in a command
	user     string          // of the system: the decider without --as
	names    []string        // their names in git, accepted with --as
	labels   bool            // approvers may decide in bd
	accounts map[string]bool // who of the approvers has one on this machine, as far as that was looked up
}

// AskerOf is the person at this terminal.
func AskerOf(about string, epic *ir.Epic, space *workspace.Space) Asker {
	return Asker{about: about, user: project.UserName(), names: space.User.Committer(), labels: epic.Run.Tracker != nil && epic.Run.Tracker.Approvals}
}

// NextSteps lists what a person can do about a node that does not continue by itself: of
// the machine's ways, those that advices has a text for, in its order. dir is its worktree,
// where ralph enter leads if an agent worked there in a sandbox.
func NextSteps(v machine.NodeView, dir string, who Asker) []NextStep {
	var out, pending []NextStep // pending: what to do by hand before the command that follows
	fill := strings.NewReplacer(worktree, who.into(v, dir), "KEY", words.QuoteArg(string(v.Key)), "MERGE", v.Merge, "URL", v.Pull.URL)
	for _, a := range advices()[situationOf(v)] {
		steps := who.take(v, a)
		if a.verb == "" {
			s := NextStep{Command: fill.Replace(a.text), What: a.what}
			if !strings.HasPrefix(a.text, "ralph ") {
				pending = append(pending, s)
				continue
			}
			s.Command += who.about
			steps = []NextStep{s}
		}
		if len(steps) > 0 {
			out = append(append(out, pending...), steps...)
		}
		pending = nil
	}
	if len(out) == 0 {
		return pending
	}
	return out
}

// worktree stands for the command that takes a person to a node's worktree.
const worktree = "WORKTREE"

// into is that command: what an agent left in a sandbox is looked at there.
func (who Asker) into(v machine.NodeView, dir string) string {
	if in, confined := lastIn(v); confined {
		return "ralph enter " + words.QuoteArg(string(v.Key)) + in + who.about
	}
	return "cd " + words.QuoteArg(dir)
}

// lastIn reports whether the agent that worked last on a node did so in a sandbox, or where
// none has worked a gate, and says with which flags ralph enter opens that.
func lastIn(v machine.NodeView) (flags string, confined bool) {
	for _, a := range slices.Backward(v.Attempts) {
		if a.Turns > 0 || a.Sandbox != nil { // a turn that was cut counts
			return "", a.Sandbox.Confined()
		}
		for _, g := range slices.Backward(a.Gates) {
			if flags == "" && g.Sandbox.Confined() {
				flags = " --gate " + words.QuoteArg(g.Gate)
			}
		}
	}
	return flags, flags != ""
}

// take makes the steps of an advice: one if its way is open, one for each older result that
// could be kept, else none.
func (who Asker) take(v machine.NodeView, a advice) (out []NextStep) {
	ways := v.Ways
	if a.how == executor.KeepOld { // a way of each of the nodes whose results they are
		ways = lists.Map(v.Keeps[:min(len(v.Keeps), words.MostNamed)], func(k ir.Key) machine.Way { return machine.Way{Verb: a.verb, How: a.how, Key: k} })
	}
	as, name, only := "", "", ""
	if v.Cause == executor.CauseApproval {
		if name, only = who.as(v.Approvers); a.verb != executor.Approve {
			only = ""
		}
	}
	if name != "" {
		as = " --as " + words.QuoteArg(name)
	}
	for _, w := range ways {
		if w.Verb == a.verb && w.How == a.how && (w.Key == "") == (v.Cause == executor.CauseHeld) {
			w.Message = a.text != ""
			out = append(out, NextStep{w.Line(words.QuoteArg(string(w.Key)), as, a.text) + who.about, a.what + only, &w, name})
		}
	}
	return out
}

// advice is what is said of a way that is open, or of something else that helps.
type advice struct {
	verb executor.Verb // "": no decision
	how  executor.How
	text string // that the way takes, as a word of a shell; without a verb: what to type
	what string
}

// Situations that are no cause of a wait for a person; those of a cause stand for it.
const (
	sumBlocked executor.Cause = "integration blocked"
	blocked    executor.Cause = "blocked"
	closed     executor.Cause = "closed" // skipped, cancelled
	notBegun   executor.Cause = "not begun"
	limited                   = executor.Cause(executor.ForLimit)
	overBudget                = executor.Cause(executor.ForBudget)

	toMerge       = ", to merge" // onto what the work of a person starts from now
	manualMerge   = executor.CauseManual + toMerge
	handedInMerge = executor.CauseHandedIn + toMerge
	foreignKeeps  = executor.CauseForeign + ", older results"
)

// situationOf is what advices says something about; "" or another word if nothing.
func situationOf(v machine.NodeView) executor.Cause {
	switch {
	case v.Status == executor.Blocked && v.ID == executor.Integration:
		return sumBlocked
	case v.Status == executor.Blocked:
		return blocked
	case v.Status == executor.Cancelled, v.Status == executor.Skipped:
		return closed
	case v.Status != executor.Waiting:
		return notBegun
	case v.Cause == executor.CauseHeld:
		return v.Cause
	case v.For != executor.ForHuman:
		return executor.Cause(v.For)
	case v.SameAs != "": // what resolves it there
		return ""
	case v.Cause == executor.CauseManual && v.Merge != "", v.Cause == executor.CauseHandedIn && v.Merge != "":
		return v.Cause + toMerge
	case v.Cause == executor.CauseForeign && len(v.Keeps) > 0: // keeping them is a separate, later question
		return foreignKeeps
	}
	return v.Cause
}

// advices has what is shown in a situation, in the order in which it is shown.
// docs/operations.md has the same table.
var advices = sync.OnceValue(func() map[executor.Cause][]advice {
	const approve, reject, retry, resume, plain, judge = executor.Approve, executor.Reject, executor.RetryNode, executor.Resume, executor.HowPlain, executor.GatesOnly
	byHand := func(what string) advice { return advice{text: worktree, what: what} }
	look := advice{text: "ralph show KEY --diff", what: "what it changed"}
	differs := advice{text: look.text, what: "how the branch differs from ralph's own"}
	merge := advice{text: "git merge --no-edit MERGE", what: "resolve what is in conflict there, then:"}
	fix := byHand("fix it there yourself, then:")
	mine := advice{retry, judge, "", "the gates judge what is in its worktree"}
	merged := advice{retry, judge, "", "its gates judge what is there, the merge committed or not"}
	away := advice{retry, executor.Discard, "", "it is kept under refs/ralph, and an agent starts from scratch"}
	again := advice{reject, plain, `"what to change"`, "the next attempt starts with that"}
	answer := advice{retry, plain, `"the answer"`, "the agent continues with it"}
	asItIs := advice{approve, plain, "", "continue as it is, to its gates if it has any"}
	fixed := advice{retry, plain, "", "once what it names is fixed; ralph apply tries it again as well"}
	goOn := advice{resume, plain, "", "go on"}
	theirs := advice{approve, plain, "", "continue from the branch as it is, including others' commits, after the gates"}
	return map[executor.Cause][]advice{
		sumBlocked: {{retry, plain, "", "integrate the results again"}, fix, mine},
		blocked: {
			{retry, plain, `"a hint"`, "try again; the hint goes into the prompt"},
			fix, mine,
			{executor.Skip, plain, "", "go on without it"},
		},
		closed:     {{retry, plain, "", "open it again"}},
		notBegun:   {goOn},
		overBudget: {{resume, plain, "", "add to its budget"}},
		limited:    {{retry, plain, "", "if the limit is over, or you have another key: retry now; otherwise it continues by itself"}},

		executor.CauseHeld:      {{approve, executor.Baseline, "", "resume the whole run"}, {resume, plain, "", "resume the whole run"}},
		executor.CauseApproval:  {look, {approve, plain, "", "let it pass"}, again},
		executor.CauseGate:      {look, {retry, plain, "", "ask the gate again"}, again, {approve, executor.Override, `"why"`, "let it pass without that gate"}},
		executor.CauseQuestion:  {answer, asItIs},
		executor.CauseDiagnosis: {answer, asItIs},
		executor.CauseConfig:    {fixed},
		executor.CauseRunner:    {fixed},
		executor.CauseWorkspace: {fixed},
		executor.CauseDeadline:  {{retry, plain, "", "despite its deadline"}},
		executor.CauseOnly:      {{retry, plain, "", "try again"}},
		executor.CausePaused:    {goOn},
		executor.CausePull:      {{text: "URL", what: "merge or close it there; ralph apply notices"}},
		executor.CauseProtected: {look, {approve, plain, "", "let the change of protected files pass"}, again, fix, mine},
		executor.CauseConflict:  {byHand("resolve the conflict there, then:"), mine},
		executor.CauseTakeover: {
			{resume, plain, "", "you are done in its session: the agent is asked to finish and report there"},
			asItIs,
			{retry, plain, `"what to do"`, "another attempt starts with that, from the current state"},
			{text: "ralph session KEY", what: "how to join its session"},
		},
		executor.CauseManual: {
			byHand("do the work there, then:"),
			{approve, plain, "", "its gates judge what is there, committed or not, or what you put on its branch"},
		},
		manualMerge: {
			byHand("your work is there: merge the sprint's current starting point into it"), merge,
			{approve, plain, "", merged.what},
		},
		executor.CauseHandedIn: {{retry, judge, "", "what is in its worktree is merged with what it starts from now, and its gates judge it"}, away},
		handedInMerge:          {byHand("the work is there: merge the sprint's current starting point into it"), merge, merged, away},
		executor.CauseOlder: {
			{retry, executor.KeepOld, "", "its older result counts and is part of the branch"},
			{retry, plain, "", "rebuild the branch from what is done now; its content is kept under refs/ralph"},
		},
		executor.CauseForeign: {differs, theirs, {retry, plain, "", "rebuild the branch; what is there is kept under refs/ralph"}},
		foreignKeeps:          {differs, theirs, {retry, plain, "", "move others' commits aside under refs/ralph; older results stay until you decide"}},
	}
})

// as returns the name with which a decision at a gate with these approvers is made, and the
// approvers if the asker is not one of them. A name from git is an unverified claim (an
// agent can set it), so it must be given explicitly. Another person's name is proposed only
// if that person cannot decide themselves: no label in bd, and no account on this machine.
func (w Asker) as(approvers []string) (name, only string) {
	if machine.MayApprove(w.user, approvers) {
		return "", ""
	}
	for _, name := range w.names {
		if machine.MayApprove(name, approvers) {
			return name, ""
		}
	}
	who := make([]string, 0, len(approvers))
	way := w.labels
	for _, a := range approvers {
		name := strings.TrimPrefix(a, "@")
		way = way || w.hasAccount(name)
		who = append(who, name)
	}
	if !way {
		name = who[0]
	}
	return name, " (only " + strings.Join(who, " or ") + " may)"
}

func (w Asker) hasAccount(name string) bool {
	if is, known := w.accounts[name]; known {
		return is
	}
	return hasAccount(name)
}

// hasAccount reports whether somebody has an account on this machine.
func hasAccount(name string) bool {
	_, err := user.Lookup(name)
	return err == nil
}
