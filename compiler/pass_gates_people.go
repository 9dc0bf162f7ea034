package compiler

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

// people adds the human gates: the plan's Approval, and hitl every-node.
func (g *gating) people(n *ir.Node, level string) {
	d := g.here.draft
	s := &n.Steps[len(n.Steps)-1]
	if n.Kind == ir.Manual {
		return // a manual node waits for a person anyway
	}
	set := &g.here.settings
	if d.Approval.Set() {
		if a, err := policies.ParseApproval(d.Approval.Value); err == nil && a.Required {
			g.own(s, "approval", d.Approval.Range, g.human(a.Approvers, a.WithinMS, set, d.Approval.Range, "approval", "plan"))
		}
	}
	if level != "every-node" {
		return
	}
	for k := range n.Steps {
		for _, name := range n.Steps[k].Gates {
			if g.gates[name].Kind == "human" {
				return
			}
		}
	}
	const name = "person"
	if own := g.u.set.Gates[name]; own != nil && own.Kind.V == "human" {
		g.policyGate(s, name, policies.Value[[]string]{Range: own.Range}, false, n.Kind)
		return
	}
	full := g.shared(name, judging{kind: "human"}, func(_ string, set *policies.Settings) ir.Gate {
		return g.human(nil, 0, set, g.u.place(g.here, set.HITL.Level.Range), name, "policy")
	})
	s.Gates = append(slices.Clip(s.Gates), full)
}

func (g *gating) approvalOfStep(s *ir.Step, step string, a policies.Value[policies.Approval]) {
	full := "approve-" + step
	set := g.here.settings
	set.HITL = g.u.policyHITL(g.here)
	gate := g.human(a.V.Approvers, a.V.WithinMS, &set, g.u.place(g.here, a.Range), step, "policy")
	for _, name := range []string{full, g.here.policy.Name + "/" + full, string(g.here.draft.Key) + "/" + full} {
		full = name
		if old, done := g.gates[full]; !done || slices.Equal(old.Approvers, gate.Approvers) && old.TimeoutMS == gate.TimeoutMS {
			break
		}
	}
	g.gates[full] = gate
	s.Gates = lists.Include(slices.Clip(s.Gates), full)
}

func (g *gating) human(approvers []string, within int64, set *policies.Settings, at diag.Range, what, from string) ir.Gate {
	if len(approvers) == 0 {
		approvers = set.HITL.Approvers.V
	}
	if len(approvers) == 0 {
		g.noApprover(at, what, from)
	}
	within = cmp.Or(within, set.Limits.GateTimeout("human").V)
	return ir.Gate{
		Kind: "human", Approvers: atless(approvers), TimeoutMS: within, OnTimeout: "fail", OnFailure: "retry",
		ProtectNew: true, From: from,
	}
}

func (g *gating) noApprover(at diag.Range, name, from string) {
	if !g.said.first(fmt.Sprintf("approver %v", at)) {
		return
	}
	write := "Write hitl { approvers = [\"name\"] } into the policy, in ralph.hcl for instance."
	if from == "plan" {
		write = "Write \"required from @name\", or hitl { approvers = [\"name\"] } into the policy."
	}
	g.diags.Add(diag.Newf("gate-without-approver", at, "nobody can approve %q", clip(name)).
		WithDetail("A person has to approve here, but no approver is named. %s", write))
}

// humansLast moves human gates to the end.
func humansLast(s *ir.Step, gates map[string]ir.Gate) {
	human := func(name string) bool { return gates[name].Kind == "human" }
	if !slices.ContainsFunc(s.Gates, human) {
		return
	}
	var first, last []string
	for _, name := range s.Gates {
		if human(name) {
			last = append(last, name)
		} else {
			first = append(first, name)
		}
	}
	s.Gates = slices.Concat(first, last)
}
