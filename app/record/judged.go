package record

import (
	"context"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

// NextSteps says what a person can do about a node that does not continue by itself; what
// the next apply judges again by itself needs no one.
func (r *Record) NextSteps(v machine.NodeView) []NextStep {
	if v.BlockedBy == executor.ByGates && !r.Held {
		if steps := r.judgedNext()[v.ID]; len(steps) > 0 {
			return steps
		}
	}
	who := AskerOf(r.About(), r.Epic, r.Space)
	who.accounts = r.accounts
	return NextSteps(v, r.Space.Dir(v.ID), who)
}

// prepare makes now what takes git, the disk or the accounts of the system, for who has no
// time when it is asked for.
func (r *Record) prepare() {
	r.Node("") // the index
	r.moved = r.allMoved()
	r.approved()
	r.accounts = map[string]bool{}
	for _, g := range r.Epic.Gates {
		for _, a := range g.Approvers {
			name := strings.TrimPrefix(a, "@")
			if _, known := r.accounts[name]; !known {
				r.accounts[name] = hasAccount(name)
			}
		}
	}
	if !r.Held && slices.ContainsFunc(r.Run.Views(), func(v machine.NodeView) bool { return v.BlockedBy == executor.ByGates }) {
		r.judgedNext()
		r.Space.Trees.Release() // nobody would later
	}
}

// judgedNext are the nodes that the next apply judges again, each with what to type.
func (r *Record) judgedNext() map[ir.NodeID][]NextStep {
	if r.judged != nil {
		return r.judged
	}
	r.judged = map[ir.NodeID][]NextStep{}
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
	var first []NextStep
	if !run.Overview().PlanApproved {
		first = []NextStep{{Command: "ralph approve" + r.About(), What: "the changed plan waits for approval; then:"}}
	}
	for _, p := range planned {
		if p.Action == machine.ActJudge {
			apply := NextStep{Command: "ralph apply" + Applies(r.File), What: "its gates judge it again: " + p.Cause, Way: &machine.Way{Verb: machine.Apply}}
			r.judged[p.Node] = append(slices.Clip(first), apply)
		}
	}
	return r.judged
}
