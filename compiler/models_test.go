package compiler

import (
	"testing"
	"testing/fstest"
)

// The built-in names of models are Claude Code's: another program that is told none has
// its own choice. One that the policy gives a meaning is for everybody.
func TestAModelOfClaudeCodeIsForNoOtherProgram(t *testing.T) {
	const mine = "model \"sonnet\" {\n  id       = \"claude-sonnet-5\"\n  provider = \"anthropic\"\n}\n"
	for _, c := range []struct{ kind, more, want string }{
		{"claude", "", "sonnet"},
		{"command", "", "sonnet"}, // as ${run.model}
		{"opencode", "", ""},
		{"codex", "", ""},
		{"acp", "", ""},
		{"opencode", mine, "sonnet"},
	} {
		policy := c.more + "runner \"r\" {\n  kind = \"" + c.kind + "\"\n  run  = [\"agent\"]\n}\n" +
			"agent \"dev\" {\n  runner       = runner.r\n  capabilities = [\"implement\", \"review\"]\n  access       = \"write\"\n}\n" +
			"gate \"look\" {\n  kind  = \"review\"\n  agent = agent.dev\n}\n" +
			"policy \"default\" {\n  default = true\n  step \"implement\" {\n    gates = [gate.look]\n  }\n}\n"
		out := Compile(Input{
			Plans:   []Source{{Path: "plan.md", Bytes: []byte("# P\n\n## Phase 1: A\n\n### Sprint 1.1: Do it\n\n**Acceptance Criteria**:\n\n- it is done\n")}},
			Policy:  []Source{{Path: "ralph.hcl", Bytes: []byte(policy)}},
			Project: fstest.MapFS{},
		})
		if out.Diags.HasErrors() {
			t.Fatal(printDiags(out))
		}
		e := out.Results[0].Epic
		if got, judge := e.Nodes[0].Steps[0].Model, e.Gates["look"].Model; got != c.want || judge != c.want {
			t.Errorf("%s%s: model %q, of its review %q, want %q", c.more, c.kind, got, judge, c.want)
		}
	}
}
