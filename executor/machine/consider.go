package machine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// Consider reports whether a decision applies now, and returns it bound to its
// subject: the gate with its digest and the trees, or the epic. The error is a
// *Refused that says why and what would apply instead. It changes nothing.
//
// A decision that was already applied is not refused: applying it again does
// nothing (see Heard).
func (v Decisions) Consider(node ir.NodeID, d executor.Decision, now time.Time) (executor.Decision, error) {
	if d.At.IsZero() {
		d.At = executor.Millis(now)
	}
	if v.r.Decisions().Heard(d.ID) {
		return d, nil
	}
	bound := d
	_, err := v.r.consider(node, &bound)
	if no, ok := errors.AsType[*executor.Refused](err); ok && no.Already {
		return d, err
	}
	if err := v.r.stillSeen(node, d); err != nil {
		return d, err
	}
	if err != nil {
		return d, err
	}
	bound.At = executor.Millis(bound.At)
	bound.Seen, bound.About = executor.Sight{}, "" // of the letter, not of the record
	return bound, nil
}

// Heard reports whether the decision with this id is already on record.
func (v Decisions) Heard(id string) bool { return id != "" && v.r.people.heard[id] }

// act carries a decision out; it is called at most once, by decided.
type act func() error

// ways says in which ways each verb can be meant.
var ways = map[executor.Verb][]executor.How{
	executor.Approve:   {executor.HowPlain, executor.Override, executor.Baseline, executor.Drafted},
	executor.Reject:    {executor.HowPlain},
	executor.RetryNode: {executor.HowPlain, executor.GatesOnly, executor.Discard, executor.KeepOld},
	executor.Skip:      {executor.HowPlain, executor.Forced},
	executor.Pause:     {executor.HowPlain},
	executor.Resume:    {executor.HowPlain},
	executor.Cancel:    {executor.HowPlain},
}

// consider finds what a decision would do in the present state, bound to what it
// is about. It depends on nothing else: neither on the time nor on who asks.
func (r *Run) consider(id ir.NodeID, d *executor.Decision) (act, error) {
	hows, known := ways[d.Verb]
	switch {
	case !known:
		return nil, &executor.Refused{Why: fmt.Sprintf("unknown verb %q", d.Verb)}
	case !slices.Contains(hows, d.How):
		return nil, &executor.Refused{Why: fmt.Sprintf("%s has no way %q", d.Verb, d.How)}
	case strings.TrimSpace(d.By) == "":
		return nil, &executor.Refused{Why: "it does not say who decides"}
	case negative(d.Budget):
		return nil, &executor.Refused{Why: "a budget cannot be made smaller"}
	case d.Budget != (ir.Budget{}) && d.Verb != executor.Resume:
		return nil, &executor.Refused{Why: fmt.Sprintf("%s cannot add to a budget", d.Verb), Hint: "ralph resume --budget usd=+20 does"}
	}
	if d.Tamper != "" && (d.Verb != executor.Approve || id != "") {
		return nil, &executor.Refused{Why: "a change of settings or refs belongs to the run", Hint: "ralph approve --tamper " + d.Tamper}
	}
	d.Message = executor.Note(d.Message)
	if id == "" {
		return r.considerRun(d)
	}
	n := r.byID[id]
	switch {
	case n == nil:
		return nil, &executor.Refused{Why: fmt.Sprintf("the epic has no node %s", id)}
	case n.ir == nil:
		return nil, &executor.Refused{Why: fmt.Sprintf("%s is no longer in the epic", id), Hint: "its results stay pinned; nothing can be decided about it"}
	}
	switch d.Verb {
	case executor.Approve:
		return r.considerApprove(n, d)
	case executor.Reject:
		return r.considerReject(n, d)
	case executor.RetryNode:
		return r.considerRetry(n, d)
	case executor.Skip:
		return r.considerSkip(n, d)
	case executor.Cancel:
		return r.considerCancel(n, d)
	case executor.Pause:
		return r.considerPause(n, d)
	}
	return r.considerResume(n, d)
}

// refuse says why a verb does not apply to a node, and what does.
func (r *Run) refuse(n *node, format string, args ...any) error {
	hint := "nothing can be decided about it now"
	if ways := r.hint(n); ways != "" {
		hint = ways
	}
	return &executor.Refused{Why: fmt.Sprintf("%s is %s", n.ir.Key, n.standing()) + ": " + fmt.Sprintf(format, args...), Hint: hint}
}

// already refuses what is so by now, or over: nothing is wrong.
func (r *Run) already(n *node, format string, args ...any) error {
	return &executor.Refused{Why: string(n.ir.Key) + " " + fmt.Sprintf(format, args...), Hint: r.hint(n), Already: true}
}

// standing describes a node's state in a few words.
func (n *node) standing() string {
	if s := n.shown(); s != executor.Waiting {
		return s.String()
	}
	out := "waiting for a person"
	if n.wait.Decided() {
		return "about to continue (" + n.wait.Detail + ")"
	}
	if n.wait.For != executor.ForHuman {
		out = "waiting for a " + string(n.wait.For)
	}
	if n.wait.Cause != "" {
		out += " (" + string(n.wait.Cause) + ")"
	}
	return out
}

// shown is the status that people see: what a person skipped is skipped, also
// while what it would pass on is not there yet.
func (n *node) shown() executor.NodeStatus {
	if n.status == executor.Pending && n.people.skip {
		return executor.Skipped
	}
	return n.status
}

// waitsFor reports whether a node waits for a person because of one of these.
func (n *node) waitsFor(causes ...executor.Cause) bool {
	return n.status == executor.Waiting && n.wait.For == executor.ForHuman && slices.Contains(causes, n.wait.Cause)
}

// bind fills in what a decision about a gate is bound to, and lets do follow. What it
// says itself must be the same.
func (r *Run) bind(n *node, d *executor.Decision, gate string, do act) (act, error) {
	now := executor.Decision{Gate: gate, Result: n.life.attempt.collected.Result.Tree, Base: n.life.base.Tree}
	if gate != "" {
		now.Digest = ir.GateDigest(r.epic, gate)
	}
	for _, f := range []struct{ what, said, is string }{
		{"gate", d.Gate, now.Gate},
		{"gate as it was", d.Digest, now.Digest},
		{"result", d.Result, now.Result},
		{"base", d.Base, now.Base},
	} {
		if f.said != "" && f.said != f.is {
			return nil, r.refuse(n, "the decision is about a different %s (%s) than the current one (%s)", f.what, f.said, cmp.Or(f.is, "none"))
		}
	}
	d.Gate, d.Digest, d.Result, d.Base = now.Gate, now.Digest, now.Result, now.Base
	return do, nil
}

// MayApprove checks the name against the approvers; an empty list allows anybody.
func MayApprove(by string, approvers []string) bool {
	return len(approvers) == 0 || slices.ContainsFunc(approvers, func(a string) bool {
		return strings.EqualFold(strings.TrimPrefix(a, "@"), strings.TrimPrefix(by, "@"))
	})
}

func (r *Run) considerApprove(n *node, d *executor.Decision) (act, error) {
	if n.life.stale {
		return nil, r.refuse(n, "epic.json has changed it; the next ralph apply starts it again")
	}
	if d.How == executor.Baseline {
		return nil, &executor.Refused{Why: "the base belongs to all nodes", Hint: "ralph approve --baseline"}
	}
	if d.How == executor.Drafted {
		return nil, &executor.Refused{Why: "what ralph draft writes is a whole plan", Hint: "ralph approve KEY approves one node"}
	}
	if d.How == executor.Override {
		return r.considerOverride(n, d)
	}
	switch {
	case n.waitsFor(executor.CauseApproval):
		if approvers := r.epic.Gates[n.wait.Gate].Approvers; !MayApprove(d.Name(), approvers) {
			return nil, &executor.Refused{
				Why:  fmt.Sprintf("%s may not approve gate %s of %s", d.By, n.wait.Gate, n.ir.Key),
				Hint: "its approvers: " + strings.Join(approvers, ", "),
			}
		}
		return r.bind(n, d, n.wait.Gate, func() error {
			n.people.approvals = append(n.people.approvals, *d)
			return r.release(n, "approved by "+d.By)
		})
	case n.waitsFor(executor.CauseProtected):
		return r.bind(n, d, "", func() error { // collected as that person's own: what was changed is listed, and allowed
			n.life.attempt.finishedBy(d.By)
			n.life.stage = stageCollect
			return r.release(n, "approved by "+d.By)
		})
	case n.waitsFor(executor.CauseQuestion, executor.CauseDiagnosis, executor.CauseTakeover):
		return r.bind(n, d, "", func() error { n.toTheGates(); return r.release(n, "approved by "+d.By) })
	case n.waitsFor(executor.CauseManual):
		return r.bind(n, d, "", func() error {
			n.life.attempt.finishedBy(d.By)
			n.life.stage = stageCollect
			return r.release(n, "done by "+d.By)
		})
	case n.waitsFor(executor.CauseForeign):
		return r.bindForeign(d, func() error { r.sum.acceptForeign(); return r.reopen(n) })
	case n.waitsFor(executor.CauseDeadline):
		return func() error { n.people.late = true; return r.release(n, "approved by "+d.By) }, nil
	case n.waitsFor(executor.CauseGate):
		return nil, r.refuse(n, "gate %s gave no verdict to approve", n.wait.Gate)
	}
	return nil, r.refuse(n, "there is nothing to approve")
}

// considerOverride lets an attempt pass in spite of a gate that could not be judged.
func (r *Run) considerOverride(n *node, d *executor.Decision) (act, error) {
	if !n.waitsFor(executor.CauseGate) {
		return nil, r.refuse(n, "--override is for a gate that could not be judged")
	}
	if d.Message == "" {
		return nil, r.refuse(n, "overriding a gate needs a reason: -m TEXT")
	}
	return r.bind(n, d, n.wait.Gate, func() error {
		if l := &n.life; l.stage == stageRed { // it passed before any work: it may
			if l.attempt.red++; r.redDone(n) {
				l.stage = stageAgent
			}
		} else {
			n.people.approvals = append(n.people.approvals, *d)
		}
		return r.release(n, "overridden by "+d.By)
	})
}

func (r *Run) considerReject(n *node, d *executor.Decision) (act, error) {
	switch {
	case n.life.stale:
		return nil, r.refuse(n, "epic.json has changed it; the next ralph apply starts it again")
	case !n.waitsFor(executor.CauseApproval, executor.CauseGate, executor.CauseProtected):
		return nil, r.refuse(n, "there is nothing to reject")
	case n.life.stage == stageRed:
		return nil, r.refuse(n, "there is no work to reject yet: the gate was tried beforehand")
	case d.Message == "":
		return nil, r.refuse(n, "the next attempt needs to know what to improve: -m TEXT")
	case n.waitsFor(executor.CauseApproval) && !MayApprove(d.Name(), r.epic.Gates[n.wait.Gate].Approvers):
		return nil, &executor.Refused{
			Why:  fmt.Sprintf("%s may not reject at gate %s of %s", d.By, n.wait.Gate, n.ir.Key),
			Hint: "its approvers: " + strings.Join(r.epic.Gates[n.wait.Gate].Approvers, ", "),
		}
	}
	return r.bind(n, d, n.wait.Gate, func() error {
		n.life.word = *d
		n.people.tell(*d)
		return r.release(n, "rejected by "+d.By)
	})
}
