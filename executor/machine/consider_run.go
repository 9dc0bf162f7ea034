package machine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// considerRun is about decisions without a node: the plan, or the run as a whole.
func (r *Run) considerRun(d *executor.Decision) (act, error) {
	switch d.Verb {
	case executor.Approve:
		if d.Tamper != "" {
			return r.tampers.consider(d)
		}
		if d.How == executor.Baseline {
			return r.considerBase(d)
		}
		return r.people.considerPlan(d)
	case executor.Pause:
		if r.halt.held.For == executor.ForHuman {
			return nil, &executor.Refused{Why: "the run is held already: " + r.halt.held.Detail, Hint: "ralph resume", Already: true}
		}
		if d.Seen.State == goingOn && !r.runs.open() {
			return nil, &executor.Refused{Why: "the run has ended meanwhile: there is nothing to pause", Hint: "ralph pause holds the next one", Already: true}
		}
		return func() error {
			r.halt.hold(executor.RunHeld{For: executor.ForHuman, Detail: "paused by " + d.By + executor.Because(d.Message)})
			return nil
		}, nil
	case executor.Resume:
		more := d.Budget != (ir.Budget{})
		if seen := d.Seen.Seq; seen != 0 && r.halt.held.For == executor.ForHuman && r.halt.heldSeq > seen {
			return nil, &executor.Refused{
				Why:  fmt.Sprintf("this was decided when event %d was the last one, and the run has been %s since", seen, r.halt.held.Detail),
				Hint: "if it still holds: ralph resume",
			}
		}
		if r.halt.held.For == executor.ForBase && !more {
			return nil, &executor.Refused{Why: "the run is not paused: it is " + r.halt.held.Detail, Hint: r.budget.heldWay().Command()}
		}
		if r.halt.held.For == "" && !more {
			if d.Seen.WasPaused() {
				return nil, &executor.Refused{Why: "the run was resumed already", Already: true}
			}
			return nil, &executor.Refused{Why: "the run is not paused", Hint: "ralph resume KEY resumes one node, ralph resume --budget usd=+20 adds to the budget"}
		}
		if why := r.budget.over(d.Budget, r.at); r.halt.held.For == executor.ForBudget && why != "" {
			return nil, &executor.Refused{Why: "the run would stop again at once: " + why, Hint: r.budget.heldWay().Command()}
		}
		return func() error {
			r.budget.added = addBudget(r.budget.added, d.Budget)
			if r.halt.held.For == executor.ForBase {
				return nil
			}
			return r.unhold("resumed by " + d.By)
		}, nil
	case executor.Cancel:
		switch {
		case r.halt.cancelled != "":
			return nil, &executor.Refused{Why: "the run was cancelled by " + r.halt.cancelled + " already", Already: true}
		case !r.runs.open() && d.Seen.State == goingOn:
			return nil, &executor.Refused{Why: "the run has ended meanwhile: there is nothing to cancel", Already: true}
		case !r.runs.open():
			return nil, &executor.Refused{Why: "no run is active", Hint: "ralph cancel KEY cancels one node"}
		}
		return func() error { r.halt.cancelled = d.By; return nil }, nil
	}
	return nil, &executor.Refused{Why: fmt.Sprintf("%s is about one node", d.Verb), Hint: fmt.Sprintf("ralph %s KEY", d.Verb)}
}

// considerPlan approves the epic as it is now.
func (p *people) considerPlan(d *executor.Decision) (act, error) {
	people := p.epic.Run.HITL.Approvers
	switch {
	case d.How == executor.Override:
		return nil, &executor.Refused{Why: "a plan has no gate to override", Hint: "ralph approve"}
	case d.How == executor.Drafted && d.Digest == "":
		return nil, &executor.Refused{Why: "it does not say which epic.json was approved"}
	case d.Digest != "" && d.Digest != p.epic.Digest:
		return nil, &executor.Refused{Why: "the decision is about a different epic.json than the current one", Hint: "ralph diff shows what changed; then ralph approve"}
	case p.epic.Run.HITL.Plan != "required" && d.How != executor.Drafted:
		return nil, &executor.Refused{Why: "the policy requires no approval of the plan: starting ralph apply approves it", Hint: "ralph approve KEY approves one node"}
	case !MayApprove(d.Name(), people):
		return nil, &executor.Refused{Why: d.By + " may not approve the plan", Hint: "its approvers: " + strings.Join(people, ", ")}
	case p.plans[p.epic.Digest], d.How != executor.Drafted && p.planApproved():
		return nil, &executor.Refused{Why: "this plan is approved already", Hint: "ralph apply", Already: d.How == executor.Drafted}
	}
	d.Digest = p.epic.Digest
	return func() error { p.plans[d.Digest] = true; return nil }, nil
}

// planApproved reports whether the present epic is approved or needs no approval.
func (p *people) planApproved() bool {
	return p.epic.Run.HITL.Plan != "required" || p.plans[p.epic.Digest]
}

// considerBase lets work begin on a base on which gates that have to be green are
// red. It holds for these gates, these trees and this setup.
func (r *Run) considerBase(d *executor.Decision) (act, error) {
	if people := r.epic.Run.HITL.Approvers; !MayApprove(d.Name(), people) {
		return nil, &executor.Refused{Why: d.By + " may not approve the base", Hint: "its approvers: " + strings.Join(people, ", ")}
	}
	red := r.pre.red()
	digest := digestRed(red)
	switch {
	case len(red) == 0:
		return nil, &executor.Refused{Why: "no gate that has to be green is red on the base", Hint: "ralph plan shows what the last preflight found, ralph plan --preflight makes one"}
	case d.Digest != "" && d.Digest != digest:
		return nil, &executor.Refused{Why: "the red gates or the base have changed since the decision", Hint: "ralph plan shows what the last preflight found"}
	}
	d.Digest, d.Gate = digest, text.Head(strings.Join(namesOf(red), ", "), 300)
	return func() error {
		for _, b := range red {
			r.pre.approved[b.Binding()] = d.By
		}
		if r.halt.held.For == executor.ForBase {
			return r.unhold("resumed by " + d.By)
		}
		return nil
	}, nil
}

// hold lets nothing new start. A pause outlasts a budget.
func (ht *halt) hold(h executor.RunHeld) {
	if ht.held.For != executor.ForHuman {
		ht.held, ht.heldAt, ht.heldSeq = h, ht.at, ht.seq+1
	}
}

// unhold lets everything go on that waited because the run was held; detail says why.
func (r *Run) unhold(detail string) error {
	if r.halt.held.For == "" {
		return nil
	}
	r.halt.held = executor.RunHeld{}
	for _, n := range r.nodes {
		if n.status == executor.Waiting && n.wait.Cause == executor.CauseHeld {
			if err := r.release(n, detail); err != nil {
				return err
			}
			r.queues.touch(n)
		}
	}
	return nil
}

// defaultGrace is what running attempts get when the run is cancelled and its
// start said nothing.
const defaultGrace = 2 * time.Minute

// grace is how long what runs may go on when the run is ended.
func (r *runs) grace() time.Duration {
	if r.started.Grace > 0 {
		return time.Duration(r.started.Grace) * time.Millisecond
	}
	return defaultGrace
}

// onRun decides what concerns the whole run: it is cancelled, or its budget is
// used up, or its base is red.
func (r *Run) onRun(now time.Time) (executor.Event, bool) {
	if r.halt.cancelled != "" && !r.halt.draining {
		return executor.Event{Body: executor.RunDraining{Until: executor.Millis(now.Add(r.runs.grace())), Reason: "cancelled by " + r.halt.cancelled}}, true
	}
	if r.halt.held.For == "" && !r.halt.draining {
		if why := r.budget.over(ir.Budget{}, now); why != "" && slices.ContainsFunc(r.nodes, r.wantsTurn) {
			return executor.Event{Body: executor.RunHeld{For: executor.ForBudget, Detail: why}}, true
		}
	}
	if !r.halt.stopped() && !r.halt.draining && !r.pre.running && r.runs.started.Preflight != "" {
		if why := r.Bases().Held(); why != "" {
			return executor.Event{Body: executor.RunHeld{For: executor.ForBase, Detail: why}}, true
		}
	}
	return executor.Event{}, false
}

// stopped reports whether nothing at all may start: the run is paused, or its base is
// red. What costs nothing goes on while only a budget is used up.
func (ht *halt) stopped() bool {
	return ht.held.For == executor.ForHuman || ht.held.For == executor.ForBase
}

// unneeded ends a hold for the budget that keeps nothing back: all is done, or
// what is not needs no further turn.
func (r *Run) unneeded() error {
	if r.halt.held.For == executor.ForBudget && !slices.ContainsFunc(r.nodes, r.wantsTurn) {
		return r.unhold("no budget is needed any more")
	}
	return nil
}
