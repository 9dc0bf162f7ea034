package compiler

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

// passLimits writes complexity, limits, timeouts and budgets: policy, then
// labels, then flags.
func (b *build) passLimits(diags *diag.List) *ir.Epic {
	e := b.own()
	highest := -1
	for it, n := range b.nodes(e) {
		n.Complexity = ir.Complexity{Level: it.level.Name, Word: it.word, From: it.from}
		if it.level.Rank.V > highest {
			highest = it.level.Rank.V
			e.Epic.Complexity = it.level.Name
		}
		n.Steps = slices.Clone(n.Steps)
		for k := range n.Steps {
			b.stepLimits(it, &n.Steps[k], b.crew, diags)
		}
		if w := ir.WorkStep(n); w >= 0 {
			n.Limits.StepLimits = n.Steps[w].Limits
		}
		b.nodeLimits(it, n, diags)
	}
	return e
}

func (u *unit) stepLimits(it *part, s *ir.Step, crew *crew, diags *diag.List) {
	d := it.draft
	if d.Kind == ir.Manual || d.Kind == ir.GateKind {
		return
	}
	v := it.stepValue(s.Name)
	if v == nil {
		return
	}
	iterations := v.iterRead
	if s.Access == "write" {
		iterations = v.iterWrite
	}
	s.Limits = ir.StepLimits{
		Iterations: iterations.Get(1), Attempts: v.attempts.Get(3), Breaker: v.Breaker.Get(2),
		RunnerRetries: v.runnerRetries.Get(5), TimeoutMS: v.TimeoutMS.V,
	}
	if v.Name == it.workName() {
		u.workLimits(d, s, v, diags)
	}
	if m := u.c.in.Options.MaxIterations; m > 0 && s.Access == "write" {
		s.Limits.Iterations = m
	}
	if a := crew.agents[s.Agent]; a != nil {
		s.Limits.TimeoutMS = scaled(s.Limits.TimeoutMS, a.multiplier)
	}
}

// workLimits applies the labels of the sprint to its work step and its parts. Who
// states attempts means all of them, also if they fail alike: the built-in breaker
// does not end them before.
func (u *unit) workLimits(d *ir.DraftNode, s *ir.Step, v *stepValues, diags *diag.List) {
	if d.Attempts.Set() && u.may("attempts", d.Attempts.Range, diags) {
		s.Limits.Attempts, _ = strconv.Atoi(d.Attempts.Value)
		if !userOnly(v.Breaker).Set {
			s.Limits.Breaker = s.Limits.Attempts
		}
	}
	if d.Iterations.Set() && u.may("iterations", d.Iterations.Range, diags) {
		s.Limits.Iterations, _ = strconv.Atoi(d.Iterations.Value)
	}
	if d.Timeout.Set() && u.may("timeout", d.Timeout.Range, diags) {
		s.Limits.TimeoutMS, _ = policies.ParseDuration(duration(d.Timeout.Value))
	}
}

func (u *unit) nodeLimits(it *part, n *ir.Node, diags *diag.List) {
	d := it.draft
	per := &it.settings.Budget.PerNode
	n.Limits.Budget = ir.Budget{Tokens: per.Tokens.V, USDMicro: per.USDMicro.V, WallMS: per.WallMS.V}
	if d.Budget.Set() && u.may("budget", d.Budget.Range, diags) {
		b, _ := budget(d.Budget.Value)
		if b.Tokens > 0 {
			n.Limits.Budget.Tokens = b.Tokens
		}
		if b.USDMicro > 0 {
			n.Limits.Budget.USDMicro = b.USDMicro
		}
		if b.WallMS > 0 {
			n.Limits.Budget.WallMS = b.WallMS
		}
	}
	if d.Estimate.Set() {
		n.Limits.EstimateMS, _ = policies.ParseDuration(duration(d.Estimate.Value))
	}
	if d.Deadline.Set() && u.may("deadline", d.Deadline.Range, diags) {
		n.Limits.Deadline = strings.TrimSpace(d.Deadline.Value)
	}
}
