package machine

import (
	"maps"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/text"
)

// Overview returns where the run as a whole stands.
func (r *Run) Overview() RunView {
	v := RunView{
		Begun: r.begun, Open: r.Open(), Recovered: r.recovered, Started: r.startedAt, By: r.started.By, Slots: r.started.Slots, Held: r.held, Cancelled: r.cancelled,
		Budget: r.runBudget(), Spent: r.cost.now.spent(), More: r.runMore(r.at), All: r.cost.all.spent(), PlanApproved: r.planApproved(), Proposals: r.proposals(),
	}
	v.Held.Detail = r.heldWhy(r.at)
	if b := v.Budget; costLimited(b) {
		v.Over = overshoot(b, &r.cost)
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

// proposals lists the work that agents found, in the order of the epic: each once,
// also if it was proposed in other words or reported at the end once more.
func (r *Run) proposals() []Proposed {
	var out []Proposed
	all := map[executor.Proposal]bool{}
	for _, n := range r.nodes {
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
		for i := range n.logs {
			l := &n.logs[i]
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
