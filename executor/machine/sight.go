package machine

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// The state of a run or a node that takes its normal course.
const (
	goingOn  = "going on"
	notBegun = "not going on"
	underWay = "under way" // whether it began yet does not matter
)

// Bind binds a decision for a letter to what its sender sees. The error is a *Refused
// if it does not apply now; the decision is bound all the same.
func (v Decisions) Bind(id ir.NodeID, d executor.Decision) (executor.Decision, error) {
	bound := d
	_, err := v.r.consider(id, &bound)
	if err != nil {
		bound = d
	}
	bound.Seen = v.r.sight(id, d.Verb)
	bound.Seen.Seq = d.Seen.Seq
	return bound, err
}

// Rebind binds a decision whose sender saw a run about to begin to that run, which has
// begun now.
func (v Decisions) Rebind(id ir.NodeID, d executor.Decision) executor.Decision {
	if d.Verb.OfRun() {
		d.Seen.Run, d.Seen.Began = v.r.runs.whichRun(id)
	}
	if id == "" && d.Verb != executor.Resume {
		d.Seen.State = v.r.sight("", d.Verb).State
	}
	return d
}

// whichRun is the run that a decision is for. What was said about a node to a run that
// was killed holds in the one that goes on from there; what was said about the run itself
// does not: it was started again.
func (r *runs) whichRun(id ir.NodeID) (event int64, began time.Time) {
	if id == "" {
		return r.startedSeq, r.startedAt
	}
	return r.firstSeq, r.firstAt
}

func (r *Run) sight(id ir.NodeID, v executor.Verb) executor.Sight {
	var s executor.Sight
	if v.OfRun() {
		s.Run, s.Began = r.runs.whichRun(id)
	}
	if id == "" {
		s.State = r.place(v)
		return s
	}
	n := r.byID[id]
	if n == nil || n.ir == nil {
		return s
	}
	s.State, s.Text = n.placeOf(v), fmt.Sprintf("%.12s", n.ir.Digest.Work)
	return s
}

// place is the state of the run, as far as it matters to what is decided.
func (r *Run) place(v executor.Verb) string {
	switch {
	case v == executor.Resume && r.halt.held.For == executor.ForHuman:
		return pausedAt(r.halt.held.Detail, r.halt.heldAt)
	case v == executor.Resume: // what a budget or a base holds needs no look: each says by itself whether it is enough
		return "not paused"
	case r.runs.open():
		return goingOn
	}
	return notBegun
}

// placeOf is the state of a node, as far as it matters to what is decided.
func (n *node) placeOf(v executor.Verb) string {
	switch s := n.shown(); {
	case v == executor.Resume && n.people.paused != "":
		return pausedAt("paused by "+n.people.paused, n.people.pausedAt)
	case v == executor.Approve, v == executor.Reject, v == executor.RetryNode, v == executor.Resume && s == executor.Waiting:
	case v == executor.Resume:
		return "not paused"
	case s == executor.Pending, s == executor.Ready, s == executor.Running, s == executor.Waiting && (n.wait.For == executor.ForTimer || n.wait.For == executor.ForLimit || n.wait.Cause == executor.CauseHeld):
		return underWay
	}
	out := n.standing()
	if n.wait.Gate != "" && n.status == executor.Waiting {
		out += ", gate " + n.wait.Gate
	}
	if k := len(n.logs); k > 0 {
		out += fmt.Sprintf(", %s #%d after %d turns", n.logs[k-1].Step, n.logs[k-1].Number, n.logs[k-1].Turns)
	}
	return out
}

func pausedAt(what string, at time.Time) string {
	return what + " at " + at.UTC().Format(time.RFC3339Nano)
}

// stillSeen refuses a letter when what its sender saw is not so any more.
func (r *Run) stillSeen(id ir.NodeID, d executor.Decision) error {
	was, now := d.Seen, r.sight(id, d.Verb)
	switch {
	case was == (executor.Sight{}) && d.About == "":
		return nil
	case was == (executor.Sight{}):
		was = now.Earlier(d.About)
	}
	n := r.byID[id]
	switch {
	case id != "" && (n == nil || n.ir == nil):
		return nil // consider says so
	case n != nil && was.Seq != 0 && n.changed > was.Seq && now.State != underWay:
		return r.refuse(n, "this was decided when event %d was its last one, and event %d came after it", was.Seq, n.changed)
	case was.Run != 0 && (was.Run != now.Run || !was.Began.Equal(now.Began)):
		return &executor.Refused{
			Why:  fmt.Sprintf("this was decided about the run that began %s; another one began %s", timeOf(was.Began), timeOf(now.Began)),
			Hint: strings.TrimRight(fmt.Sprintf("if it still holds: ralph %s %s", d.Verb, n.nameOrNone()), " "),
		}
	case was.Text != now.Text:
		return r.refuse(n, "its text has changed since this was decided")
	case was.State == now.State:
		return nil
	case n == nil:
		return &executor.Refused{Why: fmt.Sprintf("this was decided when the run was %s, and now it is %s", was.State, now.State), Hint: "if it still holds: ralph " + string(d.Verb)}
	}
	return r.refuse(n, "this was decided when it was %s, and now it is %s", was.State, now.State)
}

func timeOf(t time.Time) string { return t.UTC().Format(time.DateTime) + " UTC" }

func (n *node) nameOrNone() string {
	if n == nil {
		return ""
	}
	return string(n.ir.Key)
}
