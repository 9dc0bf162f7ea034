package ir_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/irtest"
)

func TestVerifyAcceptsWhatIsCompiled(t *testing.T) {
	for name, e := range map[string]*ir.Epic{"worked": irtest.Worked(), "rich": irtest.Rich(), "large": irtest.Large(500)} {
		for _, err := range e.Verify() {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestVerifyNamesThePathOfEachBreach(t *testing.T) {
	for _, c := range []struct {
		name   string
		break_ func(e *ir.Epic)
		want   string
	}{
		{"another version", func(e *ir.Epic) { e.IR = "x" }, "ir: "},
		{"no id", func(e *ir.Epic) { e.Nodes[1].ID = "" }, `nodes[1].id: "" is not an id`},
		{"an id twice", func(e *ir.Epic) { e.Nodes[2].ID = e.Nodes[1].ID }, "nodes[2].id: "}, // S0-04 K3
		{"the epic's id on a node", func(e *ir.Epic) { e.Nodes[2].ID = e.Epic.ID }, "is the epic's own id"},
		{"a key twice", func(e *ir.Epic) { e.Nodes[2].Key = "1.2a" }, `nodes[2].key: "1.2a" is also the key of nodes[1]`},
		{"the reserved key", func(e *ir.Epic) { e.Nodes[3].Key = "integration" }, "nodes[3].key: "},
		{"an unknown kind", func(e *ir.Epic) { e.Nodes[0].Kind = "task" }, `nodes[0].kind: "task" is not one of work, merge, gate, manual`}, // K5
		{"an edge to nowhere", func(e *ir.Epic) { e.Nodes[1].After[0].Key = "7.7" }, `nodes[1].after[0].key: "7.7" is the key of no node`},
		{"an edge of an unknown type", func(e *ir.Epic) { e.Nodes[1].After[0].Type = "needs" }, "nodes[1].after[0].type: "}, // K12
		{"an edge of unknown origin", func(e *ir.Epic) { e.Nodes[1].After[0].From = "" }, "nodes[1].after[0].from: "},
		{"a node that waits for itself", func(e *ir.Epic) { e.Nodes[1].After[0].Key = "1.2a" }, "nodes[1].after[0].key: the node waits for itself"},
		{"a cycle", func(e *ir.Epic) { e.Nodes[0].After = []ir.Edge{{Key: "1.3", From: "explicit", Type: ir.Blocks}} }, "a cycle: 1.1 → 1.3 → 1.2a → 1.1"},
		{"nodes out of order", func(e *ir.Epic) { e.Nodes[1], e.Nodes[2] = e.Nodes[2], e.Nodes[1] }, `nodes[1]: is not in order: "1.2a" comes here`},
		{"edges out of order", func(e *ir.Epic) { slices.Reverse(e.Nodes[3].After) }, "nodes[3].after[1]: is out of order"},
		{"an edge twice", func(e *ir.Epic) { e.Nodes[3].After = append(e.Nodes[3].After, e.Nodes[3].After[1]) }, "nodes[3].after[2]: repeats"},
		{"merges that are not the predecessors", func(e *ir.Epic) { e.Nodes[3].Merges = e.Nodes[3].Merges[:1] }, "nodes[3].merges: "}, // S0-97 S0-98
		{"merges of one predecessor", func(e *ir.Epic) { e.Nodes[1].Merges = []ir.Key{"1.1"} }, "nodes[1].merges: "},
		{"a priority of 5", func(e *ir.Epic) { e.Nodes[0].Priority = 5 }, "nodes[0].priority: 5"}, // K2
		{"an unknown word below nothing", func(e *ir.Epic) { e.Nodes[0].HITL = &ir.NodeHITL{OnHumanMessage: "x"} }, `nodes[0].hitl.on_human_message: "x" is not one of`},
		{"a negative limit", func(e *ir.Epic) { e.Nodes[0].Limits.EstimateMS = -1 }, "nodes[0].limits.estimate_ms: -1 is negative"},
		{"limits that are not the work step's", func(e *ir.Epic) { e.Nodes[0].Limits.Attempts = 9 }, "nodes[0].limits: "}, // K6
		{"an agent that does not exist", func(e *ir.Epic) { e.Nodes[0].Steps[0].Agent = "x" }, `nodes[0].steps[0].agent: "x" is not an agent`},
		{"a gate that does not exist", func(e *ir.Epic) { e.Nodes[0].Steps[0].Gates = []string{"x"} }, `nodes[0].steps[0].gates[0]: there is no gate "x"`},
		{"a gate twice", func(e *ir.Epic) { e.Nodes[0].Steps[0].Gates = []string{"unit", "unit"} }, "nodes[0].steps[0].gates[1]: "},
		{"a sandbox that does not exist", func(e *ir.Epic) { e.Nodes[0].Steps[0].Sandbox = "x" }, "nodes[0].steps[0].sandbox: "},
		{"a fail that goes forwards", func(e *ir.Epic) { e.Nodes[0].Steps[0].Next = "later" }, "nodes[0].steps[0].next: "},
		{"an expectation that says nothing", func(e *ir.Epic) {
			e.Agents["default"] = ir.Agent{Runner: "claude", Access: "write", Expect: &ir.Cost{}}
		}, "agents.default.expect: says nothing"},
		{"an expectation below nothing", func(e *ir.Epic) {
			less := int64(-1)
			e.Agents["default"] = ir.Agent{Runner: "claude", Access: "write", Expect: &ir.Cost{Tokens: &less}}
		}, "agents.default.expect.tokens: -1 is negative"},
		{"a baseline of a gate that is never tried there", func(e *ir.Epic) {
			g := e.Gates["unit"]
			g.Baseline, g.RedFirst = "green", true
			e.Gates["unit"] = g
		}, "gates.unit.baseline: the gate is never tried on the base"},
		{"a compiler's gate without a plan", func(e *ir.Epic) { e.Gates["x"] = ir.Gate{Kind: "compiles", Policy: "sha256:0", From: "builtin"} }, "gates.x.plan: the gate has no plan to compile"},
		{"a compiler's gate that knows no policy", func(e *ir.Epic) { e.Gates["x"] = ir.Gate{Kind: "compiles", Plan: "plan.md", From: "builtin"} }, "gates.x.policy: "},
		{"a plan outside the project to compile", func(e *ir.Epic) {
			e.Gates["x"] = ir.Gate{Kind: "compiles", Plan: "../plan.md", Policy: "sha256:0", From: "builtin"}
		}, "gates.x.plan: "},
		{"a plan that a command does not compile", func(e *ir.Epic) {
			g := e.Gates["unit"]
			g.Plan = "plan.md"
			e.Gates["unit"] = g
		}, "gates.unit: only a gate of kind compiles"},
		{"no attempts", func(e *ir.Epic) { e.Nodes[0].Steps[0].Limits.Attempts = 0 }, "nodes[0].steps[0].limits.attempts: "},
		{"work without steps", func(e *ir.Epic) { e.Nodes[0].Steps = nil }, "nodes[0].steps: is empty"},
		{"work without a prompt", func(e *ir.Epic) { e.Nodes[0].Prompt = nil }, "nodes[0].prompt: is empty"},
		{"a line of two lines", func(e *ir.Epic) { e.Nodes[0].Prompt[0] += "\n" }, "nodes[0].prompt[0]: "},
		{"an absolute worktree", func(e *ir.Epic) { e.Nodes[0].Git.Worktree = "/tmp/x" }, "nodes[0].git.worktree: "}, // K9 S0-20
		{"a worktree beside the project", func(e *ir.Epic) { e.Nodes[0].Git.Worktree = "../x" }, "nodes[0].git.worktree: "},
		{"a worktree that climbs out of its folder", func(e *ir.Epic) { e.Nodes[0].Git.Worktree = "../a-worktrees/../../x" }, "nodes[0].git.worktree: "},
		{"a worktree that is the project", func(e *ir.Epic) { e.Nodes[0].Git.Worktree = "a/.." }, "nodes[0].git.worktree: "},
		{"a scope outside the project", func(e *ir.Epic) { e.Nodes[0].Scope.Owns = []string{"a/../../b"} }, "nodes[0].scope.owns[0]: "},
		{"an absolute plan", func(e *ir.Epic) { e.Epic.Plan = "/home/x/plan.md" }, "epic.plan: "},
		{"a slug that is none", func(e *ir.Epic) { e.Epic.Slug = "A b" }, "epic.slug: "},
		{"a complexity that no node has", func(e *ir.Epic) { e.Epic.Complexity = "critical" }, "epic.complexity: "}, // K30
		{"an unsealed node", func(e *ir.Epic) { e.Nodes[0].Digest.Judge = "" }, "nodes[0].digest: "},
		{"a command gate without a command", func(e *ir.Epic) { e.Gates["x/y"] = ir.Gate{Kind: "command", From: "plan"} }, `gates["x/y"].run: `},
		{"a human gate without a person", func(e *ir.Epic) { e.Gates["x"] = ir.Gate{Kind: "human", From: "plan"} }, `gates.x.approvers: `},
		{"a review without a reviewer", func(e *ir.Epic) { e.Gates["x"] = ir.Gate{Kind: "review", From: "plan"} }, `gates.x.agent: `},
		{"a schema that is no JSON", func(e *ir.Epic) {
			e.Gates["x"] = ir.Gate{Kind: "outcome", From: "plan", OutputSchema: json.RawMessage("{")}
		}, `gates.x.output_schema: `},
		{"an agent without a runner", func(e *ir.Epic) { e.Agents["x"] = ir.Agent{} }, `agents.x.runner: `},
		{"a runner with an unknown secret", func(e *ir.Epic) { delete(e.Secrets, "anthropic") }, `runners.claude.secrets[0]: `},
		{"files out of order", func(e *ir.Epic) { e.Files = append(e.Files, e.Files[0]) }, `files[1]: `},
		{"no branch where results are joined", func(e *ir.Epic) { e.Epic.Integration.Branch = "" }, `epic.integration.branch: `},
		{"a branch where none are", func(e *ir.Epic) { e.Epic.Integration.Mode = "none" }, `epic.integration.branch: `},
		{"a pull request where nothing is joined", func(e *ir.Epic) {
			e.Epic.Integration = ir.Integration{Mode: "none", PR: "plan"}
		}, `epic.integration.pr: `},
		{"an integration gate that does not exist", func(e *ir.Epic) { e.Epic.Integration.Gates = []string{"x"} }, `epic.integration.gates[0]: `},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := irtest.Worked()
			c.break_(e)
			errs := e.Verify()
			if !slices.ContainsFunc(errs, func(err error) bool { return strings.Contains(err.Error(), c.want) }) {
				t.Errorf("got %v, want %s", errs, c.want)
			}
			for _, err := range errs {
				var b *ir.Breach
				if !errors.As(err, &b) || b.Path == "" {
					t.Errorf("a breach without a path: %v", err)
				}
			}
		})
	}
}

func TestVerifyIsBounded(t *testing.T) {
	e := irtest.Large(5000)
	for i := range e.Nodes {
		e.Nodes[i].ID = "same"
		e.Nodes[i].Kind = "\x1b[31m"
	}
	errs := e.Verify()
	if len(errs) == 0 || len(errs) > 100 {
		t.Errorf("%d breaches", len(errs))
	}
	for _, err := range errs {
		if strings.Contains(err.Error(), "\x1b") {
			t.Fatalf("a terminal escape in %q", err)
		}
	}
}

// The same text is parsed once, and each gate that has it is reported.
func TestVerifyReportsEachGateWithTheSameBrokenSchema(t *testing.T) {
	e := irtest.Large(10)
	for _, name := range []string{"a", "b"} {
		e.Gates[name] = ir.Gate{Kind: "command", Run: "true", OutputSchema: json.RawMessage(`{"type":`)}
	}
	var found []string
	for _, err := range e.Verify() {
		if strings.Contains(err.Error(), "output_schema") {
			found = append(found, err.Error())
		}
	}
	if len(found) != 2 || !strings.Contains(found[0], "gates.a") || !strings.Contains(found[1], "gates.b") {
		t.Fatalf("got %q, want a complaint about gates a and b", found)
	}
}
