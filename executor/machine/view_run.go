package machine

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
)

// Overview returns the state of the run as a whole.
func (r *Run) Overview() RunView {
	v := RunView{
		Begun: r.runs.begun, Open: r.runs.open(), Recovered: r.runs.recovered, Started: r.runs.startedAt, By: r.runs.started.By, Slots: r.runs.started.Slots, Sandbox: r.runs.started.Sandbox, Held: r.halt.held, HeldBy: r.halt.heldSeq, Cancelled: r.halt.cancelled,
		Budget: r.budget.limits(), Spent: r.budget.cost.now.spent(), More: r.budget.more(r.at), All: r.budget.cost.all.spent(), PlanApproved: r.people.planApproved(), Proposals: r.proposals(),
	}
	v.Held.Detail = r.budget.heldWhy(r.at)
	if b := v.Budget; costLimited(b) {
		v.Over = overshoot(b, &r.budget.cost)
	}
	for _, name := range slices.Sorted(maps.Keys(r.parks.runners)) {
		if p := r.parks.runners[name]; p.Until.After(r.at) {
			v.Parked = append(v.Parked, p.RunnerParked)
		}
	}
	if r.halt.draining {
		v.Draining = cmp.Or(r.halt.drained, "interrupted")
	}
	return v
}

// proposals lists the work that agents found, in the order of the epic: each once,
// also if it was proposed in other words or reported at the end once more.
func (gr *graph) proposals() []Proposed {
	var out []Proposed
	all := map[executor.Proposal]bool{}
	for _, n := range gr.nodes {
		var own map[string]int // by title, of this node
		add := func(p executor.Proposal, agent string) {
			title := strings.ToLower(text.OneLine(p.Title))
			at, known := own[title]
			switch {
			case known && out[at].Text == "":
				out[at].Text = p.Text
			case known || all[p]:
			default:
				if own == nil {
					own = map[string]int{}
				}
				own[title] = len(out)
				out = append(out, Proposed{p, n.ir.Key, agent})
			}
			all[p] = true
		}
		for l := range lists.Refs(n.logs) {
			for _, p := range l.Proposed {
				add(p.Proposal, p.Agent)
			}
			for _, p := range l.Outcome.Proposals {
				add(p, l.Agent)
			}
		}
	}
	return out
}
