package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/ir"
)

// warnings says what will surprise: budgets that do not hold, and work that is
// called done and may not be there. Neither stops a run.
func warnings(ctx context.Context, epic *ir.Epic, space *workspace.Space, run *executor.Run, base executor.Tree) []string {
	var out []string
	if who := unpriced(epic); len(who) > 0 {
		out = append(out, fmt.Sprintf("a budget in dollars does not hold for %s: what they cost is told neither by the program nor by a price of the model. One turn of such an agent runs at a time, unless agent \"NAME\" { expect { usd = … } } says what to reserve. Write model \"NAME\" { price { input = …, output = … } }, or bound the tokens.", listOf(who)))
	}
	at, err := space.Moved(ctx)
	if err != nil || at == "" {
		return out
	}
	var done []string
	for i := range epic.Nodes {
		if n := &epic.Nodes[i]; n.Done && !run.Succeeded(n.ID) {
			done = append(done, string(n.Key))
		}
	}
	if len(done) > 0 {
		out = append(out, fmt.Sprintf("done by the plan: %s. Their work may not be in the base of this run, which the first apply pinned at %.12s; the branch is at %.12s now: ralph plan --rebase, ralph apply --rebase.", listOf(done), base.Commit, at))
	}
	return out
}

// listOf names a few of them.
func listOf(names []string) string {
	const most = 8
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// unpriced names the agents whose cost nobody would know although a budget bounds
// it: their program never tells it, and their model has no price.
func unpriced(epic *ir.Epic) []string {
	bound := epic.Run.Budget.USDMicro > 0
	for i := range epic.Nodes {
		bound = bound || epic.Nodes[i].Limits.Budget.USDMicro > 0
	}
	if !bound {
		return nil
	}
	found := map[string]bool{}
	look := func(name, model string) {
		agent := epic.Agents[name]
		m := epic.Models[cmp.Or(model, agent.Model)]
		newRunner := makers[epic.Runners[agent.Runner].Kind]
		if name == "" || newRunner == nil || m.PriceInput > 0 || m.PriceOutput > 0 {
			return
		}
		if p, ok := newRunner(runner.Base{}).(executor.Program); ok && p.Describe().Cannot[executor.CanCost] != "" {
			found["agent "+name] = true
		}
	}
	for i := range epic.Nodes {
		for _, s := range epic.Nodes[i].Steps {
			look(s.Agent, s.Model)
			for _, name := range s.Fallback {
				look(name, "")
			}
			for _, g := range s.Gates {
				look(epic.Gates[g].Agent, epic.Gates[g].Model)
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}
