package view

import (
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// tells reports once per agent that it does not state the cost of its turns, if a budget
// counts that: when a run begins, as far as it is known then.
func (v *Run) tells(list []executor.Event) {
	for _, e := range list {
		agent := ""
		var used executor.Usage
		switch b := e.Body.(type) {
		case executor.RunStarted:
			v.tellsAtStart()
		case executor.AgentEnded:
			agent, used = b.Agent, b.Usage
		case executor.GateJudged:
			agent, used = b.Agent, b.Usage
		case executor.Diagnosed:
			agent, used = b.Agent, b.Usage
		}
		if agent == "" || v.untold[agent] {
			continue
		}
		limit := v.epic.Run.Budget
		if n := v.keys[e.Node]; n != nil {
			limit.USDMicro, limit.Tokens = max(limit.USDMicro, n.Limits.Budget.USDMicro), max(limit.Tokens, n.Limits.Budget.Tokens)
		}
		usd, tokens := v.run.Summary().Tells(agent)
		var what, write []string
		say := func(of string, example string, expected *int64) {
			what = append(what, of)
			if expected == nil {
				write = append(write, example)
			}
		}
		expected := ir.Cost{}
		if x := v.epic.Agents[agent].Expect; x != nil {
			expected = *x
		}
		free := func(n *int64) bool { return n != nil && *n == 0 } // the policy says that it costs nothing
		if limit.USDMicro > 0 && used.USDMicro == nil && !usd && !free(expected.USDMicro) {
			say("US dollars", "usd = 0.40", expected.USDMicro)
		}
		if limit.Tokens > 0 && used.Tokens == nil && !tokens && !free(expected.Tokens) {
			say("tokens", "tokens = 60000", expected.Tokens)
		}
		if len(what) == 0 {
			continue
		}
		v.untold[agent] = true
		text := "agent %s does not report what a turn costs in %s: the budget does not count it"
		if len(write) > 0 {
			text += ", and its turns run one at a time. A policy may say what to expect: agent \"%[1]s\" { expect { " + strings.Join(write, ", ") + " } }"
		}
		v.Say(fmt.Sprintf("warning: "+text, agent, strings.Join(what, " and ")))
	}
}

// tellsAtStart names the agents whose cost is unknown.
func (v *Run) tellsAtStart() {
	list := run.UnknownCosts(v.epic, v.run)
	warnings, notes := run.BudgetWords(list)
	for _, w := range warnings {
		v.Say("warning: " + w)
	}
	for _, n := range notes {
		v.Say("note: " + n)
	}
	for _, u := range list {
		v.untold[u.Agent] = u.Tells != run.Always
	}
}
