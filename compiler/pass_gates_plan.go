package compiler

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

// verify adds the command gates that the plan defines.
func (g *gating) verify(s *ir.Step) {
	d := g.here.draft
	unnamed := 0
	if d.Ordered && len(d.Verify) > 0 {
		s.GateMode = "ordered"
	}
	for _, v := range lists.Each(d.Verify) {
		name, at := v.Name, v.NameRange
		if name == "" {
			unnamed++
			name, at = "verify", v.Range
			if unnamed > 1 {
				name = fmt.Sprintf("verify-%d", unnamed)
			}
		}
		out := ir.Gate{
			Kind: "command", Run: literally(v.Run), Expect: v.Expect, TimeoutMS: g.timeout("command"), OnFailure: "retry",
			ProtectNew: true, Evidence: v.Evidence, From: "plan",
		}
		switch {
		case v.Promise != "" || v.NoErrors:
			out = ir.Gate{Kind: "outcome", Promise: v.Promise, NoErrors: v.NoErrors, OnFailure: "retry", ProtectNew: true, From: "plan"}
		case v.Tests && v.Run == "":
			if out.Run = g.ownTests(v.Range); out.Run == "" {
				out.Run = "false" // that it is not known is an error; its absence would be a second one
			}
		}
		if v.Timeout.Set() {
			ms, err := policies.ParseDuration(v.Timeout.Value)
			if err != nil {
				g.badAttribute(v.Timeout, "timeout", "a duration such as 90s or 10m")
			} else {
				out.TimeoutMS = ms
			}
		}
		if v.OnFailure.Set() {
			if !slices.Contains(failureWords, v.OnFailure.Value) {
				g.badAttribute(v.OnFailure, "on_failure", "retry, stop or continue")
			} else {
				out.OnFailure = v.OnFailure.Value
			}
		}
		g.own(s, name, at, out)
	}
}

// timeout of the gates of a kind that the plan adds to a node.
func (g *gating) timeout(kind string) int64 { return g.here.settings.Limits.GateTimeout(kind).V }

// failureWords say what a gate of a plan does when it is red.
var failureWords = []string{"retry", "stop", "continue"}

func (g *gating) badAttribute(v ir.Stated, name, want string) {
	code := diag.Code("fence-attribute")
	if _, ok := syntax.NearMiss(v.Value, failureWords); ok {
		code = "near-miss-fence"
	}
	g.diags.Add(diag.Newf(code, v.Range, "%s: %q is not a value for it", name, clip(v.Value)).
		WithDetail("In the first line of a fence, %s is %s. Write it so.", name, want))
}

// own adds a gate of the node's own plan section.
func (g *gating) own(s *ir.Step, name string, at diag.Range, gate ir.Gate) {
	full := string(g.here.draft.Key) + "/" + name
	if first, twice := g.source[full]; twice {
		g.diags.Add(diag.Newf("duplicate-gate", at, "gate %q is defined twice", clip(name)).
			WithDetail("Each gate of an item needs its own name. Rename this one.").
			WithRelated(first, "first here"))
		return
	}
	if _, there := g.gates[full]; there { // a gate of the policy that is made for each item
		g.diags.Add(diag.Newf("gate-loosened", at, "the item already has a gate %q", clip(name)).
			WithDetail("A plan cannot replace a gate of the policy. Give this one another name."))
		return
	}
	g.source[full] = at
	g.gates[full] = gate
	s.Gates = append(slices.Clip(s.Gates), full)
}

// quality adds the plan's QA agents as agent gates.
func (g *gating) quality(s *ir.Step) {
	d := g.here.draft
	for _, q := range d.QA {
		a := g.crew.agent(q, g.diags)
		out := ir.Gate{
			Kind: "agent", Access: "read", TimeoutMS: g.timeout("agent"), OnFailure: "retry",
			Sees: []string{"acceptance", "diff"}, OutputSchema: verdictSchema, ProtectNew: true, From: "plan",
		}
		if q.Note != "" {
			out.Prompt = splitLines(literally(q.Note))
		}
		g.judge(&out, a, "named by the plan", g.u.modelName(q.Model))
		g.own(s, cmp.Or(q.Gate, q.Name), q.Range, out)
	}
	if d.Ordered && len(d.QA) > 0 {
		s.GateMode = "ordered"
	}
}

// outputs types the output of QA gates with the json fences of the section.
func (g *gating) outputs(d *ir.DraftNode) {
	for _, o := range d.Outputs {
		full := string(d.Key) + "/" + o.Gate
		gate, known := g.gates[full]
		if _, own := g.source[full]; !known || !own || gate.Kind != "agent" {
			names := lists.Map(d.QA, func(q ir.AgentRef) string { return q.Name })
			g.diags.Add(diag.Newf("unknown-gate", o.Range, "there is no QA gate %q here", clip(o.Gate)).
				WithDetail("output= names a QA agent of the same item.%s Name one, or add it under QA Agents.", didYouMean(o.Gate, names)))
			continue
		}
		if o.Schema != nil {
			schema, l := policies.CheckOutput(o.Schema, o.Range)
			g.diags.Add(l...)
			gate.OutputSchema = schema
		}
		if o.Input != nil {
			schema, l := policies.CheckInput(o.Input, o.Range)
			g.diags.Add(l...)
			gate.InputSchema = schema
		}
		g.gates[full] = gate
	}
}

// ownTests is the command that runs the project's own tests, as its files say; ""
// after a report. Nothing passes only because no test is known.
func (g *gating) ownTests(at diag.Range) string {
	found := policies.DetectTests(g.u.c.in.Project)
	if len(found) == 0 {
		g.diags.Add(diag.New("tests-unknown", at, "no test command is known").
			WithDetail("No test command is given, and none of these at the root of the project gives one: Cargo.toml, pytest settings, package.json with a test script, go.mod, build.gradle, pom.xml, a justfile or Makefile with a target test. Write the command as testCommand."))
		return ""
	}
	command, file := found[0].Command, found[0].File
	if len(found) > 1 {
		g.diags.Add(diag.New("tests-unknown", at, "no test command is known").
			WithDetail("%s says %q and %s says %q. Write the command that is meant as testCommand.", file, command, found[1].File, found[1].Command))
		return ""
	}
	if !g.said["tests "+command] {
		g.said["tests "+command] = true
		g.diags.Add(diag.New("tests-found", at, "the test command was detected in the project").
			WithDetail("No test command is given; %s says that %q runs the tests, so that is the gate. Write it as testCommand to make it certain.", file, command))
	}
	return command
}
