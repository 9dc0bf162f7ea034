package machine

import (
	"math"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

func told(n int64) *int64 { return &n }

// A turn begins if it fits into what is left beside what is spent and reserved, or if nothing
// else is going on and something is left; in dollars and in tokens.
func TestWhatABudgetLetsBegin(t *testing.T) { // execution §5, budgets
	for name, c := range map[string]struct {
		limit, spent, booked int64
		own                  *int64 // nil: unknown
		unknown, turns       int    // turns of the same agent whose cost is unknown; turns in flight
		want                 bool
	}{
		"no limit":                                {0, 900, 900, told(900), 0, 1, true},
		"it fits exactly":                         {100, 40, 30, told(30), 0, 1, true},
		"it does not fit":                         {100, 40, 30, told(31), 0, 1, false},
		"alone it may go over":                    {100, 40, 0, told(500), 0, 0, true},
		"alone with nothing left":                 {100, 100, 0, told(0), 0, 0, false},
		"for nothing, beside what fills it":       {100, 40, 60, told(0), 0, 1, true},
		"for nothing, beside what goes over":      {100, 40, 61, told(0), 0, 1, false},
		"unknown, and something is left":          {100, 40, 60, nil, 0, 1, true},
		"unknown, beside what goes over":          {100, 40, 61, nil, 0, 1, false},
		"unknown, beside one of the same agent":   {100, 40, 0, nil, 1, 1, false},
		"known, beside an unknown one":            {100, 40, 0, told(60), 1, 1, true},
		"as much as there can be":                 {math.MaxInt64, 1, math.MaxInt64 - 1, told(0), 0, 1, true},
		"more than there can be":                  {math.MaxInt64, 1, math.MaxInt64, told(math.MaxInt64), 0, 1, false},
		"unknown, alone, and something is left":   {100, 99, 0, nil, 0, 0, true},
		"unknown, alone, and nothing is left":     {100, 100, 0, nil, 0, 0, false},
		"no limit, beside an unknown of its kind": {0, 40, 0, nil, 1, 1, true},
	} {
		dollars := purse{turns: c.turns, usd: c.booked, noUSD: map[string]int{"dev": c.unknown}}
		if got := dollars.lets(ir.Budget{USDMicro: c.limit}, meter{usd: c.spent}, "dev", executor.Usage{USDMicro: c.own}); got != c.want {
			t.Errorf("%s, in dollars: %v", name, got)
		}
		tokens := purse{turns: c.turns, tokens: c.booked, noTokens: map[string]int{"dev": c.unknown}}
		if got := tokens.lets(ir.Budget{Tokens: c.limit}, meter{tokens: c.spent}, "dev", executor.Usage{Tokens: c.own}); got != c.want {
			t.Errorf("%s, in tokens: %v", name, got)
		}
		both := purse{turns: c.turns, tokens: c.booked, noTokens: map[string]int{"dev": c.unknown}}
		if got := both.lets(ir.Budget{USDMicro: 1000, Tokens: c.limit}, meter{tokens: c.spent}, "dev", executor.Usage{USDMicro: told(1), Tokens: c.own}); got != c.want {
			t.Errorf("%s, with dollars that fit: %v", name, got)
		}
	}
}

// What a turn is expected to cost is the most that a finished one of its kind did, else what
// the policy says. Turns of gates and diagnoses are kinds of their own.
func TestWhatATurnIsExpectedToCost(t *testing.T) { // execution §5, budgets
	epic := &ir.Epic{Agents: map[string]ir.Agent{"dev": {Expect: &ir.Cost{USDMicro: told(500), Tokens: told(50)}}}}
	bg := &budget{rules: &rules{epic: epic}, costs: map[turn]executor.Usage{}}
	cost := func(usd, tokens *int64) executor.Usage { return executor.Usage{USDMicro: usd, Tokens: tokens} }
	for _, e := range []executor.Event{
		{Step: "implement", Body: executor.AgentEnded{Agent: "dev", Usage: cost(told(700), nil)}},
		{Step: "implement", Body: executor.AgentEnded{Agent: "dev", Usage: cost(told(300), nil)}},
		{Step: "implement", Body: executor.AgentEnded{Agent: "dev"}}, // which says nothing
		{Step: "implement", Body: executor.GateJudged{Agent: "qa", Gate: "judge", Usage: cost(nil, told(9))}},
		{Step: "implement", Body: executor.Diagnosed{Agent: "qa", Usage: cost(told(5), told(6))}},
		{Step: "implement", Body: executor.GateJudged{Gate: "unit", Usage: cost(told(1), told(1))}}, // of no agent
	} {
		bg.learn(e, executor.Effect{})
	}
	bg.learn(executor.Event{Step: "implement", Body: executor.Collected{}}, executor.Effect{Agent: "dev"})
	for name, c := range map[string]struct {
		turn        turn
		usd, tokens int64 // -1: unknown
	}{
		"learned, and from the policy":   {turn{"dev", "implement", ""}, 700, 50},
		"of another step":                {turn{"dev", "review", ""}, 500, 50},
		"of a gate":                      {turn{"qa", "implement", "judge"}, -1, 9},
		"of a diagnosis":                 {turn{"qa", "implement", diagnosing}, 5, 6},
		"of who has neither":             {turn{"qa", "implement", ""}, -1, -1},
		"of a gate that asks no agent":   {turn{"", "implement", "unit"}, -1, -1},
		"of the effect that diagnoses":   {turnOf(&executor.Effect{Kind: executor.EffectDiagnose, Agent: "qa", Step: "implement"}), 5, 6},
		"of the effect that asks a gate": {turnOf(&executor.Effect{Kind: executor.EffectGate, Agent: "qa", Step: "implement", Gate: "judge"}), -1, 9},
	} {
		u := bg.expected(c.turn)
		for what, got := range map[string][2]int64{"dollars": {value(u.USDMicro), c.usd}, "tokens": {value(u.Tokens), c.tokens}} {
			if got[0] != got[1] {
				t.Errorf("%s: %d %s, want %d", name, got[0], what, got[1])
			}
		}
	}
	x := Summary{r: &Run{budget: *bg}}
	for agent, want := range map[string][2]bool{"dev": {true, false}, "qa": {true, true}, "": {false, false}, "nobody": {false, false}} {
		if usd, tokens := x.Tells(agent); usd != want[0] || tokens != want[1] {
			t.Errorf("%q tells dollars: %v, tokens: %v", agent, usd, tokens)
		}
	}
}

func value(n *int64) int64 {
	if n == nil {
		return -1
	}
	return *n
}
