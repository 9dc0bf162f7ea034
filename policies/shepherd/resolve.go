package shepherd

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/spell"
)

// defaultBaseMS is Agent Shepherd's timeout_base_ms where nothing is said.
const defaultBaseMS = 300_000

// criteria is a gate that judges the success criteria of a phase.
type criteria struct {
	name, of   string
	capability string
	list       []string
}

// resolve finds what needs all the files: default policy, agents, order, priorities.
func (c *conversion) resolve() {
	c.chooseDefault()
	for _, p := range c.policies {
		c.order(p)
		c.leads(p)
		for _, ph := range p.phases {
			c.staff(p, ph)
		}
	}
	for _, p := range c.policies { // when all agents are known
		for _, ph := range p.phases {
			c.standIn(p, ph)
			c.judge(p, ph)
		}
	}
	c.priorities()
	diagnosers := lists.Map(c.policies, func(p *policy) node { return p.supervision.diagnoser })
	for _, n := range append([]node{c.config.diagnoser}, diagnosers...) {
		if !n.absent() {
			c.known(n)
		}
	}
	c.approvers()
}

func (c *conversion) chooseDefault() {
	names := lists.Map(c.policies, func(p *policy) string { return p.name })
	n := c.defaults
	if n.absent() {
		if len(c.policies) == 1 && names[0] != "default" {
			c.policies[0].isDefault = true
		}
		return
	}
	i := slices.Index(names, n.Value)
	if i < 0 {
		if len(names) > 0 || c.registry {
			c.diags.Add(diag.Newf("shepherd-value", n.at(), "no policy is called %q", clip(n.Value)).
				WithDetail("The policies are %s%s. Write one of these.", spell.Sorted(names, 12), spell.Hint(n.Value, names)))
		}
		return
	}
	c.policies[i].isDefault = true
}

// known returns the agent that a value names: a made-up one if there is no
// agents.yaml, nil after a report.
func (c *conversion) known(n node) *agent {
	id := strings.TrimSpace(n.Value)
	if a := c.agentsByID[id]; a != nil {
		return a
	}
	if c.registry || !nameForm.MatchString(id) {
		c.diags.Add(diag.Newf("shepherd-value", n.at(), "no agent is called %q", clip(id)).
			WithDetail("The agents are %s%s. Write one of these, or add it to agents.yaml.", spell.Sorted(sortedKeys(c.agentsByID), 12), spell.Hint(id, sortedKeys(c.agentsByID))))
		return nil
	}
	a := &agent{id: id, runner: "opencode", madeUp: true, at: n}
	c.agents, c.agentsByID[id] = append(c.agents, a), a
	return a
}

// staff finds who works on a phase. Agent Shepherd takes the agent of the highest
// priority that has all of its capabilities.
func (c *conversion) staff(p *policy, ph *phase) {
	if !ph.agent.absent() {
		if ph.worker = c.known(ph.agent); ph.worker == nil {
			return
		}
		ph.named = true
		if a := ph.worker; a.madeUp {
			a.capabilities = lists.Include(a.capabilities, ph.capabilities...)
		}
		c.employ(ph)
		return
	}
	onlyPeople := len(ph.capabilities) == 1 && ph.capabilities[0] == "human_review" || len(ph.capabilities) == 0 && ph.name == "human_review"
	var best *agent
	has := func(a *agent) int {
		return lists.Count(ph.capabilities, func(w *string) bool { return slices.Contains(a.capabilities, *w) })
	}
	for _, a := range c.agents {
		if a.inactive || a.madeUp || has(a) < len(ph.capabilities) || a.human && len(ph.capabilities) == 0 {
			continue
		}
		if best == nil || a.priority > best.priority {
			best = a
		}
	}
	switch {
	case best != nil:
		ph.worker = best
		c.employ(ph)
	case onlyPeople:
		ph.person = true
	case c.registry:
		c.makeDo(p, ph, has)
	}
}

// employ takes over what the worker is.
func (c *conversion) employ(ph *phase) {
	a := ph.worker
	if a.human {
		ph.person, ph.named = true, false
		for _, o := range c.agents {
			if o.human && !o.inactive && (o == a || len(ph.capabilities) > 0 && !slices.ContainsFunc(ph.capabilities, func(w string) bool { return !slices.Contains(o.capabilities, w) })) {
				ph.people = append(ph.people, o.id)
			}
		}
		return
	}
	ph.read = a.readOnly
	if !a.subagent.absent() {
		c.changed(a.subagent, "OpenCode does not start a subagent by itself",
			"Agent %q works on the phase %q, and OpenCode runs subagents only for other agents. Set mode: all in its file.", a.id, clip(ph.name))
		a.subagent = node{} // once
	}
}

// makeDo names the agent for a phase that asks for what no single agent has: the
// fallback agent, else the one that has most of it.
func (c *conversion) makeDo(p *policy, ph *phase, has func(*agent) int) {
	want := strings.Join(ph.capabilities, ", ")
	where := ph.at
	if f := c.fallbackFor(p, ph); !f.absent() {
		if a := c.agentsByID[f.Value]; a != nil {
			ph.worker, ph.named = a, true
			ph.unfit = fmt.Sprintf("No agent has %s: this is the fallback agent (%s).", want, line(f.path))
			c.changed(where, "the fallback agent is named", "No active agent has all of %s, so step %q of policy %q names the fallback agent %s.", want, ph.step, p.name, a.id)
			c.employ(ph)
			return
		}
	}
	var best *agent
	for _, a := range c.agents {
		if a.inactive || a.human || a.madeUp {
			continue
		}
		if best == nil || cmp.Or(cmp.Compare(has(a), has(best)), cmp.Compare(a.priority, best.priority)) > 0 {
			best = a
		}
	}
	if best == nil {
		return
	}
	ph.worker, ph.named = best, true
	ph.unfit = fmt.Sprintf("No agent has %s: Agent Shepherd would find nobody. Take another one, or", want)
	if n := has(best); n > 0 {
		ph.unfit += " give this one what it lacks."
	} else {
		ph.unfit += " give one of them these capabilities."
	}
	c.changed(where, "no agent has what a phase asks for", "No active agent has all of %s, so step %q of policy %q names %s, which comes nearest. Take another one, or give an agent these capabilities.", want, ph.step, p.name, best.id)
	c.employ(ph)
}

// fallbackFor is the agent that stands in, by Agent Shepherd's three levels: phase,
// policy, everything.
func (c *conversion) fallbackFor(p *policy, ph *phase) node {
	g := c.config.fallback
	switch {
	case g.said && !g.enabled: // the master switch
		return node{}
	case ph.fallback.said && !ph.fallback.enabled, !ph.fallback.said && p.fallback.said && !p.fallback.enabled:
		return node{}
	}
	for _, n := range []node{
		ph.fallback.agent, mapped(p.fallback.mappings, ph.capabilities), p.fallback.agent, mapped(g.mappings, ph.capabilities), g.agent,
	} {
		if !n.absent() {
			return n
		}
	}
	return node{}
}

// standIn writes the fallback agent of a phase into the chain of its worker.
func (c *conversion) standIn(p *policy, ph *phase) {
	n := c.fallbackFor(p, ph)
	if n.absent() {
		return
	}
	other := c.agentsByID[n.Value]
	switch {
	case other == nil && c.registry:
		ph.comments = append(ph.comments, fmt.Sprintf("fallback: %s (%s). No agent has this name.", line(n.Value), line(n.path)))
		n.in.leftOut = append(n.in.leftOut, n)
		return
	case other == nil:
		if other = c.known(n); other == nil {
			return
		}
	}
	a := ph.worker
	if a == nil || a == other || a.human || other.human || slices.Contains(a.fallback, other.id) || c.reaches(other, a) {
		return
	}
	a.fallback = append(a.fallback, other.id)
}

// reaches reports whether a chain of fallbacks leads from one agent to another.
func (c *conversion) reaches(from, to *agent) bool {
	return slices.ContainsFunc(from.fallback, func(id string) bool {
		next := c.agentsByID[id]
		return next == to || next != nil && c.reaches(next, to)
	})
}

// judging are capabilities of agents that judge, the best first.
var judging = []string{"review", "validation", "qa", "testing", "test", "analysis", "analyze"}

// judge makes a gate of a phase's success criteria.
func (c *conversion) judge(p *policy, ph *phase) {
	if len(ph.criteria) == 0 || ph.person {
		for _, s := range ph.criteria {
			ph.comments = append(ph.comments, "success_criteria: "+line(s)+".")
		}
		return
	}
	capability := ""
	if !c.registry {
		capability = "review" // the built-in reviewer has it
	}
	for _, w := range judging {
		if capability == "" && slices.ContainsFunc(c.agents, func(a *agent) bool {
			return !a.inactive && !a.human && slices.Contains(a.capabilities, w)
		}) {
			capability = w
		}
	}
	n := ph.at
	if x := n.Get("success_criteria"); x != nil {
		n = node{Node: x, in: n.in, path: n.path + ".success_criteria"}
	}
	if capability == "" {
		for _, s := range ph.criteria {
			ph.comments = append(ph.comments, "success_criteria: "+line(s)+". No agent can judge it.")
		}
		c.changed(n, "nothing judges the success criteria", "No agent has one of the capabilities %s. They are comments in the result. Write gates for them, such as gate \"unit\" { run = \"make test\" }.", strings.Join(judging, ", "))
		return
	}
	ph.gate = p.name + "-" + ph.step
	c.gates = append(c.gates, criteria{name: ph.gate, of: fmt.Sprintf("%s, phase %s", p.name, line(ph.name)), capability: capability, list: ph.criteria})
}

// priorities makes policies differ that may fit the same sprint: ralph asks which,
// Agent Shepherd takes the first of the file.
func (c *conversion) priorities() {
	said := slices.ContainsFunc(c.policies, func(p *policy) bool { return p.matches() && p.prioritySaid })
	tie := false
	for i, p := range c.policies {
		if said && p.matches() && !p.prioritySaid {
			p.priority = 50 // Agent Shepherd's
		}
		for _, o := range c.policies[:i] {
			tie = tie || p.overlaps(o) && p.priority == o.priority
		}
	}
	if !tie {
		return
	}
	was := map[*policy]int64{}
	for i, p := range c.policies {
		if !p.matches() {
			continue
		}
		was[p] = p.priority
		p.priority = max(min(p.priority, 100), -99) * 10
		for _, o := range c.policies[:i] {
			if o.overlaps(p) && was[o] == was[p] {
				p.priority--
			}
		}
	}
	first := c.policies[slices.IndexFunc(c.policies, (*policy).matches)]
	first.comments = append(first.comments, "priority: ten times what it was, so that of two that fit the first of the file wins, as in Agent Shepherd.")
}

func (p *policy) matches() bool { return !p.manual && len(p.labels)+len(p.types) > 0 }

// overlaps reports whether both are for the same label or type.
func (p *policy) overlaps(o *policy) bool {
	if !p.matches() || !o.matches() {
		return false
	}
	shares := func(a, b []string) bool {
		return slices.ContainsFunc(a, func(t string) bool { return slices.Contains(b, t) })
	}
	return shares(p.labels, o.labels) || shares(p.types, o.types)
}

// people are the agents that are persons.
func (c *conversion) people() []string {
	there := lists.Keep(c.agents, func(a *agent) bool { return a.human && !a.inactive })
	return lists.Map(there, func(a *agent) string { return a.id })
}

// asks reports whether a person has to approve anything.
func (c *conversion) asks() (node, bool) {
	for _, p := range c.policies {
		if p.hitl {
			return p.at, true
		}
		for _, ph := range p.phases {
			if ph.approval || ph.person && len(ph.people) == 0 {
				return ph.at, true
			}
		}
	}
	return node{}, false
}

func (c *conversion) approvers() {
	if n, asks := c.asks(); asks && len(c.people()) == 0 {
		at := n.at()
		at.End = at.Start
		c.diags.Add(diag.New("shepherd-approver", at, "nobody is named who approves").
			WithDetail("A person has to approve here, and no agent has is_human: true. The result says approvers = [%q]: write the right names there.", c.approver))
	}
}
