package policies

import (
	"fmt"
	"slices"

	"github.com/ralph-compiler/ralph/diag"
)

// Weakness is a place where a policy's work would get stuck: what
// `ralph graph --policy` lists.
type Weakness struct {
	Policy, Step string
	Kind         string // "dead end", "single point of failure"
	Message      string
	Range        diag.Range
}

// Candidates returns the names of the active agents that a step could be given
// to, by name: those with all its capabilities and tags, the access and the
// model that it asks for. Built-in agents count only when the policy declares
// none. An agent that the step names stands alone.
func (s *Set) Candidates(step StepSettings) []string {
	if step.Agent.V != "" {
		return []string{step.Agent.V}
	}
	var out []string
	user := s.UserAgents()
	for _, name := range sortedKeys(s.Agents) {
		if a := s.Agents[name]; a.Builtin != user && s.fits(a, step) {
			out = append(out, name)
		}
	}
	return out
}

func (s *Set) fits(a *Agent, step StepSettings) bool {
	has := func(have, want []string) bool {
		return !slices.ContainsFunc(want, func(w string) bool { return !slices.Contains(have, w) })
	}
	return a.Active.V &&
		(all(a.Capabilities.V) || has(a.Capabilities.V, step.Capabilities.V)) &&
		has(a.Tags.V, step.Tags.V) &&
		(step.Access.V != "write" || a.Access.V == "write") &&
		(!step.Model.Set || !a.Model.Set || s.ModelID(step.Model.V) == s.ModelID(a.Model.V))
}

// ModelID returns what an alias stands for, or the name itself.
func (s *Set) ModelID(name string) string {
	if m := s.Models[name]; m != nil && m.ID.V != "" {
		return m.ID.V
	}
	return name
}

// Weaknesses lists, for each policy in order, the steps that no agent could do
// (dead ends) and those that hang on one agent without a fallback (single points
// of failure).
func (s *Set) Weaknesses() []Weakness {
	var out []Weakness
	for _, name := range sortedKeys(s.Policies) {
		for _, step := range s.Policies[name].Steps {
			if step.Approval.V.Required && !step.Agent.Set && len(step.Capabilities.V) == 0 {
				continue // only a person does it
			}
			w := Weakness{Policy: name, Step: step.Name, Range: step.Range}
			switch c := s.Candidates(step.StepSettings); {
			case len(c) == 0:
				w.Kind, w.Message = "dead end", fmt.Sprintf("no active agent has what step %q asks for", step.Name)
			case len(c) == 1 && (s.Agents[c[0]] == nil || len(s.Agents[c[0]].Fallback.V) == 0):
				w.Kind, w.Message = "single point of failure", fmt.Sprintf("step %q hangs on agent %q, which has no fallback", step.Name, c[0])
			default:
				continue
			}
			out = append(out, w)
		}
	}
	return out
}
