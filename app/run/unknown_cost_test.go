//go:build unix

package run

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

// A budget is no bound for an agent whose cost nobody knows, and one turn of it runs at
// a time: S4-78, execution §5 "Budgets reserve".
func TestABudgetThatCannotHoldIsSaid(t *testing.T) {
	t.Parallel()
	zero, some := int64(0), int64(400_000)
	epic := func(change func(*ir.Epic)) *ir.Epic {
		return executortest.Epic([]string{"1.1"}, func(e *ir.Epic) {
			e.Runners["cx"], e.Runners["cl"] = ir.Runner{Kind: "codex"}, ir.Runner{Kind: "claude"}
			e.Models = map[string]ir.Model{"priced": {ID: "a", PriceInput: 1}, "free": {ID: "b"}}
			e.Agents["dev"], e.Agents["spare"] = ir.Agent{Runner: "cl", Model: "free"}, ir.Agent{Runner: "cx", Model: "priced"}
			e.Nodes[0].Steps[0].Fallback = []string{"spare"}
			e.Run.Budget.USDMicro = 1
			change(e)
		})
	}
	const first = "known after the first one"
	for name, c := range map[string]struct {
		change  func(*ir.Epic)
		want    []string // parts of what is said
		heading string
	}{
		"a price, and a program that says it": {
			func(*ir.Epic) {},
			[]string{"the cost of a turn of each of agent dev, agent spare in US dollars is " + first, `agent "NAME" { expect { usd = 0.40 } }`},
			" (agent dev: 1, agent spare: 1, of unknown cost)",
		},
		"no budget": {func(e *ir.Epic) {
			e.Run.Budget.USDMicro, e.Agents["dev"] = 0, ir.Agent{Runner: "cx", Model: "free"}
		}, nil, ""},
		"neither": {func(e *ir.Epic) {
			e.Agents["dev"] = ir.Agent{Runner: "cx", Model: "free"}
			e.Nodes[0].Steps[0].Fallback = nil
		}, []string{"a budget in dollars cannot be enforced for agent dev", "The turns of such agents run one at a time", `agent "dev" { expect { usd = 0.40 } }`}, " (agent dev: 1, of unknown cost)"},
		"neither, and it is stated what to expect": {func(e *ir.Epic) {
			e.Agents["dev"] = ir.Agent{Runner: "cx", Model: "free", Expect: &ir.Cost{USDMicro: &some}}
			e.Nodes[0].Steps[0].Fallback = nil
		}, []string{"a budget in dollars cannot be enforced for agent dev"}, ""},
		"neither, and it is stated that it costs nothing": {func(e *ir.Epic) {
			e.Agents["dev"] = ir.Agent{Runner: "cx", Model: "free", Expect: &ir.Cost{USDMicro: &zero}}
			e.Nodes[0].Steps[0].Fallback = nil
		}, nil, ""},
		"a program of the user's own": {func(e *ir.Epic) {
			e.Runners["cl"] = ir.Runner{Kind: "command"}
			e.Nodes[0].Steps[0].Fallback = nil
		}, []string{"the cost of a turn of agent dev in US dollars is unknown", "the turns of such agents run one at a time until one reports it"}, " (agent dev: 1, of unknown cost)"},
		"a budget in tokens": {func(e *ir.Epic) {
			e.Run.Budget.USDMicro, e.Run.Budget.Tokens = 0, 1
			e.Runners["cl"] = ir.Runner{Kind: "command"}
			e.Agents["spare"] = ir.Agent{Runner: "cx", Expect: &ir.Cost{Tokens: &some}}
		}, []string{"the cost of a turn of agent dev in tokens is unknown", `agent "dev" { expect { tokens = 60000 } }`}, " (agent dev: 1, of unknown cost)"},
		"of a sprint": {func(e *ir.Epic) {
			e.Run.Budget.USDMicro, e.Nodes[0].Limits.Budget.USDMicro = 0, 1
			e.Nodes[0].Steps[0].Model, e.Nodes[0].Steps[0].Fallback = "free", nil
			e.Agents["dev"] = ir.Agent{Runner: "cx"}
		}, []string{"cannot be enforced for agent dev"}, " (agent dev: 1, of unknown cost)"},
		"a sprint that is done": {func(e *ir.Epic) { e.Nodes[0].Done = true }, nil, ""},
	} {
		e := epic(c.change)
		run, err := machine.New(e)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := machine.Plan(run, executor.RunStarted{Epic: e.Epic.ID, Digest: e.Digest, Slots: 1}, time.Now()); err != nil {
			t.Fatal(err)
		}
		list := UnknownCosts(e, run)
		warnings, notes := BudgetWords(list)
		said := strings.Join(append(warnings, notes...), "\n")
		if len(c.want) == 0 && said != "" {
			t.Errorf("%s: it says %s", name, said)
		}
		for _, want := range c.want {
			if !strings.Contains(said, want) {
				t.Errorf("%s: it lacks %q:\n%s", name, want, said)
			}
		}
		if got := OneAtATime(2, list); got != c.heading {
			t.Errorf("%s: the heading has %q, want %q", name, got, c.heading)
		}
	}
}
