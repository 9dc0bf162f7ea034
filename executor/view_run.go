package executor

import (
	"maps"
	"slices"
)

// Overview returns where the run as a whole stands.
func (r *Run) Overview() RunView {
	v := RunView{
		Begun: r.begun, Open: r.Open(), Started: r.startedAt, By: r.started.By, Slots: r.started.Slots, Held: r.held, Cancelled: r.cancelled,
		Budget: r.runBudget(), Spent: r.cost.now.spent(), PlanApproved: r.planApproved(), Proposals: r.proposals(),
	}
	for _, name := range slices.Sorted(maps.Keys(r.parks)) {
		if p := r.parks[name]; p.Until.After(r.at) {
			v.Parked = append(v.Parked, p.RunnerParked)
		}
	}
	if r.draining {
		v.Draining = r.drained
		if v.Draining == "" {
			v.Draining = "interrupted"
		}
	}
	return v
}

// proposals lists the work that agents found, each once, in the order of the epic.
func (r *Run) proposals() []Proposal {
	var out []Proposal
	seen := map[Proposal]bool{}
	for _, n := range r.nodes {
		for i := range n.logs {
			for _, p := range n.logs[i].Outcome.Proposals {
				if !seen[p] {
					seen[p] = true
					out = append(out, p)
				}
			}
		}
	}
	return out
}
