package compiler_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
)

const wallPolicy = `
agent "dev" {
  capabilities = ["implement"]
  access       = "write"
}
agent "critic" { capabilities = ["review"] }
gate "unit" { run = "make test" }
gate "look" {
  kind  = "review"
  agent = agent.critic
}
policy "default" {
  default = true
  step "implement" {
    capabilities = ["implement"]
    gates        = [gate.unit, gate.look]
  }
}
worktree { setup = ["npm ci"] }
`

const wallPlan = "# Plan\n\n### Sprint 1.1: A\n\n**Verify**: `make a`\n\n**QA Agents**: `critic`\n\n### Sprint 1.2: Auth\n"

func walled(t *testing.T, hcl string) *ir.Epic {
	t.Helper()
	out := compiler.Compile(compiler.Input{
		Plans:  []compiler.Source{{Path: "plan.md", Bytes: []byte(wallPlan)}},
		Policy: []compiler.Source{{Path: "ralph.hcl", Bytes: []byte(wallPolicy + hcl)}},
	})
	if out.Diags.HasErrors() {
		var b strings.Builder
		_ = diag.Text{}.Write(&b, out.Diags)
		t.Fatalf("%s: %s", hcl, b.String())
	}
	return out.Results[0].Epic
}

// To add a wall, to change it and to take it away re-run and re-judge nothing.
func TestASandboxRerunsNothing(t *testing.T) {
	bare := walled(t, "")
	for _, hcl := range []string{
		`sandbox "default" { kind = "none" }`,
		"sandbox \"default\" {\nkind = \"auto\"\nnetwork = [\"model\"]\n}",
		"sandbox \"default\" {\nkind = \"bwrap\"\nnetwork = [\"*\"]\ncache = [\"~/x\"]\nread = [\"/opt\"]\nwrite = [\"/srv\"]\nhide = [\"/opt/x\"]\n" +
			"services = [\"127.0.0.1:1\"]\nlimits = { memory = \"4GB\", pids = 9 }\nnest = true\nrequired = true\n}\nintegration {\nsandbox = sandbox.none\nnetwork = [\"example.com\"]\n}",
	} {
		e := walled(t, hcl)
		for i, n := range e.Nodes {
			if n.Digest != bare.Nodes[i].Digest {
				t.Errorf("%s: %s has %v, was %v", hcl, n.Key, n.Digest, bare.Nodes[i].Digest)
			}
		}
		for name := range e.Gates {
			if ir.GateDigest(e, name) != ir.GateDigest(bare, name) {
				t.Errorf("%s: gate %s has another digest", hcl, name)
			}
		}
	}
}

// A default holds for each program that a run starts, made-up steps too, and a judge
// reaches its model whoever made its gate.
func TestTheDefaultHoldsEverywhere(t *testing.T) {
	e := walled(t, "sandbox \"default\" {\nkind = \"auto\"\nnetwork = [\"model\", \"example.com\"]\n}")
	if c := e.SetupConfined(); c.Name != "default" || len(c.Network) > 0 {
		t.Errorf("setup: %+v", c)
	}
	for _, n := range e.Nodes {
		for _, s := range n.Steps {
			if c := e.StepConfined(&s, false); c.Name != "default" || !slices.Equal(c.Network, []string{"model", "example.com"}) {
				t.Errorf("%s %s: %+v", n.Key, s.Name, c)
			}
		}
	}
	if c := e.StepConfined(&ir.Step{Name: "merge"}, true); c.Name != "default" {
		t.Errorf("a step that was made up: %+v", c)
	}
	kinds := map[string]int{}
	for name, g := range e.Gates {
		kinds[g.Kind+" by "+g.From]++
		want := []string{"model"}
		if g.Kind == "command" {
			want = nil
		}
		for _, sum := range []bool{false, true} {
			if c := e.GateConfined(name, sum); c.Name != "default" || !slices.Equal(c.Network, want) {
				t.Errorf("gate %s: %+v", name, c)
			}
		}
	}
	for _, kind := range []string{"command by policy", "command by plan", "agent by plan", "review by policy"} {
		if kinds[kind] == 0 {
			t.Errorf("no gate is a %s: %v", kind, kinds)
		}
	}
}

// Without a sandbox nothing of an epic says anything of one.
func TestNoSandboxSaysNothing(t *testing.T) {
	e := walled(t, `sandbox "unused" { kind = "auto" }`)
	text, err := ir.Encode(e)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if s := strings.TrimSpace(line); strings.Contains(s, "network") || strings.HasPrefix(s, `"sandbox`) && s != `"sandbox": ""` && s != `"sandboxes": {},` {
			t.Errorf("the epic has the line %s", s)
		}
	}
}

// A draft's agents are confined like those of the plan that it writes.
func TestAPlannerIsConfined(t *testing.T) {
	out := compiler.Planning(compiler.Input{
		Policy: []compiler.Source{{Path: "ralph.hcl", Bytes: []byte("sandbox \"default\" {\nkind = \"auto\"\nnetwork = [\"model\"]\n}\n" +
			"sandbox \"setup\" { kind = \"bwrap\" }\nworktree { sandbox = sandbox.setup }")}},
	}, compiler.Wish{
		Plan: "plan.md", Title: "x", Brief: []string{"x"}, Approver: "ada",
		Prompt: func(compiler.Planned) []string { return []string{"Plan."} }, Explore: func(bool) []string { return []string{"Look."} },
	})
	if out.Diags.HasErrors() {
		t.Fatal(out.Diags)
	}
	e := out.Results[0].Epic
	for _, s := range e.Nodes[0].Steps {
		if c := e.StepConfined(&s, false); c.Name != "default" {
			t.Errorf("step %s: %+v", s.Name, c)
		}
	}
	if c := e.SetupConfined(); c.Name != "setup" {
		t.Errorf("setup: %+v", c)
	}
	if g := e.Gates[compiler.CompilesGate]; g.Sandbox != "" {
		t.Errorf("the compiler's own gate: %+v", g)
	}
}
