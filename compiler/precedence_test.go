package compiler_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/policies"
)

// topLevel has for each field of the settings that may stand at top level what sets
// it to another value than the built-in one.
var topLevel = map[string]string{
	"Limits.Plan":                   `limits { plan = 77 }`,
	"Limits.Build":                  `limits { build = 77 }`,
	"Limits.Attempts":               `limits { attempts = 77 }`,
	"Limits.Breaker":                `limits { breaker = 77 }`,
	"Limits.RunnerRetries":          `limits { runner_retries = 77 }`,
	"Limits.TimeoutMS":              `limits { timeout = "77s" }`,
	"Limits.CommandGateMS":          `limits { command_gate = "77s" }`,
	"Limits.AgentGateMS":            `limits { agent_gate = "77s" }`,
	"Limits.ReviewGateMS":           `limits { review_gate = "77s" }`,
	"Limits.HumanGateMS":            `limits { human_gate = "77s" }`,
	"Budget.Tokens":                 `budget { tokens = 77777777 }`,
	"Budget.USDMicro":               `budget { usd = 777 }`,
	"Budget.WallMS":                 `budget { wall = "77h" }`,
	"Budget.OnExceed":               `budget { on_exceed = "stop" }`,
	"Budget.PerNode.Tokens":         "budget {\nper_node {\ntokens = 77777777\n}\n}",
	"Budget.PerNode.USDMicro":       "budget {\nper_node {\nusd = 777\n}\n}",
	"Budget.PerNode.WallMS":         "budget {\nper_node {\nwall = \"77h\"\n}\n}",
	"HITL.Level":                    "hitl {\nlevel = \"every-node\"\napprovers = [\"@ada\"]\n}",
	"HITL.Plan":                     "hitl {\nplan = \"required\"\napprovers = [\"@ada\"]\n}",
	"HITL.Approvers":                "hitl {\napprovers = [\"@eve\"]\nlevel = \"every-node\"\n}",
	"HITL.Labels":                   `hitl { labels = { hold = "stop-it" } }`,
	"HITL.OnHumanMessage":           `hitl { on_human_message = "cooldown" }`,
	"HITL.IdleCooldownMS":           "hitl {\non_human_message = \"cooldown\"\nidle_cooldown = \"77s\"\n}",
	"Git.Base":                      `git { base = "develop" }`,
	"Git.Target":                    `git { target = "develop" }`,
	"Git.Branch":                    `git { branch = "x/{epic}/{sprint}" }`,
	"Git.Worktree":                  `git { worktree = "../{repo}-worktrees/x/{branch}" }`,
	"Git.Cleanup":                   `git { cleanup = "on_success" }`,
	"Git.Commit":                    `git { commit = "squash" }`,
	"Git.Remote":                    `git { remote = "upstream" }`,
	"Git.Forge":                     `git { forge = "glab" }`,
	"Git.OnTamper":                  `git { on_tamper = "note" }`,
	"Worktree.Setup":                `worktree { setup = ["make"] }`,
	"Worktree.Copy":                 `worktree { copy = [".env.test"] }`,
	"Worktree.Env":                  `worktree { env = { A = "b" } }`,
	"Worktree.Secrets":              `worktree { secrets = [secret.TOKEN] }` + "\nsecret \"TOKEN\" { env = \"TOKEN\" }",
	"Worktree.MinFree":              `worktree { min_free = "77MB" }`,
	"Worktree.MaxCommit":            `worktree { max_commit = "77MB" }`,
	"Worktree.Submodules":           `worktree { submodules = true }`,
	"Worktree.Layout":               "",
	"Integration.Mode":              `integration { mode = "branch" }`,
	"Integration.PR":                `integration { pr = "node" }`,
	"Integration.ConflictAgent":     `integration { conflict_agent = agent.default }`,
	"Integration.Gates":             `integration { gates = [] }`,
	"Integration.Sandbox":           `integration { sandbox = sandbox.none }`,
	"Integration.Network":           `integration { network = ["example.com"] }`,
	"Worktree.Sandbox":              `worktree { sandbox = sandbox.none }`,
	"Worktree.Network":              `worktree { network = ["example.com"] }`,
	"Integration.SerializeOverlaps": `integration { serialize_overlaps = true }`,
	"Retry.Attempts":                `retry { attempts = 77 }`,
	"Retry.Backoff":                 `retry { backoff = "fixed" }`,
	"Retry.InitialMS":               `retry { initial = "7s" }`,
	"Retry.MaxMS":                   `retry { max = "77m" }`,
	"Retry.JitterPercent":           `retry { jitter = "7%" }`,
	"Retry.RunnerRetries":           `retry { runner_retries = 77 }`,
	"Stall.AfterMS":                 `stall { after = "77s" }`,
	"Stall.Action":                  `stall { action = "retry" }`,
	"Stall.Agent":                   "stall {\naction = \"diagnose\"\nagent = agent.reviewer\n}",
}

const topLevelPlan = `# Plan

## Phase 1: One

### Sprint 1.1a: First

**Owns**: a/**

**Verify**: ` + "`true`" + `

**QA Agents**: ` + "`reviewer`" + `

### Sprint 1.1b: Auth

**Owns**: a/b/**

**Approval**: required from @bob

### Sprint 1.2: Reviewed

**Policy**: workflow
`

// What a user sets at top level counts above everything that is built in, also
// where a built-in step says something else.
func TestTopLevelCountsAboveWhatIsBuiltIn(t *testing.T) {
	compile := func(t *testing.T, hcl string) []byte {
		if !strings.Contains(hcl, "hitl") {
			hcl += "\nhitl { approvers = [\"@zoe\"] }\n"
		} else if !strings.Contains(hcl, "approvers") {
			hcl = strings.Replace(hcl, "{", "{\napprovers = [\"@zoe\"]\n", 1)
			hcl = strings.TrimSuffix(hcl, "}") + "\n}"
		}
		out := compiler.Compile(compiler.Input{
			Plans:  []compiler.Source{{Path: "plan.md", Bytes: []byte(topLevelPlan)}},
			Policy: []compiler.Source{{Path: "ralph.hcl", Bytes: []byte(hcl)}},
		})
		if out.Diags.HasErrors() {
			var b strings.Builder
			_ = diag.Text{}.Write(&b, out.Diags)
			t.Fatalf("%s: %s", hcl, b.String())
		}
		for _, n := range out.Results[0].Epic.Nodes {
			for _, s := range n.Steps {
				if strings.HasPrefix(hcl, "limits { timeout") && s.Limits.TimeoutMS != 77_000 && s.Name != "human_review" {
					t.Errorf("step %s of %s has %d ms, want 77000", s.Name, n.Key, s.Limits.TimeoutMS)
				}
			}
		}
		return out.Results[0].JSON
	}
	none := compile(t, "")
	seen := map[string]bool{}
	var each func(typ reflect.Type, path string)
	each = func(typ reflect.Type, path string) {
		if strings.HasPrefix(typ.Name(), "Value[") {
			seen[path] = true
			hcl, known := topLevel[path]
			if !known {
				t.Errorf("%s is in no case: say what sets it", path)
				return
			}
			t.Run(path, func(t *testing.T) {
				if hcl == "" {
					hcl = otherLayout(none)
				}
				if bytes.Equal(compile(t, hcl), none) {
					t.Errorf("%s changes nothing", hcl)
				}
			})
			return
		}
		for i := range typ.NumField() {
			each(typ.Field(i).Type, strings.TrimPrefix(path+"."+typ.Field(i).Name, "."))
		}
	}
	each(reflect.TypeFor[policies.Settings](), "")
	for path := range topLevel {
		if !seen[path] {
			t.Errorf("%s is no field of the settings", path)
		}
	}
}

// otherLayout sets the layout that is not the built-in one.
func otherLayout(epic []byte) string {
	if bytes.Contains(epic, []byte(`"layout": "clone"`)) {
		return `worktree { layout = "worktree" }`
	}
	return `worktree { layout = "clone" }`
}
