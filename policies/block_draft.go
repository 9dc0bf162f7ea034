package policies

import (
	"slices"

	"github.com/ralph-compiler/ralph/diag"
)

// Draft is the block `draft {}`: how `ralph draft` has plans written. It is the only
// part of a project's policy about that; no policy, rule or budget is.
type Draft struct {
	Agents    Value[[]string] `hcl:"agents" ref:"agent" doc:"the planner and who takes its place, such as [agent.planner]"`                       // the planner, then those that take its place; none: an agent with capability plan
	Explorers Value[[]string] `hcl:"explorers" ref:"agent" doc:"who looks around first, one after another, such as [agent.explorer]"`             // who looks around first, one after another; not Set: the agents with capability explore
	Attempts  Value[int]      `hcl:"attempts" min:"1" max:"1000" doc:"attempts of the planner, from 1; left out, it follows from the complexity"` // of the planner; not Set: what the complexity of the wish says
	MaxSprint MaxSprint       `hcl:"max_sprint" doc:"how large a sprint may be"`
	Review    DraftReview
	Range     diag.Range // of the user's block
}

// MaxSprint is the block `max_sprint {}`: the maximum size of a drafted plan's sprints.
// What is not Set has no bound.
type MaxSprint struct {
	Tasks      Value[int]   `hcl:"tasks" min:"1" max:"1000" doc:"tasks of a sprint, from 1"`
	Files      Value[int]   `hcl:"files" min:"1" max:"1000" doc:"files and globs that a sprint owns or forecasts, from 1"` // that the sprint owns or forecasts
	EstimateMS Value[int64] `hcl:"estimate" is:"duration" min:"1" doc:"the longest estimate of a sprint, such as \"8h\""`  // what the sprint itself says it takes
}

// DraftReview says who judges a drafted plan beside the compiler: a gate of kind
// review, or an agent, whose gate ralph writes. At most one is set.
type DraftReview struct {
	Gate  Value[string]
	Agent Value[string]
}

var draftBlock = &block{
	of:   (*Draft)(nil),
	name: "draft",
	doc:  "how ralph draft has plans written",
	attrs: []attr{
		{name: "review", kind: kRef, ref: "gate", also: "agent", doc: "who judges the plan beside the compiler: a gate of kind review, or an agent"},
	},
}

func (a *Draft) check(r *reader) {
	typ, review := r.refOf("review")
	if typ == "agent" {
		a.Review.Agent = review
	} else {
		a.Review.Gate = review
	}
}

// checkDraft reports what cannot draft a plan, or judge one.
func (s *Set) checkDraft(d *decoder) {
	for _, v := range []Value[[]string]{s.Draft.Agents, s.Draft.Explorers} {
		for _, name := range v.V {
			if a := s.Agents[name]; a != nil && a.Human.V {
				d.diags.Add(diag.Newf("draft-agent", v.Range, "agent %s is a person", quoted(name)).
					WithDetail("A plan is drafted by a program; a person sees it before it counts. Name another agent."))
			}
		}
	}
	if r := s.Draft.Review.Agent; r.Set && s.Agents[r.V] != nil && s.Agents[r.V].Human.V {
		d.diags.Add(diag.Newf("draft-agent", r.Range, "agent %s is a person", quoted(r.V)).
			WithDetail("A review is made by a program; a person approves every plan without it. Name another agent, or remove review."))
	}
	if r := s.Draft.Review.Gate; r.Set {
		if g := s.Gates[r.V]; g != nil && !g.broken && g.Kind.V != "review" {
			d.diags.Add(diag.Newf("draft-agent", r.Range, "gate %s is not a review", quoted(r.V)).
				WithDetail("It is of kind %s. What reviews a drafted plan sees the brief and the plan alone: name a gate of kind review, or an agent.", g.Kind.V))
		}
	}
}

// PlanningOnly is the diagnostic for a gate of kind compiles in a list of gates: it judges
// plans that ralph draft has written, and nothing else.
func PlanningOnly(gate string, at diag.Range) diag.Diagnostic {
	return diag.Newf("gate-planning-only", at, "gate %s judges plans, not work", quoted(gate)).
		WithDetail("Of kind compiles, it compiles the plan that `ralph draft` has written, and is there by itself. Remove it from the list.")
}

// checkPlanningOnly reports gates that a step cannot have.
func (s *Set) checkPlanningOnly(d *decoder, list Value[[]string]) {
	if i := slices.IndexFunc(list.V, func(name string) bool { g := s.Gates[name]; return g != nil && g.Kind.V == "compiles" }); i >= 0 {
		d.diags.Add(PlanningOnly(list.V[i], list.Range))
	}
}
