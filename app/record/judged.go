package record

import (
	"context"

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

// NextSteps says what a person can do about a node that does not go on by itself; what
// the next apply judges again by itself needs nobody.
func (r *Record) NextSteps(v machine.NodeView) []NextStep {
	if v.BlockedBy == executor.ByGates && !r.Held {
		if why := r.judgedNext()[v.ID]; why != "" {
			return []NextStep{{Command: "ralph apply" + Applies(r.File), What: "its gates judge it again: " + why, Way: &machine.Way{Verb: machine.Apply}}}
		}
	}
	return NextSteps(v, r.Space.Dir(v.ID), AskerOf(r.About(), r.Epic, r.Space))
}

// judgedNext are the nodes that the next apply judges again, with what ralph plan says
// of each.
func (r *Record) judgedNext() map[ir.NodeID]string {
	if r.judged != nil {
		return r.judged
	}
	r.judged = map[ir.NodeID]string{}
	run, err := Replayed(r.Given, r.Events)
	if err != nil { // ralph plan says so
		return r.judged
	}
	start := executor.RunStarted{Epic: r.Given.Epic.ID, Digest: r.Given.Digest, Slots: 1, By: project.UserName(), Base: run.Bases().Base(), Bases: run.Bases().Named()}
	if start.Head, err = HeadOf(context.Background(), r.Given, r.Space); err != nil {
		return r.judged
	}
	planned, err := machine.Plan(run, start, r.Now)
	if err != nil {
		return r.judged
	}
	for _, p := range planned {
		if p.Action == machine.ActJudge {
			r.judged[p.Node] = p.Cause
		}
	}
	return r.judged
}
