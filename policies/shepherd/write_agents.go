package shepherd

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/policies"
)

// builtinModels are the aliases that need no block.
var builtinModels = []string{"haiku", "sonnet", "opus"}

// model is an alias for a model of a provider.
type model struct{ alias, id, provider string }

// modelNamed splits what a phase or an agent says of its model.
func modelNamed(provider, id string) model {
	if p, rest, ok := strings.Cut(id, "/"); ok && provider == "" && p != "" && rest != "" {
		provider, id = p, rest
	}
	return model{alias: id, id: id, provider: provider}
}

// models lists the models that agents and phases name, each once, and gives them
// aliases: the id, with the provider where two providers have it.
func (c *conversion) models() map[model]string {
	var all []model
	add := func(m model) {
		if m.id != "" {
			all = lists.Include(all, m)
		}
	}
	for _, a := range c.agents {
		add(modelNamed(a.provider, a.model))
	}
	for _, p := range c.policies {
		for _, ph := range p.phases {
			add(modelNamed("", ph.model))
		}
	}
	out := map[model]string{}
	for _, m := range all {
		alias := m.id
		for _, o := range all {
			if o != m && o.id == m.id && m.provider != "" {
				alias = m.provider + "/" + m.id
			}
		}
		if slices.Contains(builtinModels, alias) && m.provider != "" && m.provider != "anthropic" {
			alias = m.provider + "/" + m.id // the alias stands for another one
		}
		out[m] = alias
	}
	return out
}

// modelRef is how an agent or a step names its model.
func modelRef(models map[model]string, m model) string {
	if m.id == "" {
		return ""
	}
	if m.provider == "" || slices.Contains(builtinModels, models[m]) {
		return policies.Quote(line(models[m])) // what the program calls it itself
	}
	return policies.Reference("model", models[m])
}

func (c *conversion) writeAgents(w *writer) {
	var runners []string
	for _, a := range c.agents {
		if !a.human {
			runners = lists.Include(runners, a.runner)
		}
	}
	slices.Sort(runners)
	for _, r := range runners {
		if r == "claude" {
			continue // built in
		}
		w.block("runner "+policies.Quote(r), func() { w.text("kind", r) })
	}
	models := c.models()
	for _, m := range slices.SortedFunc(maps.Keys(models), func(a, b model) int { return strings.Compare(models[a], models[b]) }) {
		if m.provider == "" || slices.Contains(builtinModels, models[m]) {
			continue
		}
		w.block("model "+policies.Quote(line(models[m])), func() {
			w.text("id", m.id)
			w.text("provider", m.provider)
		})
	}
	for _, a := range c.agents {
		c.writeAgent(w, a, models)
	}
}

func (c *conversion) writeAgent(w *writer, a *agent, models map[model]string) {
	w.gap = true
	switch {
	case a.madeUp:
		w.comment("Named by a policy; agents.yaml was not given.")
	case a.name != "" && a.description != "" && !strings.EqualFold(a.name, a.id):
		w.comment(line(a.name))
	}
	w.block("agent "+policies.Quote(a.id), func() {
		about := a.description
		if about == "" && !strings.EqualFold(a.name, a.id) {
			about = a.name
		}
		w.text("description", about)
		w.truth("human", a.human)
		if !a.human {
			w.text("slug", cmp.Or(a.slug, a.id))
			w.attr(a.runner != "claude", "runner", policies.Reference("runner", a.runner))
			w.attr(a.model != "", "model", modelRef(models, modelNamed(a.provider, a.model)))
		}
		w.texts("capabilities", a.capabilities)
		w.attr(!a.human && a.readOnly, "access", `"read"`)
		w.attr(!a.human && !a.readOnly, "access", `"write"`)
		w.texts("tags", a.tags)
		w.whole("priority", a.priority)
		w.whole("speed", a.speed)
		w.attr(a.multiplier != 0 && a.multiplier != 1, "timeout_multiplier", strconv.FormatFloat(a.multiplier, 'f', -1, 64))
		w.text("session", a.session)
		w.note(a.session == "resume", "session_strategy", "Agent Shepherd reuses a session for many runs; this goes on in that of the step's attempt before.")
		refs := lists.Map(a.fallback, func(id string) string { return policies.Reference("agent", id) })
		w.attr(len(refs) > 0, "fallback", "["+strings.Join(refs, ", ")+"]")
		w.attr(a.inactive, "active", "false")
		w.note(a.provider != "" && a.model == "", "provider_id", "%s. ralph chooses a provider by its model; without one the agent's own counts.", line(a.provider))
		w.comments(a.comments)
	})
}
