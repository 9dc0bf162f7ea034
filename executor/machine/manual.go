package machine

import (
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// withPersonStep gives a manual node the one step in which a person works, if
// the epic has none.
func withPersonStep(in *ir.Node) *ir.Node {
	if in.Kind != ir.Manual || len(in.Steps) > 0 {
		return in
	}
	n := *in
	n.Steps = []ir.Step{{
		Name: "manual", Access: "write", GateMode: "parallel", OnFailure: "keep", AllowEmpty: true, Next: "manual",
		Retry: ir.Retry{Backoff: "fixed"},
	}}
	return &n
}

// byPerson reports whether a person does the work of the open attempt.
func (r *rules) byPerson(n *node) bool {
	s := n.stepNow()
	if n.life.step == asideStep {
		return false
	}
	return n.ir.Kind == ir.Manual || s != nil && r.epic.Agents[s.Agent].Human
}

// byHandAlone reports whether all work of a node is a person's: its worktree is theirs.
func (r *rules) byHandAlone(n *node) bool {
	return n.ir.Kind == ir.Manual || len(n.ir.Steps) > 0 && !slices.ContainsFunc(n.ir.Steps, func(s ir.Step) bool { return !r.epic.Agents[s.Agent].Human })
}

// awaitPerson lets a node wait for the person who does its work.
func (r *rules) awaitPerson(n *node) (executor.Event, bool) {
	if !r.byPerson(n) {
		return executor.Event{}, false
	}
	own, says := n.life.attempt.own, "ralph approve "+n.typed()
	detail := "a person does it in its worktree, or on branch " + n.ir.Git.Branch + ", and says so with " + says
	switch log := n.lastEnded(""); {
	case own.Merge != "":
		detail = "your work is in its worktree, and does not merge cleanly with its new base, " + own.Merge + " (in conflict: " + strings.Join(own.Paths, ", ") + ")"
	case log != nil && log.Status != executor.AttemptPassed:
		detail = "not yet: " + text.FirstLine(log.Reason)
	case own.Work != "" && (len(n.successes) > 0 || n.life.first > 0):
		detail = "your work is in its worktree, on the new base: continue there, or finish with " + says
	}
	return n.awaitHuman(executor.CauseManual, executor.Fitting(detail)), true
}

// lastEnded is the last attempt of this life at a step, "" for any, that has ended; nil
// if there is none.
func (n *node) lastEnded(step string) *AttemptLog {
	return newest(n.logs[n.life.first:], func(l *AttemptLog) bool {
		return l.Status != executor.AttemptRunning && (step == "" || l.Step == step)
	})
}

// handed is what a person handed in, and for what.
type handed struct {
	by    string // "": nothing
	work  string // digest
	print string // of the inputs
	base  string // commit
}

// noteHanded takes note of what a person says about their work: any other retry than a
// hand-in sets it aside, by their own word. A hand-in that is about an earlier epic was
// taken at its time, and is not forgotten.
func (n *node) noteHanded(d executor.Decision, foreign bool) {
	if d.How != executor.GatesOnly {
		n.people.handed = handed{}
		return
	}
	l := &n.life
	if !foreign || n.sum {
		return
	}
	h := handed{by: d.By, work: l.work, print: l.print, base: l.base.Commit}
	if h.base == "" && len(l.inputs) == 1 {
		h.base = l.inputs[0].Commit
	}
	n.people.handed = h
}

// handedBy is whose own work the next attempt is, "" if an agent's.
func (n *node) handedBy() string {
	l := &n.life
	if l.word.Verb == executor.RetryNode && l.word.How == executor.GatesOnly {
		return l.word.By
	}
	if h := &n.people.handed; h.by != "" && h.work == l.work && h.print == l.print && h.base == l.base.Commit {
		return h.by // it came out the same
	}
	return ""
}

// awaitHanded lets a node wait for the person whose work is in its worktree: it was
// handed in for another base or text, and was not judged. No agent begins meanwhile.
func (n *node) awaitHanded() (executor.Event, bool) {
	if n.people.handed.by == "" || n.handedBy() != "" {
		return executor.Event{}, false
	}
	return n.awaitHuman(executor.CauseHandedIn, executor.Fitting(n.handedWhy())), true
}

// handedWhy says what holds back a node with work that was handed in.
func (n *node) handedWhy() string {
	what := "what " + n.people.handed.by + " handed in"
	if c := n.lacks(); c != "" {
		return what + " is in its worktree, and does not merge cleanly with its new base, " + c
	}
	why := "on another base"
	if n.ir != nil && n.people.handed.work != n.ir.Digest.Work {
		why = "for another text"
	}
	return what + " was made " + why + ", is not judged yet and stays in its worktree"
}

// lacks is the base that a person has to merge into what is in the worktree, "" if none.
func (n *node) lacks() string {
	if n.waitsFor(executor.CauseManual) {
		return n.life.attempt.own.Merge
	}
	if log := n.lastEnded(""); log != nil && n.people.handed.by != "" {
		return log.Collected.Lacks
	}
	return ""
}

// handIn begins an attempt of what a person left in the worktree: it is
// collected as it is.
func (n *node) handIn(who string) {
	n.life.word = executor.Decision{}
	n.life.attempt.finishedBy(who)
	n.life.stage = stageCollect
}

// personFailed applies the failure of what a person did: no agent starts because
// of it, and it costs none of the agent's attempts. A manual node waits for the
// person again; what was handed in for an agent's step blocks.
func (r *rules) personFailed(n *node) bool {
	l := &n.life
	switch {
	case r.byPerson(n):
		l.stage = stageOpen
	case l.attempt.person != "" && l.attempt.collected.Lacks != "":
		n.people.handed.base = "" // it waits for them
		l.stage = stageOpen
	case l.step == asideStep && l.attempt.person != "":
		l.stage = stageOpen // the conflict stays as it is in the worktree
	case l.attempt.person != "":
		l.stage = stageStopped
	default:
		return false
	}
	l.judging = nil
	return true
}

// awaited reports whether a person could make the run go on.
func (gr *graph) awaited() bool {
	return slices.ContainsFunc(gr.nodes, func(n *node) bool { return n.status == executor.Waiting && n.selected })
}

// unwanted lists what is in flight for nodes that a person ended.
func (q *queues) unwanted() []executor.Effect {
	var out []executor.Effect
	for _, i := range q.strays {
		out = append(out, q.nodes[i].life.flight...)
	}
	return out
}

// renew begins the account of a run: what an interrupted one used, or one that
// its budget held, counts on.
func (r *Run) renew() {
	r.halt.cancelled, r.halt.drained, r.runs.startedAt = "", "", r.at
	for n := range r.all() {
		if n.people.reopen {
			n.people.skip, n.people.reopen = false, false
		}
	}
	for _, n := range r.nodes { // the clocks stood still since the last event
		if !n.cost.since.IsZero() {
			n.cost.stop(r.prior)
		}
	}
	if !r.budget.cost.since.IsZero() {
		r.budget.cost.stop(r.prior)
	}
	if r.budget.fresh {
		r.budget.cost.renew(r.at, "")
		r.budget.added = ir.Budget{}
	}
	r.budget.fresh = false
}
