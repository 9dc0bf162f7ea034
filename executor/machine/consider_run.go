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
func (r *Run) considerRun(d executor.Decision) (executor.Decision, act, error) {
	switch d.Verb {
	case executor.Approve:
		if d.Tamper != "" {
			return r.considerTamper(d)
		}
		if d.How == executor.Baseline {
			return r.considerBase(d)
		}
		return r.considerPlan(d)
	case executor.Pause:
		if r.held.For == executor.ForHuman {
			return d, nil, &executor.Refused{Why: "the run is held already: " + r.held.Detail, Hint: "ralph resume", Already: true}
		}
		if d.Seen.State == goingOn && !r.Open() {
			return d, nil, &executor.Refused{Why: "the run has ended meanwhile: there is nothing to pause", Hint: "ralph pause holds the next one", Already: true}
		}
		return d, func() error {
			r.hold(executor.RunHeld{For: executor.ForHuman, Detail: "paused by " + d.By + executor.Because(d.Message)})
			return nil
		}, nil
	case executor.Resume:
		more := d.Budget != (ir.Budget{})
		if r.held.For == executor.ForBase && !more {
			return d, nil, &executor.Refused{Why: "the run is not paused: it is " + r.held.Detail, Hint: r.heldWay().Command()}
		}
		if r.held.For == "" && !more {
			if d.Seen.WasPaused() {
				return d, nil, &executor.Refused{Why: "the run was resumed already", Already: true}
			}
			return d, nil, &executor.Refused{Why: "the run is not paused", Hint: "ralph resume KEY resumes one node, ralph resume --budget usd=+20 adds to the budget"}
		}
		if why := r.runOver(d.Budget, r.at); r.held.For == executor.ForBudget && why != "" {
			return d, nil, &executor.Refused{Why: "the run would stop again at once: " + why, Hint: r.heldWay().Command()}
		}
		return d, func() error {
			r.added = addBudget(r.added, d.Budget)
			if r.held.For == executor.ForBase {
				return nil
			}
			return r.unhold("resumed by " + d.By)
		}, nil
	case executor.Cancel:
		switch {
		case r.cancelled != "":
			return d, nil, &executor.Refused{Why: "the run was cancelled by " + r.cancelled + " already", Already: true}
		case !r.Open() && d.Seen.State == goingOn:
			return d, nil, &executor.Refused{Why: "the run has ended meanwhile: there is nothing to cancel", Already: true}
		case !r.Open():
			return d, nil, &executor.Refused{Why: "no run is going on", Hint: "ralph cancel KEY cancels one node"}
		}
		return d, func() error { r.cancelled = d.By; return nil }, nil
	}
	return d, nil, &executor.Refused{Why: fmt.Sprintf("%s is about one node", d.Verb), Hint: fmt.Sprintf("ralph %s KEY", d.Verb)}
}

// considerPlan approves the epic as it is now.
func (r *Run) considerPlan(d executor.Decision) (executor.Decision, act, error) {
	people := r.epic.Run.HITL.Approvers
	switch {
	case d.How == executor.Override:
		return d, nil, &executor.Refused{Why: "a plan has no gate that could be overridden", Hint: "ralph approve"}
	case d.How == executor.Drafted && d.Digest == "":
		return d, nil, &executor.Refused{Why: "it does not say which epic.json was approved"}
	case d.Digest != "" && d.Digest != r.epic.Digest:
		return d, nil, &executor.Refused{Why: "the decision is about another epic.json than the present one", Hint: "ralph diff shows what changed; then ralph approve"}
	case r.epic.Run.HITL.Plan != "required" && d.How != executor.Drafted:
		return d, nil, &executor.Refused{Why: "the policy asks for no approval of the plan: to start ralph apply is to approve it", Hint: "ralph approve KEY approves one node"}
	case !MayApprove(d.By, people):
		return d, nil, &executor.Refused{Why: d.By + " may not approve the plan", Hint: "it asks for one of: " + strings.Join(people, ", ")}
	case r.plans[r.epic.Digest], d.How != executor.Drafted && r.planApproved():
		return d, nil, &executor.Refused{Why: "this plan is approved already", Hint: "ralph apply", Already: d.How == executor.Drafted}
	}
	d.Digest = r.epic.Digest
	return d, func() error { r.plans[d.Digest] = true; return nil }, nil
}

// planApproved reports whether a person approved the present epic, or nobody has to.
func (r *Run) planApproved() bool {
	return r.epic.Run.HITL.Plan != "required" || r.plans[r.epic.Digest]
}

// considerBase lets work begin on a base on which gates that have to be green are
// red. It holds for these gates, these trees and this setup.
func (r *Run) considerBase(d executor.Decision) (executor.Decision, act, error) {
	people := r.epic.Run.HITL.Approvers
	if !MayApprove(d.By, people) {
		return d, nil, &executor.Refused{Why: d.By + " may not approve the base", Hint: "it asks for one of: " + strings.Join(people, ", ")}
	}
	red := r.redBase()
	digest := digestRed(red)
	switch {
	case len(red) == 0:
		return d, nil, &executor.Refused{Why: "no gate that has to be green is red on the base", Hint: "ralph plan shows what the last preflight found, ralph plan --preflight makes one"}
	case d.Digest != "" && d.Digest != digest:
		return d, nil, &executor.Refused{Why: "the decision is about other gates or another base than what is red now", Hint: "ralph plan shows what the last preflight found"}
	}
	d.Digest, d.Gate = digest, text.Head(strings.Join(namesOf(red), ", "), 300)
	return d, func() error {
		for _, b := range red {
			r.pre.approved[b.Binding()] = d.By
		}
		if r.held.For == executor.ForBase {
			return r.unhold("resumed by " + d.By)
		}
		return nil
	}, nil
}

// hold lets nothing new start. A pause outlasts a budget.
func (r *Run) hold(h executor.RunHeld) {
	if r.held.For != executor.ForHuman {
		r.held, r.heldAt = h, r.at
	}
}

// unhold lets everything go on that waited because the run was held; detail says why.
func (r *Run) unhold(detail string) error {
	if r.held.For == "" {
		return nil
	}
	r.held = executor.RunHeld{}
	for _, n := range r.nodes {
		if n.status == executor.Waiting && n.wait.Cause == executor.CauseHeld {
			if err := r.release(n, detail); err != nil {
				return err
			}
			r.touch(n)
		}
	}
	return nil
}

// defaultGrace is what running attempts get when the run is cancelled and its
// start said nothing.
const defaultGrace = 2 * time.Minute

// grace is how long what runs may go on when the run is ended.
func (r *Run) grace() time.Duration {
	if r.started.Grace > 0 {
		return time.Duration(r.started.Grace) * time.Millisecond
	}
	return defaultGrace
}

// onRun decides what concerns the whole run: it is cancelled, or its budget is
// used up, or its base is red.
func (r *Run) onRun(now time.Time) (executor.Event, bool) {
	if r.cancelled != "" && !r.draining {
		return executor.Event{Body: executor.RunDraining{Until: executor.Millis(now.Add(r.grace())), Reason: "cancelled by " + r.cancelled}}, true
	}
	if r.held.For == "" && !r.draining {
		if why := r.runOver(ir.Budget{}, now); why != "" && slices.ContainsFunc(r.nodes, r.wantsTurn) {
			return executor.Event{Body: executor.RunHeld{For: executor.ForBudget, Detail: why}}, true
		}
	}
	if !r.stopped() && !r.draining && !r.pre.running && r.started.Preflight != "" {
		if why := r.BaseHeld(); why != "" {
			return executor.Event{Body: executor.RunHeld{For: executor.ForBase, Detail: why}}, true
		}
	}
	return executor.Event{}, false
}

// stopped reports whether nothing at all may start: the run is paused, or its base is
// red. What costs nothing goes on while only a budget is used up.
func (r *Run) stopped() bool {
	return r.held.For == executor.ForHuman || r.held.For == executor.ForBase
}

// unneeded ends a hold for the budget that keeps nothing back: all is done, or
// what is not needs no further turn.
func (r *Run) unneeded() error {
	if r.held.For == executor.ForBudget && !slices.ContainsFunc(r.nodes, r.wantsTurn) {
		return r.unhold("no budget is needed any more")
	}
	return nil
}
