package web

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/simulate"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

const (
	plays         = 20
	mostPlayed    = 2000             // sprints
	forecastEvery = 10 * time.Second // at most
)

// foretold is the last forecast; a new one is asked for.
func (l *live) foretold() *Forecast {
	l.slow.wanted = true
	return l.slow.forecast
}

// foretell makes the forecast that is asked for, and reports whether it is another one. It
// takes long, and the mutex only at its ends.
func (l *live) foretell(ctx context.Context) bool {
	l.mu.Lock()
	if s := &l.slow; !s.wanted || s.of == l.count || time.Now().Before(s.due) {
		l.mu.Unlock()
		return false
	}
	of := l.count
	rest, scenario := l.rest()
	l.mu.Unlock()
	began := time.Now()
	f := play(ctx, rest, scenario)
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &l.slow
	s.wanted, s.of, s.due = false, of, time.Now().Add(max(forecastEvery, 10*time.Since(began)))
	if same(s.forecast, f) {
		return false
	}
	s.forecast = f
	l.changed()
	if s.of == l.count-1 {
		s.of = l.count
	}
	return true
}

func same(a, b *Forecast) bool { return a == b || a != nil && b != nil && *a == *b }

// rest is what can still run, as an epic of its own, and how it goes as far as is known;
// nil if there is nothing, too much, or nothing to go by.
func (l *live) rest() (*ir.Epic, *simulate.Scenario) {
	views := l.views()
	var silent time.Duration // since the last event
	if k := len(l.rec.Events) - 1; k >= 0 && l.rec.Held {
		silent = max(time.Since(l.rec.Events[k].At), 0)
	}
	scenario := scenarioOf(views, silent)
	if scenario == nil || len(l.rec.Epic.Nodes) > mostPlayed {
		return nil, nil
	}
	left, stuck := map[ir.Key]bool{}, map[ir.Key]bool{} // stuck: what failed or was cancelled, and all behind it
	for _, v := range views {
		switch v.Status {
		case executor.Done, executor.Skipped:
		case executor.Cancelled, executor.Blocked:
			stuck[v.Key] = true
		default:
			left[v.Key] = true
		}
	}
	epic := *l.rec.Epic
	epic.Run.Budget = ir.Budget{} // it is asked how long it takes
	epic.Nodes = nil
	for i := range l.rec.Epic.Nodes {
		n := l.rec.Epic.Nodes[i] // in the order of what they need
		if left[n.Key] && slices.ContainsFunc(n.After, func(e ir.Edge) bool { return e.Type == ir.Blocks && stuck[e.Key] }) {
			stuck[n.Key] = true
			delete(left, n.Key)
		}
		if !left[n.Key] {
			continue
		}
		n.After = slices.DeleteFunc(slices.Clone(n.After), func(e ir.Edge) bool { return !left[e.Key] })
		n.Merges = slices.DeleteFunc(slices.Clone(n.Merges), func(k ir.Key) bool { return !left[k] })
		if len(n.Merges) < 2 {
			n.Merges = nil
		}
		epic.Nodes = append(epic.Nodes, n)
	}
	for _, e := range slices.Backward(l.rec.Events) {
		if b, is := e.Body.(executor.RunStarted); is {
			scenario.Slots = b.Slots
			break
		}
	}
	if len(epic.Nodes) == 0 {
		return nil, nil
	}
	return &epic, scenario
}

// scenarioOf is how long agents and gates took, and how often gates failed; nil if no agent
// has worked. What is at work now takes less, by what it has worked, also while there was
// silence.
func scenarioOf(views []machine.NodeView, silent time.Duration) *simulate.Scenario {
	agents, gates, failed := map[string][]int64{}, map[string][]int64{}, map[string]int{}
	for _, v := range views {
		for _, a := range v.Attempts {
			if a.Millis > 0 {
				agents[a.Agent] = append(agents[a.Agent], a.Millis/int64(max(a.Turns, 1)))
			}
			for _, g := range a.Gates {
				if g.By != "" || g.Millis == 0 {
					continue
				}
				gates[g.Gate] = append(gates[g.Gate], g.Millis)
				if g.Verdict == executor.Fail {
					failed[g.Gate]++
				}
			}
		}
	}
	if len(agents) == 0 {
		return nil
	}
	s := &simulate.Scenario{Start: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), Wait: true}
	always := simulate.Match{Chance: 1}
	var all []int64
	for name, times := range agents {
		s.Agents = append(s.Agents, simulate.AgentRule{Match: always, Agent: name, Takes: spanOf(times), Result: "success", End: string(executor.EndExited), Action: "human"})
		all = append(all, times...)
	}
	s.Agents = append(s.Agents, simulate.AgentRule{Match: always, Takes: spanOf(all), Result: "success", End: string(executor.EndExited), Action: "human"})
	slices.SortStableFunc(s.Agents, func(a, b simulate.AgentRule) int { return compareLast(a.Agent, b.Agent) })
	for name, times := range gates {
		if n := failed[name]; n > 0 {
			chance := simulate.Match{Chance: float64(n) / float64(len(times)+1)}
			s.Gates = append(s.Gates, simulate.GateRule{Match: chance, Gate: name, Takes: spanOf(times), Verdict: executor.Fail})
		}
		s.Gates = append(s.Gates, simulate.GateRule{Match: always, Gate: name, Takes: spanOf(times), Verdict: executor.Pass})
	}
	slices.SortStableFunc(s.Gates, func(a, b simulate.GateRule) int { return compareLast(a.Gate, b.Gate) })
	for _, v := range views {
		if v.Status == executor.Running {
			goesOn(s, v, silent)
		}
	}
	return s
}

// goesOn says of a sprint that is at work what it has behind it: the steps that have passed, and
// what its agent has worked in the present one.
func goesOn(s *simulate.Scenario, v machine.NodeView, silent time.Duration) {
	worked, rules := v.Worked, s.Agents
	var agents []simulate.AgentRule
	var gates []simulate.GateRule
	for _, a := range v.Attempts {
		once := simulate.Match{Node: string(v.Key), Step: a.Step, Chance: 1, Times: 1}
		switch worked -= a.Work; {
		case a.Status == executor.AttemptPassed && a.Step != v.Step && !a.Started.Before(v.Started):
			agents = append(agents, simulate.AgentRule{Match: once, Result: "success", End: string(executor.EndExited), Action: "human"})
			for _, g := range a.Gates {
				gates = append(gates, simulate.GateRule{Match: once, Gate: g.Gate, Verdict: executor.Pass})
			}
		case a.Status == executor.AttemptRunning:
			i := slices.IndexFunc(rules, func(r simulate.AgentRule) bool { return r.Agent == a.Agent || r.Agent == "" })
			rule, has := rules[i], max(worked, 0)+silent
			rule.Match, rule.Agent = once, ""
			rule.Takes = simulate.Span{From: max(rule.Takes.From-has, 0), To: max(rule.Takes.To-has, 0)}
			agents = append(agents, rule)
		}
	}
	s.Agents, s.Gates = slices.Concat(agents, s.Agents), slices.Concat(gates, s.Gates)
}

// compareLast orders names; the rule for all is the last.
func compareLast(a, b string) int {
	switch {
	case a == b:
		return 0
	case b == "" || a != "" && a < b:
		return -1
	}
	return 1
}

// spanOf is where most of some times lie, in milliseconds.
func spanOf(times []int64) simulate.Span {
	slices.Sort(times)
	at := func(percent int) time.Duration {
		return time.Duration(times[(len(times)-1)*percent/100]) * time.Millisecond
	}
	return simulate.Span{From: at(10), To: at(90)}
}

// play plays what is left again and again; nil if that is not possible.
func play(ctx context.Context, rest *ir.Epic, s *simulate.Scenario) *Forecast {
	if rest == nil {
		return nil
	}
	took := make([]time.Duration, 0, plays)
	for seed := range uint64(plays) {
		if ctx.Err() != nil {
			return nil
		}
		s.Seed = seed + 1
		out, err := simulate.Run(rest, s, nil)
		if err != nil || out.Open != "" {
			return nil
		}
		took = append(took, out.Ended.Sub(out.Began))
	}
	slices.Sort(took)
	slots := s.Slots
	if slots == 0 {
		slots = max(rest.Run.Concurrency.Nodes, 1)
	}
	return &Forecast{
		P50MS: took[plays/2-1].Milliseconds(), P90MS: took[plays*9/10-1].Milliseconds(), Slots: slots,
		Note: fmt.Sprintf("%d plays of the %s that can still run, with the times of this epic; people approve within 10 minutes", plays, text.Count(len(rest.Nodes), "sprint")),
	}
}

// foretell makes the forecasts that are asked for, until ctx ends.
func (h *house) foretell(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for _, l := range h.all() {
			if l.foretell(ctx) {
				h.tell()
			}
		}
	}
}
