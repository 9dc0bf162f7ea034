package compiler

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// Names of the one step of nodes that no agent works on.
const (
	judgeStep  = "judge"
	manualStep = "manual"
)

// passSteps gives each node the steps of its policy. A plan's agents take the
// place of the agent of the first write step S: n agents make S, S-2, … S-n.
func (b *build) passSteps(diags *diag.List) *ir.Epic {
	e := b.own()
	for it, n := range b.nodes(e) {
		switch n.Kind {
		case ir.Manual:
			n.Steps = []ir.Step{personStep(manualStep, "write")}
		case ir.GateKind:
			n.Steps = []ir.Step{personStep(judgeStep, "read")}
		default:
			n.Steps = b.nodeSteps(it, b.crew, diags)
		}
	}
	return e
}

// draftSandbox names the sandbox that a draft asks for.
func draftSandbox(d *ir.DraftNode) string { return string(d.Key) + "/sandbox" }

func personStep(name, access string) ir.Step {
	return ir.Step{
		Name: name, Access: access, GateMode: "parallel", OnFailure: "keep", AllowEmpty: true, Next: name,
		Retry: ir.Retry{Backoff: "fixed"},
	}
}

func (u *unit) nodeSteps(it *part, crew *crew, diags *diag.List) []ir.Step {
	d := it.draft
	if !u.carry(d, (len(it.steps)+len(d.Agents))*stepWidth, "the steps") {
		return nil
	}
	steps := lists.Map(it.steps, func(x stepValues) ir.Step { return x.step(d.Kind) })
	if d.Sandbox != nil {
		for k := range steps {
			if steps[k].Sandbox == "" || steps[k].Sandbox == "none" {
				steps[k].Sandbox = draftSandbox(d)
			}
		}
	}
	s := workStep(steps)
	if len(steps) > 0 {
		u.workLabels(d, &steps[s], diags)
		steps = u.splitWork(d, steps, s, crew, diags)
	}
	for k := range steps {
		if steps[k].Next == "" { // a fail goes to the step itself if it may write, else to the nearest earlier one that may, else to itself
			steps[k].Next = steps[lastWrite(steps[:k+1])].Name
		}
	}
	return steps
}

// step writes a step of the policy as epic.json has it, without what later
// passes decide: agent, gates, limits.
func (v *stepValues) step(kind ir.Kind) ir.Step {
	return ir.Step{
		Name:         v.Name,
		Capabilities: v.Capabilities.V,
		Model:        v.Model.V,
		Access:       v.Access.Get("write"),
		Session:      v.Session.V,
		GateMode:     v.GateMode.Get("parallel"),
		OnFailure:    v.OnFailure.Get("keep"),
		Next:         v.Next.V,
		AllowEmpty:   v.AllowEmpty.Get(kind == ir.Merge),
		Sandbox:      v.Sandbox.V,
		Agent:        v.Agent.V,
		Stall:        ir.Stall{AfterMS: v.Stall.AfterMS.V, Action: v.Stall.Action.V, Agent: v.Stall.Agent.V},
		Retry: ir.Retry{
			Backoff: v.Retry.Backoff.Get("fixed"), InitialMS: v.Retry.InitialMS.V, MaxMS: v.Retry.MaxMS.V,
			JitterPercent: v.Retry.JitterPercent.V,
		},
	}
}

// workLabels applies the labels that say who does the work and how.
func (u *unit) workLabels(d *ir.DraftNode, s *ir.Step, diags *diag.List) {
	label := func(word string, l ir.Stated, to *string, as func(string) string) {
		if l.Set() && u.may(word, l.Range, diags) {
			*to = as(l.Value)
		}
	}
	label("model", d.Model, &s.Model, u.modelName)
	label("access", d.Access, &s.Access, strings.ToLower)
	label("session", d.Session, &s.Session, strings.ToLower)
	label("on_failure", d.OnFailure, &s.OnFailure, strings.Clone)
	if len(d.Capability) > 0 && u.may("capability", d.Capability[0].Range, diags) {
		s.Capabilities = lists.Map(d.Capability, func(c ir.Stated) string { return c.Value })
	}
}

// splitWork gives each agent of the plan its own step.
func (u *unit) splitWork(d *ir.DraftNode, steps []ir.Step, s int, crew *crew, diags *diag.List) []ir.Step {
	if len(d.Agents) == 0 || !u.may("agent", d.Agents[0].Range, diags) {
		return steps
	}
	parts := make([]ir.Step, len(d.Agents))
	for k, a := range d.Agents {
		parts[k] = steps[s]
		if k > 0 {
			parts[k].Name = freeName(steps, steps[s].Name, k+1)
			parts[k].Next = ""
		}
		parts[k].Agent, parts[k].Note = a.Name, a.Note
		if a.Model != "" {
			parts[k].Model = u.modelName(a.Model)
		}
		if x := crew.agent(a, diags); parts[k].Access == "write" && x.readOnly() {
			diags.Add(diag.Newf("agent-access", a.Range, "%s may only read", clip(a.Name)).
				WithDetail("The step %q writes, and the policy gives %s access \"read\". Name an agent that may write, or list this one under QA Agents.", steps[s].Name, a.Name))
		}
	}
	return slices.Concat(steps[:s], parts, steps[s+1:])
}

// freeName names the n-th part of a step: S-2, and on if the policy has a step of
// that name.
func freeName(steps []ir.Step, step string, n int) string {
	name := step + "-" + strconv.Itoa(int(n))
	for slices.ContainsFunc(steps, func(s ir.Step) bool { return s.Name == name }) {
		name += "-" + strconv.Itoa(int(n))
	}
	return name
}

// modelName finds an alias whatever its case; ids of models are kept as written.
func (u *unit) modelName(s string) string {
	if low := strings.ToLower(s); u.set.Models[low] != nil {
		return low
	}
	return s
}

// workStep returns the first step that may write, else the first.
func workStep(steps []ir.Step) int {
	return max(0, slices.IndexFunc(steps, func(s ir.Step) bool { return s.Access == "write" }))
}

// lastWrite returns the last step that may write, else the last.
func lastWrite(steps []ir.Step) int {
	for i := len(steps) - 1; i >= 0; i-- {
		if steps[i].Access == "write" {
			return i
		}
	}
	return len(steps) - 1
}
