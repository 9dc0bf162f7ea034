package main

import (
	"context"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// nextSteps says what a person can do about a node that does not go on by itself; what
// the next apply judges again by itself needs nobody.
func (r *record) nextSteps(v executor.NodeView) []nextStep {
	if v.BlockedBy == executor.ByGates && !r.held {
		if why := r.judgedNext()[v.ID]; why != "" {
			return []nextStep{{"ralph apply" + applies(r.file), "its gates judge it again: " + why}}
		}
	}
	return nextSteps(v, r.space.Dir(v.ID), r.asker())
}

// judgedNext are the nodes that the next apply judges again, with what ralph plan says
// of each.
func (r *record) judgedNext() map[ir.NodeID]string {
	if r.judged != nil {
		return r.judged
	}
	r.judged = map[ir.NodeID]string{}
	run, err := replayed(r.given, r.events)
	if err != nil { // ralph plan says so
		return r.judged
	}
	start := executor.RunStarted{Epic: r.given.Epic.ID, Digest: r.given.Digest, Slots: 1, By: userName(), Base: run.Base(), Bases: run.Bases()}
	if start.Head, err = headOf(context.Background(), r.given, r.space); err != nil {
		return r.judged
	}
	planned, err := run.Plan(start, r.now)
	if err != nil {
		return r.judged
	}
	for _, p := range planned {
		if p.Action == executor.ActJudge {
			r.judged[p.Node] = p.Cause
		}
	}
	return r.judged
}
