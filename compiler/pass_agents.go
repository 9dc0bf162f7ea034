package compiler

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/spell"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

// passAgents chooses the agent of each step: named by the plan, else by the
// step, else by what the step needs. The reason is beside it.
func (b *build) passAgents(diags *diag.List) *ir.Epic {
	e := b.own()
	st := staffing{u: b.unit, crew: b.crew, said: said{}, diags: diags}
	b.crew.writers = map[string]bool{}
	for it, n := range b.nodes(e) {
		if n.Kind == ir.Manual || n.Kind == ir.GateKind {
			continue
		}
		steps := make([]ir.Step, len(n.Steps))
		for k := range n.Steps {
			steps[k] = st.staffed(it, n.Steps[k])
			if s := &steps[k]; s.Access == "write" && s.Agent != "" {
				b.crew.writers[s.Agent] = true
			}
		}
		n.Steps = steps
	}
	return e
}

// staffing is the state of passAgents.
type staffing struct {
	u     *unit
	crew  *crew
	said  said
	diags *diag.List
}

// staffed returns the step with its agent.
func (st *staffing) staffed(it *part, s ir.Step) ir.Step {
	planned := planAgent(it.draft, &s)
	v := it.stepValue(s.Name)
	switch {
	case planned != nil:
		s.Why = "named by the plan"
		st.fill(&s, st.crew.agent(*planned, st.diags))
	case s.Agent != "":
		s.Why = "named by the step"
		a := st.crew.agent(ir.AgentRef{Name: s.Agent, Range: v.Agent.Range}, st.diags)
		if a.readOnly() && s.Access == "write" && st.said.first("access "+s.Name+" "+s.Agent) {
			st.diags.Add(diag.Newf("agent-access", v.Agent.Range, "%s may only read", clip(s.Agent)).
				WithDetail("Step %q writes, and agent %q has access \"read\". Give the step access = \"read\", or name an agent that may write.", s.Name, s.Agent))
		}
		st.fill(&s, a)
	case v != nil && v.Approval.V.Required && s.Access == "read" && !st.u.claimed(s.Capabilities):
		// A step that only a person does: its human gate is all there is.
	default:
		st.byNeed(it, &s, v)
	}
	return s
}

// claimed reports whether an agent lists the capabilities by name. An agent that
// can do "all" is not meant to stand in for a person.
func (u *unit) claimed(capabilities []string) bool {
	return len(capabilities) > 0 && slices.ContainsFunc(slices.Collect(maps.Values(u.set.Agents)), func(a *policies.Agent) bool {
		return a.Active.Get(true) && !slices.Contains(a.Capabilities.V, "all") && covers(a.Capabilities.V, capabilities)
	})
}

func (st *staffing) byNeed(it *part, s *ir.Step, v *stepValues) {
	n := need{capabilities: s.Capabilities, access: s.Access, model: s.Model}
	at := it.draft.Range
	if v != nil {
		n.tags = v.Tags.V
		at = v.Range
		if v.Capabilities.Set && !v.Builtin {
			at = v.Capabilities.Range
		}
	}
	if d := it.draft; len(d.Capability) > 0 && s.Name == it.workName() {
		at = d.Capability[0].Range
	}
	at = st.u.place(it, at)
	c, ok := st.crew.selectAgent(n)
	if !ok {
		st.nobody(n, s, at)
		return
	}
	s.Agent, s.Why = c.agent.Name, c.why
	if c.agent.Builtin && st.u.set.UserAgents() && st.said.first("builtin "+s.Name) {
		st.diags.Add(diag.Newf("builtin-agent", at, "step %q gets the built-in agent", clip(s.Name)).
			WithDetail("No agent declared by the policy fits, so the built-in agent %q is used.%s", c.agent.Name, st.u.misses(n)))
	}
	st.fill(s, st.crew.declared(c.agent, st.diags))
}

// nobody reports a step that fits no agent, once for what it needs.
func (st *staffing) nobody(n need, s *ir.Step, at diag.Range) {
	if !st.said.first("need " + strings.Join(n.capabilities, ",") + n.access + strings.Join(n.tags, ",")) {
		return
	}
	st.diags.Add(diag.Newf("no-agent", at, "no agent fits step %q", clip(s.Name)).
		WithDetail("No active agent has %s.%s Declare one, or ask for less.", n, st.u.nearCapability(n.capabilities)))
}

// nearCapability suggests a capability that some agent has.
func (u *unit) nearCapability(want []string) string {
	var known []string
	for _, name := range sortedNames(u.set.Agents) {
		known = append(known, u.set.Agents[name].Capabilities.V...)
	}
	for _, w := range want {
		if !covers(known, []string{w}) {
			if s := didYouMean(w, known); s != "" {
				return s
			}
		}
	}
	return ""
}

// misses says what an agent of the user's lacks that nearly fits.
func (u *unit) misses(n need) string {
	var empty []string
	for _, name := range sortedNames(u.set.Agents) {
		a := u.set.Agents[name]
		if a.Builtin || !a.Active.Get(true) || !covers(a.Tags.V, n.tags) {
			continue
		}
		if len(a.Capabilities.V) == 0 && !a.Human.V {
			empty = append(empty, clip(name))
		}
		if !a.Human.V && covers(a.Capabilities.V, n.capabilities) {
			return " Agent \"" + clip(name) + "\" could do it, but may only read: write access = \"write\" into it to take that one."
		}
	}
	if len(empty) > 0 && len(n.capabilities) > 0 {
		verb := "has"
		if len(empty) > 1 {
			verb = "have"
		}
		return fmt.Sprintf(" %s %s no capabilities yet: fill them in (here: %s, with access = %q) to choose one.", text.AndMore(empty[:min(len(empty), 5)], len(empty)), verb, strings.Join(n.capabilities, ", "), n.access)
	}
	if len(n.capabilities) == 0 {
		return " Declare one with access = \"" + n.access + "\" to choose another."
	}
	return " Declare one with the capabilities " + strings.Join(n.capabilities, ", ") + " and access = \"" + n.access + "\" to choose another."
}

// fill writes what follows from the agent onto the step.
func (st *staffing) fill(s *ir.Step, a *agentInfo) {
	s.Model = cmp.Or(s.Model, st.u.modelOf(a))
	s.Session = cmp.Or(s.Session, a.session, "fresh")
	s.Fallback = st.crew.fallbacks(a.declared, s.Access, st.diags)
}

// modelOf is the model of an agent for which neither plan nor step says one. An
// agent of the program's own ("slug") has the program's choice.
func (u *unit) modelOf(a *agentInfo) string {
	if a.entry.Model == "" && a.entry.Slug != "" {
		return ""
	}
	return cmp.Or(a.entry.Model, cmp.Or(a.model, u.modelOfDefault(a.entry.Runner)))
}

// modelOfDefault is the model of agents for which neither the plan nor their file says
// one. The built-in names are Claude Code's: another program that has models of its own
// has its own choice.
func (u *unit) modelOfDefault(runner string) string {
	d := u.set.Agents["default"]
	if d == nil {
		return ""
	}
	m, r := u.set.Models[d.Model.V], u.set.Runners[runner]
	if m != nil && m.Builtin && r != nil && slices.Contains([]string{"acp", "codex", "opencode"}, r.Kind.V) {
		return ""
	}
	return d.Model.V
}

// planAgent returns the agent of the plan that a part of the work step has.
func planAgent(d *ir.DraftNode, s *ir.Step) *ir.AgentRef {
	return lists.Find(d.Agents, func(a *ir.AgentRef) bool { return a.Name == s.Agent && a.Note == s.Note })
}

// stepValue finds the policy's values of a step by its name, parts included.
func (it *part) stepValue(name string) *stepValues {
	named := func(name string) *stepValues {
		return lists.Find(it.steps, func(v *stepValues) bool { return v.Name == name })
	}
	return cmp.Or(named(name), named(name[:max(strings.LastIndexByte(name, '-'), 0)]))
}

// workName is the name of the first step that writes, else of the first.
func (it *part) workName() string {
	for k := range it.steps {
		if it.steps[k].Access.Get("write") == "write" {
			return it.steps[k].Name
		}
	}
	if len(it.steps) > 0 {
		return it.steps[0].Name
	}
	return ""
}

// noteImplicit lists once the agents that no policy declares.
func (c *crew) noteImplicit(diags *diag.List) {
	u := c.u
	var names []string
	n, near, at := 0, "", diag.Range{}
	known := lists.Keep(sortedNames(u.set.Agents), func(name string) bool { return !u.set.Agents[name].Builtin })
	for _, a := range c.implicit {
		meant, ok := syntax.NearMiss(a.name, known)
		if ok && !a.file {
			diags.Add(diag.Newf("near-miss-agent", a.at, "%q is almost the agent %q", clip(a.name), clip(meant)).
				WithDetail("No policy declares %q and it has no file, so it would run with the default runner, without instructions. Write %q, or declare an agent of the intended name.", clip(a.name), meant))
			continue
		}
		if n++; n == 1 {
			at = a.at
		} else if n > 12 {
			continue
		}
		names = append(names, a.name)
		if meant, ok = spell.Nearest(a.name, known); ok {
			near += fmt.Sprintf(" By %q, did you mean %q?", clip(a.name), meant)
		}
	}
	if n == 0 {
		return
	}
	diags.Add(diag.Newf("implicit-agents", at, "%s declared by no policy", countAre(n, "agent")).
		WithDetail("%s: %s with the default runner and the model that the plan names. Declare %s in the policy to configure it.%s",
			text.AndMore(names, n), text.Form(n, "it runs", "they run"), text.Form(n, "it", "them"), near))
}

func countAre(n int, what string) string {
	return text.Count(n, what) + " " + text.Form(n, "is", "are")
}
