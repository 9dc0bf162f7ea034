package machine

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/shellword"
	"github.com/ralph-compiler/ralph/ir"
)

// Way is one thing a person can do now. The commands to type are made from it.
type Way struct {
	Verb    executor.Verb `json:"verb"`
	How     executor.How  `json:"how,omitempty"`
	Key     ir.Key        `json:"key,omitempty"`     // of the node; "" is the whole run
	Message bool          `json:"message,omitempty"` // it takes a text
	Budget  string        `json:"budget,omitempty"`  // what has to be added at least, as ralph resume --budget reads it
}

// What begins a run is no decision, and no machine is asked.
const (
	Apply executor.Verb = "apply"
	Rerun executor.How  = "rerun"
)

// Command is the way as people type it.
func (w Way) Command() string { return w.Line(shellword.Quote(string(w.Key)), "", "TEXT") }

// Line is the command of a way. key is the node's key as a shell word, asWhom the flags
// that say who decides, message the text as a shell word.
func (w Way) Line(key, asWhom, message string) string {
	line := "ralph " + string(w.Verb)
	how := ""
	if w.How != executor.HowPlain {
		how = " --" + string(w.How)
	}
	switch {
	case w.Key == "":
		line += how
	case w.Verb == Apply:
		line += how + " " + key
	default:
		line += " " + key + how
	}
	line += asWhom
	if w.Message {
		line += " -m " + message
	}
	if w.Budget != "" {
		line += " --budget " + w.Budget
	}
	return line
}

// Decision is the way as a decision, without its text and budget; false for one that
// begins a run.
func (w Way) Decision() (executor.Decision, bool) {
	return executor.Decision{Verb: w.Verb, How: w.How}, w.Verb != Apply
}

// Offers reports whether a verb is among the ways with this how; HowPlain is any.
func (v NodeView) Offers(verb executor.Verb, how executor.How) bool {
	return slices.ContainsFunc(v.Ways, func(w Way) bool { return w.Verb == verb && (how == executor.HowPlain || w.How == how) })
}

// Must reports whether a way is refused without a text: the agent has to be told something,
// or the record why.
func (v NodeView) Must(w Way) bool {
	switch w.Verb {
	case executor.Reject:
		return true
	case executor.Approve:
		return w.How == executor.Override
	case executor.RetryNode:
		return w.How == executor.HowPlain && v.Status == executor.Waiting && (v.Cause == executor.CauseQuestion || v.Cause == executor.CauseTakeover)
	}
	return false
}

// HeldWay ends a hold of the whole run; more is what its budget needs.
func HeldWay(what executor.WaitFor, more string) Way {
	switch what {
	case executor.ForBase:
		return Way{Verb: executor.Approve, How: executor.Baseline}
	case executor.ForBudget:
		return Way{Verb: executor.Resume, Budget: more}
	}
	return Way{Verb: executor.Resume}
}

func (bg *budget) heldWay() Way { return HeldWay(bg.halt.held.For, bg.more(bg.at)) }

// hint is the ways out of a node as the commands to type, one per line.
func (r *Run) hint(n *node) string { return strings.Join(lists.Map(r.waysOf(n), Way.Command), "\n  ") }

// offer collects the ways of a node.
type offer struct {
	key  ir.Key
	ways []Way
}

// say adds ways that are about the node, not about the whole run.
func (o *offer) say(ways ...Way) {
	for _, w := range ways {
		w.Key = o.key
		o.ways = append(o.ways, w)
	}
}

// sayKeepOld adds the way back to an earlier success, if there is one.
func (r *Run) sayKeepOld(n *node, o *offer) {
	if r.cannotKeepOld(n) == "" {
		o.say(Way{Verb: executor.RetryNode, How: executor.KeepOld})
	}
}

// waysOf lists what people can do about a node as it is now.
func (r *Run) waysOf(n *node) []Way {
	o := offer{key: n.ir.Key}
	if n.people.paused != "" && (n.status != executor.Waiting || n.wait.For != executor.ForBudget) {
		o.say(Way{Verb: executor.Resume})
	}
	switch n.shown() {
	case executor.Done:
		if !n.sum {
			o.say(Way{Verb: Apply, How: Rerun})
		}
		return o.ways
	case executor.Skipped, executor.Cancelled:
		if n.people.reopen {
			return []Way{{Verb: Apply}}
		}
		o.say(Way{Verb: executor.RetryNode})
		r.sayKeepOld(n, &o)
	case executor.Blocked:
		r.waysOfBlocked(n, &o)
		return o.ways
	case executor.Waiting:
		if n.wait.Cause == executor.CauseHeld {
			return append(o.ways, r.budget.heldWay())
		}
		r.waysOfWaiting(n, &o)
	}
	if n.sum || n.shown() == executor.Skipped || n.status == executor.Cancelled {
		return o.ways
	}
	r.sayKeepOld(n, &o)
	if n.people.paused == "" {
		o.say(Way{Verb: executor.Pause})
	}
	switch {
	case n.lands():
	case n.status == executor.Running && r.plans == "":
		o.say(Way{Verb: executor.Skip, How: executor.Forced}, Way{Verb: executor.Cancel})
	default:
		o.say(r.waysAround()...)
	}
	return o.ways
}

func (r *Run) waysOfBlocked(n *node, o *offer) {
	o.say(Way{Verb: executor.RetryNode, Message: true})
	if r.cannotHandIn(n) == "" {
		o.say(Way{Verb: executor.RetryNode, How: executor.GatesOnly}, Way{Verb: executor.RetryNode, How: executor.Discard})
	}
	r.sayKeepOld(n, o)
	if !n.sum {
		o.say(r.waysAround()...)
	}
}

func (r *Run) waysOfWaiting(n *node, o *offer) {
	switch {
	case n.life.stale: // the next run begins it again
		o.ways = append(o.ways, Way{Verb: Apply})
	case n.wait.For == executor.ForBudget:
		o.say(Way{Verb: executor.Resume, Budget: cmp.Or(n.nodeMore(r.at), r.budget.more(r.at), "usd=+20")})
	case r.parkedFor(n) != "":
		o.say(Way{Verb: executor.RetryNode})
	default:
		o.say(r.endsOf(n)...)
	}
}

// waysAround ends a node without its result. A draft is nothing without its plan.
func (r *rules) waysAround() []Way {
	if r.plans != "" {
		return []Way{{Verb: executor.Cancel}}
	}
	return []Way{{Verb: executor.Skip}, {Verb: executor.Cancel}}
}

// endsOf are those of the ways that end a wait of a node that it can take now.
func (r *Run) endsOf(n *node) []Way {
	return slices.DeleteFunc(slices.Clone(ends[n.wait.Cause]), func(w Way) bool {
		return w.Verb == executor.Reject && n.life.stage == stageRed || w.How == executor.GatesOnly && r.cannotHandIn(n) != ""
	})
}

// ends says what ends a wait for a person, by cause.
var ends = func() map[executor.Cause][]Way {
	approve, retry := Way{Verb: executor.Approve}, Way{Verb: executor.RetryNode}
	reject, answer := Way{Verb: executor.Reject, Message: true}, Way{Verb: executor.RetryNode, Message: true}
	judge, discard := Way{Verb: executor.RetryNode, How: executor.GatesOnly}, Way{Verb: executor.RetryNode, How: executor.Discard}
	override := Way{Verb: executor.Approve, How: executor.Override, Message: true}
	return map[executor.Cause][]Way{
		executor.CauseApproval:  {approve, reject, judge},
		executor.CauseGate:      {retry, reject, override, judge},
		executor.CauseQuestion:  {answer, approve, judge},
		executor.CauseDiagnosis: {answer, approve, judge},
		executor.CauseTakeover:  {answer, approve, {Verb: executor.Resume}},
		executor.CauseConfig:    {retry},
		executor.CauseRunner:    {retry},
		executor.CauseWorkspace: {retry},
		executor.CauseConflict:  {judge, retry},
		executor.CauseManual:    {approve},
		executor.CauseHandedIn:  {judge, discard},
		executor.CauseForeign:   {approve, retry},
		executor.CauseOlder:     {retry},
		executor.CauseProtected: {approve, reject, answer, judge},
		executor.CauseDeadline:  {retry, approve},
		executor.CauseOnly:      {retry},
		executor.CausePaused:    {}, // resume is first
		executor.CausePull:      {}, // it is merged or closed where it is
	}
}()
