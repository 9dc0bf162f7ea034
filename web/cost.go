package web

import (
	"cmp"
	"slices"

	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
)

// mostCostly is how many sprints are listed.
const mostCostly = 20

// sums adds costs by a name.
type sums struct {
	list []CostLine
	at   map[string]int
}

func (s *sums) add(name, title string, u executor.Usage, untold int, ms int64) {
	i, known := s.at[name]
	if !known {
		if s.at == nil {
			s.at = map[string]int{}
		}
		i = len(s.list)
		s.at[name] = i
		s.list = append(s.list, CostLine{Name: name, Title: title, CostSum: CostSum{TokensKnown: true, USDKnown: true}})
	}
	s.list[i].add(u, untold, ms)
}

// add adds a turn, or the turns of an attempt; untold of them did not say what they used.
func (c *CostSum) add(u executor.Usage, untold int, ms int64) {
	c.MS += ms
	if u.Tokens != nil {
		c.Tokens += *u.Tokens
	}
	if u.USDMicro != nil {
		c.USDMicro += *u.USDMicro
	}
	c.TokensKnown = c.TokensKnown && u.Tokens != nil && untold == 0
	c.USDKnown = c.USDKnown && u.USDMicro != nil && untold == 0
}

// said puts a sum into words.
func (c *CostSum) said() {
	c.Text = words.Spent(machine.Spent{Tokens: c.Tokens, USDMicro: c.USDMicro, Millis: c.MS, TokensKnown: c.TokensKnown, USDKnown: c.USDKnown})
}

// sorted are the sums, the largest first.
func (s *sums) sorted() []CostLine {
	for i := range s.list {
		s.list[i].said()
	}
	slices.SortStableFunc(s.list, func(a, b CostLine) int {
		return cmp.Or(cmp.Compare(b.USDMicro, a.USDMicro), cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(b.MS, a.MS))
	})
	return orEmpty(s.list)
}

// cost is what was spent, and on what: the turns of agents, and of the agents of gates.
func (l *live) cost() (any, error) {
	var all, lost, phases, agents, models, outcomes, sprints sums
	titles := l.rec.Epic.PhaseTitles()
	for _, v := range l.views() {
		known := CostSum{TokensKnown: true, USDKnown: true} // of the sprint's attempts and verdicts
		for _, a := range v.Attempts {
			add := func(agent, model string, u executor.Usage, untold int, ms int64) {
				known.add(u, untold, ms)
				all.add("", "", u, untold, ms)
				phases.add(v.Phase, titles[v.Phase], u, untold, ms)
				agents.add(agent, "", u, untold, ms)
				models.add(cmp.Or(model, "unknown"), "", u, untold, ms)
				outcomes.add(words.ShownAttempt(v, a), "", u, untold, ms)
				sprints.add(string(v.Key), v.Title, u, untold, ms)
				switch a.Status {
				case executor.AttemptRunning, executor.AttemptPassed:
				default:
					lost.add("", "", u, untold, ms)
				}
			}
			if a.Turns > 0 {
				add(a.Agent, a.Model, a.Usage, a.Untold, a.Millis)
			}
			for _, g := range a.Gates {
				if g.Agent != "" {
					add(g.Agent, g.Model, g.Usage, a.UntoldOf[g.Gate], g.Millis)
				}
			}
		}
		if u, untold, is := others(v.Spent, known); is {
			all.add("", "", u, untold, 0)
			phases.add(v.Phase, titles[v.Phase], u, untold, 0)
			agents.add(otherTurns, "", u, untold, 0)
			models.add("unknown", "", u, untold, 0)
			outcomes.add(otherTurns, "", u, untold, 0)
			sprints.add(string(v.Key), v.Title, u, untold, 0)
		}
	}
	out := Cost{
		Spent: l.line().Spent, All: only(all.sorted()), Lost: only(lost.sorted()),
		Phases: phases.sorted(), Agents: agents.sorted(), Models: models.sorted(), Outcomes: outcomes.sorted(), Sprints: sprints.sorted(),
	}
	out.Sprints = out.Sprints[:min(len(out.Sprints), mostCostly)]
	return out, nil
}

// spentOn is what an attempt cost: its agent's turns, and those that judged it.
func spentOn(a machine.AttemptLog) string {
	sum := CostSum{TokensKnown: true, USDKnown: true}
	if a.Turns+a.Untold > 0 {
		sum.add(a.Usage, a.Untold, 0)
	}
	for _, g := range a.Gates {
		if g.Agent != "" {
			sum.add(g.Usage, a.UntoldOf[g.Gate], 0)
		}
	}
	return words.SpentShort(machine.Spent{Tokens: sum.Tokens, USDMicro: sum.USDMicro, TokensKnown: sum.TokensKnown, USDKnown: sum.USDKnown})
}

// otherTurns are those that belong to no attempt and to no verdict: of a gate that gave none,
// or of an agent that said why another one stalled.
const otherTurns = "turns without a verdict"

// others is what a sprint has cost beyond its attempts and their verdicts.
func others(all machine.Spent, known CostSum) (u executor.Usage, untold int, is bool) {
	usd, tokens := max(all.USDMicro-known.USDMicro, 0), max(all.Tokens-known.Tokens, 0)
	if all.USDKnown || usd > 0 {
		u.USDMicro = &usd
	}
	if all.TokensKnown || tokens > 0 {
		u.Tokens = &tokens
	}
	if !all.USDKnown && known.USDKnown || !all.TokensKnown && known.TokensKnown {
		untold = 1
	}
	return u, untold, usd > 0 || tokens > 0 || untold > 0
}

// only is the one sum that there is.
func only(list []CostLine) CostSum {
	if len(list) == 0 {
		return CostSum{TokensKnown: true, USDKnown: true}
	}
	return list[0].CostSum
}
