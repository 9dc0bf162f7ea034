package run

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// unknownCost is an agent that a run may ask under a budget and whose cost per turn is
// unknown, so that only one of its turns runs at a time. If the policy says what to
// reserve, the agent is listed only if the budget will never count its cost.
type unknownCost struct {
	Agent       string
	usd, tokens bool // which of the budget's figures are unknown
	Tells       telling
}

// telling is whether a program states what its turns cost.
type telling int

const (
	Always  telling = iota // every turn states its cost
	perhaps                // the user's own program, or one that states it only sometimes
	never                  // and the model has no price
)

// UnknownCosts lists the agents of unknown cost for the remaining work. The run has begun,
// or has been planned.
func UnknownCosts(epic *ir.Epic, run *machine.Run) []unknownCost {
	found := map[string]unknownCost{}
	whole := run.Overview().Budget
	nodes := lists.Pointers(epic.Nodes, func(n *ir.Node) ir.NodeID { return n.ID })
	for _, v := range run.Views() {
		n := nodes[v.ID]
		switch {
		case n == nil, n.Kind == ir.Manual, !v.Selected, v.Status == executor.Done, v.Status == executor.Skipped, v.Status == executor.Cancelled, v.Status == executor.Blocked:
			continue
		case v.Status == executor.Waiting && v.For == executor.ForHuman:
			continue
		}
		limit := ir.Budget{USDMicro: max(whole.USDMicro, v.Budget.USDMicro), Tokens: max(whole.Tokens, v.Budget.Tokens)}
		look := func(name, model string) {
			if u, ok := unknownCostOf(epic, run, limit, name, model); ok {
				was := found[name]
				u.usd, u.tokens, u.Tells = u.usd || was.usd, u.tokens || was.tokens, max(u.Tells, was.Tells)
				found[name] = u
			}
		}
		for _, s := range n.Steps {
			look(s.Agent, s.Model)
			for _, name := range s.Fallback {
				look(name, "")
			}
			for _, g := range s.Gates {
				look(epic.Gates[g].Agent, epic.Gates[g].Model)
			}
		}
	}
	return lists.Map(slices.Sorted(maps.Keys(found)), func(name string) unknownCost { return found[name] })
}

func unknownCostOf(epic *ir.Epic, run *machine.Run, limit ir.Budget, name, model string) (unknownCost, bool) {
	agent, ok := epic.Agents[name]
	if !ok || agent.Human {
		return unknownCost{}, false
	}
	u := unknownCost{Agent: name, usd: limit.USDMicro > 0, tokens: limit.Tokens > 0}
	toldUSD, toldTokens := run.Summary().Tells(name)
	expected := ir.Cost{}
	if agent.Expect != nil {
		expected = *agent.Expect
	}
	m := epic.Models[cmp.Or(model, agent.Model)]
	u.Tells = tellsCost(epic.Runners[agent.Runner].Kind, u.usd, u.tokens, m.PriceInput > 0 || m.PriceOutput > 0)
	uncounted := u.usd && !toldUSD && u.Tells == never && (expected.USDMicro == nil || *expected.USDMicro > 0)
	u.usd = u.usd && !toldUSD && expected.USDMicro == nil
	u.tokens = u.tokens && !toldTokens && expected.Tokens == nil
	return u, u.usd || u.tokens || uncounted
}

// tellsCost says whether a program of this kind states the figures that a budget counts.
func tellsCost(kind string, usd, tokens, priced bool) telling {
	newRunner := Runners[kind]
	if newRunner == nil {
		return perhaps
	}
	p, ok := newRunner(runner.Base{}).(executor.Program)
	switch {
	case !ok:
		return perhaps
	case usd && !priced && p.Describe().Cannot[executor.CanCost] != "":
		return never
	case tokens && p.Describe().Cannot[executor.CanTokens] != "":
		return perhaps
	}
	return Always
}

// BudgetWords says how the budget treats these agents' turns: as warnings, or as notes
// where the first turn will show it.
func BudgetWords(list []unknownCost) (warnings, notes []string) {
	for _, tells := range []telling{never, perhaps, Always} {
		some := slices.DeleteFunc(slices.Clone(list), func(u unknownCost) bool { return u.Tells != tells })
		if len(some) == 0 {
			continue
		}
		var names []string
		all := unknownCost{}
		for _, u := range some {
			names = append(names, "agent "+u.Agent)
			all.usd, all.tokens = all.usd || u.usd, all.tokens || u.tokens
		}
		who, each, agent := words.ListOf(names), "each of "+words.ListOf(names), "NAME"
		if len(some) == 1 {
			each, agent = who, some[0].Agent
		}
		var what, write []string
		if all.usd {
			what, write = append(what, "US dollars"), append(write, "usd = 0.40")
		}
		if all.tokens {
			what, write = append(what, "tokens"), append(write, "tokens = 60000")
		}
		expect := fmt.Sprintf("agent %q { expect { %s } }", agent, strings.Join(write, ", "))
		in := strings.Join(what, " and ")
		switch tells {
		case never:
			text := fmt.Sprintf("a budget in dollars cannot be enforced for %s: neither the program nor a price of the model gives the cost of a turn.", who)
			if len(write) > 0 {
				text += " The turns of such agents run one at a time, unless the policy says what to reserve: " + expect + "."
			}
			warnings = append(warnings, text+` Write model "NAME" { price { input = …, output = … } }, or bound the tokens.`)
		case perhaps:
			warnings = append(warnings, fmt.Sprintf("the cost of a turn of %s in %s is unknown: the turns of such agents run one at a time until one reports it, and the budget does not count those that do not. A policy may say what to expect: %s", each, in, expect))
		default:
			notes = append(notes, fmt.Sprintf("the cost of a turn of %s in %s is known after the first one: until then the turns of such agents run one at a time. A policy may say what to expect: %s", each, in, expect))
		}
	}
	return warnings, notes
}

// OneAtATime names, for the heading, the agents that run one turn at a time; "" if there
// are none, or if there is only one slot.
func OneAtATime(slots int, list []unknownCost) string {
	if slots < 2 {
		return ""
	}
	unknown := lists.Keep(list, func(u unknownCost) bool { return u.usd || u.tokens })
	names := lists.Map(unknown, func(u unknownCost) string { return u.Agent })
	switch {
	case len(names) == 0:
		return ""
	case len(names) > 3:
		return fmt.Sprintf(" (%d agents: 1 each, of unknown cost)", len(names))
	}
	return fmt.Sprintf(" (agent %s: 1, of unknown cost)", strings.Join(names, ": 1, agent "))
}
