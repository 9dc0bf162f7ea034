package policies

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/spell"
)

// check reports what is wrong with a policy as a whole: what needs no plan to be
// seen. Built-in blocks are checked by this package's tests.
func (s *Set) check(d *decoder) {
	for _, name := range sortedKeys(s.Agents) {
		if a := s.Agents[name]; !a.Builtin {
			s.checkWords(d, a.Capabilities)
		}
	}
	s.checkFallbacks(d)
	for _, name := range sortedKeys(s.Gates) {
		if g := s.Gates[name]; !g.Builtin {
			s.checkGate(d, g)
			s.checkWords(d, g.Capabilities)
		}
	}
	s.checkDraft(d)
	s.checkNetworks(d)
	var def *Policy
	for _, name := range sortedKeys(s.Policies) {
		p := s.Policies[name]
		if p.Builtin {
			continue
		}
		s.checkPolicy(d, p)
		if p.Default.V {
			if def != nil {
				d.diags.Add(diag.New("policy-two-defaults", p.Default.Range, "two policies are the default").
					WithDetail("One policy is the base of all others. Remove default = true from one of them.").WithRelated(def.Default.Range, "the other one"))
			}
			def = p
		}
	}
	s.checkComplexity(d)
	s.checkLanes(d)
	if s.Ralph.Dialect.Set {
		_, diags := s.Dialect(s.Ralph.Dialect.V, s.Ralph.Dialect.Range)
		d.diags.Add(diags...)
	}
}

// checkWords reports undeclared capabilities: typing errors, mostly.
func (s *Set) checkWords(d *decoder, v Value[[]string]) {
	known := slices.Concat(Vocabulary, s.Ralph.Capabilities.V, []string{"all"})
	for _, c := range v.V {
		if slices.Contains(known, c) {
			continue
		}
		d.diags.Add(suggested(diag.Newf("capability-unknown", v.Range, "unknown capability %s", quoted(c)), c, known, "",
			fmt.Sprintf("The capabilities are %s. Write one of these, or declare it: ralph { capabilities = [%s] }.", strings.Join(Vocabulary, ", "), quoted(c))))
	}
}

// checkFallbacks reports circles in the fallbacks of agents, each once.
func (s *Set) checkFallbacks(d *decoder) {
	const entered, left = 1, 2
	mark := map[string]int{}
	var path []string
	var visit func(name string)
	visit = func(name string) {
		a := s.Agents[name]
		if a == nil || mark[name] == left {
			return
		}
		if mark[name] == entered {
			circle := append(slices.Clone(path[slices.Index(path, name):]), name)
			d.diags.Add(diag.New("fallback-cycle", a.Fallback.Range, "agents fall back to each other in a cycle").
				WithDetail("The cycle is %s. Take one agent out of a fallback.", printableText(strings.Join(circle, " → "))))
			return
		}
		mark[name] = entered
		path = append(path, name)
		for _, f := range a.Fallback.V {
			visit(f)
		}
		path = path[:len(path)-1]
		mark[name] = left
	}
	for _, name := range sortedKeys(s.Agents) {
		visit(name)
	}
}

// checkPolicy reports steps that nothing leads to and names of steps that do not
// exist.
func (s *Set) checkPolicy(d *decoder, p *Policy) {
	if len(p.Steps) == 0 {
		if p.Match != nil || p.Default.V || !reflect.ValueOf(p.Settings).IsZero() {
			return // settings only: the steps come from the policy below
		}
		if p.broken {
			return
		}
		d.diags.Add(diag.Newf("policy-empty", p.Range, "policy %s says nothing", quoted(p.Name)).
			WithDetail("It has no step and no setting. Write step \"implement\" { … } into it, or remove it."))
		return
	}
	at := map[string]int{}
	var names []string
	for i, step := range p.Steps {
		at[step.Name] = i
		names = append(names, step.Name)
		s.checkWords(d, step.Capabilities)
		s.checkPlanningOnly(d, step.Gates)
	}
	for i, step := range p.Steps {
		next := step.Next
		if !next.Set || next.V == "" {
			continue
		}
		j, ok := at[next.V]
		switch {
		case !ok:
			d.diags.Add(suggested(diag.Newf("policy-unknown-reference", next.Range, "unknown step %s", quoted(next.V)), next.V, names,
				"Policy "+quoted(p.Name)+" has no step of that name. ", fmt.Sprintf("Policy %s has the steps %s. Write one of these.", quoted(p.Name), spell.Sorted(names, 12))))
		case j > i:
			skipped := p.Steps[i+1 : j]
			what := "jumps ahead of the step's own verdict"
			if len(skipped) > 0 {
				what = "passes over " + quoted(skipped[0].Name)
			}
			d.diags.Add(diag.Newf("step-unreachable", next.Range, "a fail of %s leads ahead", quoted(step.Name)).
				WithDetail("next says where a fail goes: to the step itself or back to an earlier one. To %s it %s, which would then be unreachable. Write the step itself or an earlier one.", quoted(next.V), what).
				WithRelated(p.Steps[j].Range, "the step it leads to"))
		}
	}
}

// checkLanes reports undeclared lanes, once lanes are declared.
func (s *Set) checkLanes(d *decoder) {
	lanes := s.Ralph.Lanes.V
	if len(lanes) == 0 {
		return
	}
	look := func(lane string, at diag.Range) {
		if slices.Contains(lanes, lane) {
			return
		}
		d.diags.Add(suggested(diag.Newf("lane-unknown", at, "unknown lane %s", quoted(lane)), lane, lanes, "",
			fmt.Sprintf("The lanes are %s. Write one of these, or add it to lanes in ralph { }.", spell.Sorted(lanes, 20))))
	}
	for _, lane := range sortedKeys(s.Concurrency.PerLane.V) {
		look(lane, s.Concurrency.PerLane.Range)
	}
	for _, name := range sortedKeys(s.Policies) {
		if m := s.Policies[name].Match; m != nil {
			for _, lane := range m.Lane.V {
				look(lane, m.Lane.Range)
			}
		}
	}
}
