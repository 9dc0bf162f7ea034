package compiler

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/ralph-compiler/ralph/ir"
)

// S4-84..89: who does a step: by capability, access, tags, model, then priority,
// speed, name.
func TestSelectionOfAnAgent(t *testing.T) {
	const agents = `
ralph { capabilities = ["deploy"] }
agent "tess" {
  access       = "read"
  capabilities = ["test", "review"]
}
agent "wanda" {
  access       = "write"
  capabilities = ["test", "implement"]
  priority     = 9
}
agent "walt" {
  access       = "write"
  capabilities = ["implement"]
  tags         = ["windows"]
}
agent "opal" {
  access       = "write"
  capabilities = ["implement"]
  model        = "opus"
}
agent "quick" {
  access       = "write"
  capabilities = ["deploy"]
  speed        = 3
}
agent "calm" {
  access       = "write"
  capabilities = ["deploy"]
  speed        = 2
}
agent "able" {
  access       = "write"
  capabilities = ["debug"]
}
agent "baker" {
  access       = "write"
  capabilities = ["debug"]
}
agent "gone" {
  access       = "write"
  capabilities = ["debug", "deploy"]
  priority     = 99
  active       = false
}
`
	for _, c := range []struct{ name, step, agent, why string }{
		{"capability: only one can review", `capabilities = ["review"]; access = "read"`, "tess", "the only agent with capabilities review, access read"},
		{"all of the capabilities", `capabilities = ["test", "implement"]; access = "write"`, "wanda", "the only agent with capabilities test, implement, access write"},
		{"access: who may only read does not write", `capabilities = ["test"]; access = "write"`, "wanda", "the only agent with capabilities test, access write"},
		{"access: who only reads comes first for reading", `capabilities = ["test"]; access = "read"`, "tess", "first by access of 2 agents with capabilities test, access read"},
		{"tags", `capabilities = ["implement"]; tags = ["windows"]; access = "write"`, "walt", "the only agent with capabilities implement, access write, tags windows"},
		{"model before priority", `capabilities = ["implement"]; model = "opus"; access = "write"`, "opal", "first by model of 3 agents with capabilities implement, access write"},
		{"priority", `capabilities = ["implement"]; access = "write"`, "wanda", "first by priority of 3 agents with capabilities implement, access write"},
		{"speed before name", `capabilities = ["deploy"]; access = "write"`, "quick", "first by speed of 2 agents with capabilities deploy, access write"},
		{"name, and nobody who is not active", `capabilities = ["debug"]; access = "write"`, "able", "first by name of 2 agents with capabilities debug, access write"},
		{"named by the step", `agent = agent.calm; access = "write"`, "calm", "named by the step"},
	} {
		t.Run(c.name, func(t *testing.T) {
			policy := agents + "policy \"default\" {\n  default = true\n  step \"implement\" {\n    " + strings.ReplaceAll(c.step, "; ", "\n    ") + "\n  }\n}\n"
			s := epicOf(t, compileWith(Options{}, "### Sprint 1.1: A\n", policy)).Nodes[0].Steps[0]
			if s.Agent != c.agent || s.Why != c.why {
				t.Errorf("%s: %s, want %s: %s", s.Agent, s.Why, c.agent, c.why)
			}
		})
	}
	t.Run("nobody fits", func(t *testing.T) {
		out := compileWith(Options{}, "### Sprint 1.1: A\n", agents+"policy \"default\" {\n  default = true\n  step \"implement\" {\n    capabilities = [\"implement\"]\n    tags = [\"mars\"]\n  }\n}\n")
		if !has(out, "no-agent") {
			t.Errorf("no error:\n%s", printDiags(out))
		}
	})
}

// S4-92: where a failed step goes: what it says, else back to the step that
// writes, else to itself.
func TestTheStepAfterAFail(t *testing.T) {
	policy := `
policy "default" {
  default = true
  step "design" { access = "read" }
  step "implement" { access = "write" }
  step "check" { access = "read" }
  step "ship" {
    access = "read"
    next   = "design"
  }
}
`
	var got []string
	for _, s := range epicOf(t, compileWith(Options{}, "### Sprint 1.1: A\n", policy)).Nodes[0].Steps {
		got = append(got, s.Name+">"+s.Next)
	}
	if s := strings.Join(got, " "); s != "design>design implement>implement check>implement ship>design" {
		t.Error(s)
	}
	if out := compileWith(Options{}, "### Sprint 1.1: A\n", strings.Replace(policy, `"design"
  }`, `"desing"
  }`, 1)); !out.Diags.HasErrors() {
		t.Error("a step that does not exist may follow")
	}
}

// S4-94: the time of an attempt: built in, policy, plan, and the multiplier of
// the agent on top.
func TestTimeoutsOfSteps(t *testing.T) {
	const slow = "agent \"slow\" {\n  access = \"write\"\n  capabilities = [\"implement\"]\n  timeout_multiplier = 1.5\n}\n"
	step := func(more string) string {
		return "policy \"default\" {\n  default = true\n  step \"implement\" {\n    capabilities = [\"implement\"]\n" + more + "  }\n}\n"
	}
	for _, c := range []struct {
		name, policy, label string
		minutes             int64
	}{
		{"built in", "", "", 20},
		{"of the policy", step("timeout = \"30m\"\n"), "", 30},
		{"of the plan", step("timeout = \"30m\"\n"), "**Timeout**: 40m\n", 40},
		{"multiplied", slow + step("timeout = \"30m\"\n"), "", 45},
		{"multiplied in the plan", slow + step("timeout = \"30m\"\n"), "**Timeout**: 40m\n", 60},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := epicOf(t, compileWith(Options{}, "### Sprint 1.1: A\n"+c.label, c.policy)).Nodes[0]
			if got := n.Steps[0].Limits.TimeoutMS; got != c.minutes*60_000 || n.Limits.TimeoutMS != got {
				t.Errorf("%d ms, of the node %d, want %d minutes", got, n.Limits.TimeoutMS, c.minutes)
			}
		})
	}
}

// S0-139: an agent file that does not exist is a warning, an error with strict; a
// name finds its file without the ending.
func TestAgentFiles(t *testing.T) {
	const file = ".claude/agents/dev.md"
	for _, c := range []struct {
		name, label string
		exists      bool
		path        string
		missing     bool
	}{
		{"a path", file, true, file, false},
		{"a path without its ending", ".claude/agents/dev", true, file, false},
		{"a name", "`dev`", true, file, false},
		{"a name without a file", "`dev`", false, "", false},
		{"a path to nothing", file, false, file, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			plan := "### Sprint 1.1: A\n**Dev Agent**: " + c.label + "\n**Verify**: `make`\n"
			var files []string
			if c.exists {
				files = []string{file, "---\nname: dev\n---\nYou build.\n"}
			}
			out := compileWith(Options{}, plan, "agent \"x\" { access = \"read\" }\n", files...)
			a := epicOf(t, out).Agents["dev"]
			if a.Path != c.path || (a.Digest != "") != c.exists || has(out, "agent-file") != c.missing {
				t.Errorf("agent %+v:\n%s", a, printDiags(out))
			}
			strict := compileWith(Options{Strict: true}, plan, "", files...)
			wrong := false
			for _, d := range strict.Diags {
				wrong = wrong || d.Code == "agent-file" && d.Severity.String() == "error"
			}
			if wrong != c.missing {
				t.Errorf("strict: error %v:\n%s", wrong, printDiags(strict))
			}
		})
	}
}

// S0-140: the models of the seed are known by their short names, to dev and QA
// agents.
func TestModelsByTheirShortNames(t *testing.T) {
	for _, m := range []string{"sonnet", "opus", "haiku"} {
		e := epicOf(t, compileText("### Sprint 1.1: A\n**Dev Agent**: `dev` ("+m+")\n**QA Agents**: `qa` ("+strings.ToUpper(m)+")\n"))
		if e.Nodes[0].Steps[0].Model != m || e.Gates["1.1/qa"].Model != m || e.Models[m].ID == "" || e.Models[m].Provider != "anthropic" {
			t.Errorf("%s: step %q, gate %q, models %v", m, e.Nodes[0].Steps[0].Model, e.Gates["1.1/qa"].Model, e.Models)
		}
	}
}

// S0-144, S0-145: an output schema defines the verdict exactly, and a message;
// in a policy and in a plan.
func TestOutputSchemasGiveAVerdict(t *testing.T) {
	const message = `"message": {"type": "string"}`
	for _, c := range []struct{ name, properties, want string }{
		{"pass, fail, stop and a message", `"status": {"enum": ["pass", "fail", "stop"]}, ` + message, ""},
		{"a subset of the enum", `"status": {"enum": ["pass", "fail"]}, ` + message, "gate-output"},
		{"an empty enum", `"status": {"type": "string"}, ` + message, "gate-output"},
		{"a word more", `"status": {"enum": ["pass", "fail", "stop", "skip"]}, ` + message, "gate-output"},
		{"no status", message, "gate-output"},
		{"no message", `"status": {"enum": ["pass", "fail", "stop"]}`, "gate-output"},
	} {
		t.Run(c.name, func(t *testing.T) {
			schema := `{"type": "object", "required": ["status", "message"], "properties": {` + c.properties + "}}"
			policy := "gate \"qa\" {\n  kind = \"agent\"\n  agent = agent.reviewer\n  output_schema = jsonfile(\"qa.json\")\n}\n"
			plan := "### Sprint 1.1: A\n**QA Agents**: `qa`\n\n```json output=qa\n" + schema + "\n```\n"
			for where, out := range map[string]Output{
				"policy": compileWith(Options{}, "### Sprint 1.1: A\n", policy, "qa.json", schema),
				"plan":   compileText(plan),
			} {
				if out.Diags.HasErrors() != (c.want != "") || has(out, "gate-output") != (c.want != "") {
					t.Errorf("in the %s:\n%s", where, printDiags(out))
				}
			}
		})
	}
}

// K23: results come together in one of three ways, with pull requests for none,
// each node or the whole plan.
func TestIntegrationOfAnEpic(t *testing.T) {
	for _, c := range []struct{ name, policy, flag, want string }{
		{"built in", "", "", "dag none"},
		{"branch", "integration {\n  mode = \"branch\"\n  pr = \"plan\"\n}\n", "", "branch plan"},
		{"wait", "integration {\n  mode = \"wait\"\n  pr = \"node\"\n}\n", "", "wait node"},
		{"the flag wins", "integration { pr = \"plan\" }\n", "node", "dag node"},
		{"another mode", "integration { mode = \"octopus\" }\n", "", "policy-invalid-value"},
		{"another flag", "", "some", "unknown-pr"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := compileWith(Options{PR: c.flag}, "### Sprint 1.1: A\n", c.policy)
			if out.Diags.HasErrors() {
				if !has(out, c.want) {
					t.Error(printDiags(out))
				}
				return
			}
			if i := out.Results[0].Epic.Epic.Integration; i.Mode+" "+i.PR != c.want {
				t.Errorf("%s %s, want %s", i.Mode, i.PR, c.want)
			}
		})
	}
}

// K25: a session is fresh unless step, agent or plan says resume.
func TestSessions(t *testing.T) {
	const agent = "agent \"a\" {\n  access = \"write\"\n  capabilities = [\"implement\"]\n  session = \"resume\"\n}\n"
	step := func(s string) string {
		return "policy \"default\" {\n  default = true\n  step \"implement\" {\n    capabilities = [\"implement\"]\n" + s + "  }\n}\n"
	}
	for _, c := range []struct{ name, policy, label, want string }{
		{"nothing said", "", "", "fresh"},
		{"of the step", step("session = \"resume\"\n"), "", "resume"},
		{"of the agent", agent + step(""), "", "resume"},
		{"the step before the agent", agent + step("session = \"fresh\"\n"), "", "fresh"},
		{"of the plan", "", "**Session**: resume\n", "resume"},
		{"another word", step("session = \"reuse\"\n"), "", "policy-invalid-value"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := compileWith(Options{}, "### Sprint 1.1: A\n"+c.label, c.policy)
			if out.Diags.HasErrors() {
				if !has(out, c.want) {
					t.Error(printDiags(out))
				}
				return
			}
			if got := out.Results[0].Epic.Nodes[0].Steps[0].Session; got != c.want {
				t.Errorf("session %q, want %q", got, c.want)
			}
		})
	}
}

// K35: one budget of money, tokens and time, for the run and for each node; the
// plan's label says it for its sprint.
func TestBudgetsOfRunAndNode(t *testing.T) {
	policy := "budget {\n  usd = 20\n  tokens = 5000000\n  wall = \"3h\"\n  on_exceed = \"stop\"\n  per_node {\n    usd = 2.5\n    tokens = 400000\n    wall = \"1h\"\n  }\n}\n"
	e := epicOf(t, compileWith(Options{}, "### Sprint 1.1: A\n### Sprint 1.2: B\n**Budget**: $1\n", policy))
	got := []string{
		fmt.Sprintln(e.Run.Budget, e.Run.OnExceed), fmt.Sprint(e.Nodes[0].Limits.Budget), fmt.Sprint(e.Nodes[1].Limits.Budget.USDMicro),
	}
	want := []string{"{5000000 20000000 10800000} stop\n", "{400000 2500000 3600000}", "1000000"}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got %s, want %s", got[i], want[i])
		}
	}
	e = epicOf(t, compileText("### Sprint 1.1: A\n"))
	if none := (ir.Budget{}); e.Run.Budget != none || e.Nodes[0].Limits.Budget != none || e.Run.OnExceed != "pause" {
		t.Errorf("without a policy: %v %v %s", e.Run.Budget, e.Nodes[0].Limits.Budget, e.Run.OnExceed)
	}
}

// S4-93: how often, and after which pauses, a step is tried again.
func TestRetriesOfSteps(t *testing.T) {
	const retry = "policy \"default\" {\n  default = true\n  step \"implement\" {\n    retry {\n      attempts = 7\n      backoff = \"linear\"\n      initial = \"2s\"\n      max = \"1m\"\n      runner_retries = 1\n    }\n  }\n}\n"
	for _, c := range []struct{ name, policy, label, want string }{
		{"built in", "", "", "3 exponential 5000 300000 5"},
		{"of the policy", retry, "", "7 linear 2000 60000 1"},
		{"attempts of the plan", retry, "**Attempts**: 4\n", "4 linear 2000 60000 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := epicOf(t, compileWith(Options{}, "### Sprint 1.1: A\n"+c.label, c.policy)).Nodes[0].Steps[0]
			if got := fmt.Sprintf("%d %s %d %d %d", s.Limits.Attempts, s.Retry.Backoff, s.Retry.InitialMS, s.Retry.MaxMS, s.Limits.RunnerRetries); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// S0-58, S1-39, S3-13, S3-34; execution §4: who states attempts and no breaker means
// all of them.
func TestTheBreakerIsTheAttemptsThatAreStated(t *testing.T) {
	const plan = "### Sprint 1.1: A\n**Attempts**: 5\n"
	bead := txtar.Archive{Files: []txtar.File{{Name: "a.bead.json", Data: []byte(`{"id": "a", "intent": "Do it", "dod": {"verifiers": [{"name": "v", "command": "true"}]}, "constraints": {"max_iterations": 5}}`)}}}
	task := txtar.Archive{Files: []txtar.File{{Name: "a.task.json", Data: []byte(`{"id": "a", "description": "Do it", "workspaceRoot": "/w", "successCriteria": [{"type": "done_tag"}], "tokenBudget": 1000000, "maxIterations": 5}`)}}}
	scrum := txtar.Archive{Files: []txtar.File{{Name: "a.scrum.json", Data: []byte(`[{"id": "bd-a1", "title": "A", "issue_type": "beads-ralph-work", "status": "open", "metadata": {"max_retry_attempts": 5, "dev_prompts": ["Do it."]}}]`)}}}
	for _, c := range []struct {
		name, plan, policy string
		from               *txtar.Archive
		attempts, breaker  int
	}{
		{"nobody says anything", "### Sprint 1.1: A\n", "", nil, 3, 2},
		{"a label of the plan", plan, "", nil, 5, 5},
		{"a single attempt", "### Sprint 1.1: A\n**Attempts**: 1\n", "", nil, 1, 1},
		{"a Ralph bead", "", "", &bead, 5, 5},
		{"a task of a BeadManager", "", "", &task, 5, 5},
		{"a bead of scrum agents", "", "", &scrum, 5, 5},
		{"the policy's attempts are no statement", "### Sprint 1.1: A\n", "retry { attempts = 7 }\n", nil, 7, 2},
		{"the policy states a breaker for all", plan, "limits { breaker = 3 }\n", nil, 5, 3},
		{"the policy states one for the step", plan, "policy \"default\" {\n  default = true\n  step \"implement\" { breaker = 2 }\n}\n", nil, 5, 2},
		{"the policy states one for a level", plan, "complexity \"standard\" {\n  rank = 3\n  limits { breaker = 4 }\n}\n", nil, 5, 4},
		{"the sprint's fence states one", plan + "\n```hcl ralph\nbreaker = 3\n```\n", "", nil, 5, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := compileWith(Options{}, c.plan, c.policy)
			if c.from != nil {
				in, _ := goldenInput(t, c.from)
				out = Compile(in)
			}
			if len(out.Results) == 0 || out.Results[0].Epic == nil {
				t.Fatal(printDiags(out))
			}
			n := out.Results[0].Epic.Nodes[0]
			if l := n.Limits; l.Attempts != c.attempts || l.Breaker != c.breaker {
				t.Errorf("attempts %d, breaker %d; want %d, %d", l.Attempts, l.Breaker, c.attempts, c.breaker)
			}
		})
	}
}

// S4-71..83: what a policy says of an agent stands in the epic, the timeout
// multiplier in the timeouts.
func TestAgentsAreCarriedIntoTheEpic(t *testing.T) {
	policy := `
model "big" {
  id       = "big-1"
  provider = "acme"
}
runner "tool" {
  kind = "command"
  run  = ["./tool"]
}
agent "dev" {
  slug         = "senior"
  runner       = runner.tool
  model        = model.big
  access       = "write"
  capabilities = ["implement", "debug"]
  tags         = ["go"]
  session      = "resume"
  priority     = 2
  speed        = 3
}
agent "ada" {
  human        = true
  capabilities = ["human_review"]
}
policy "default" {
  default = true
  step "implement" { capabilities = ["implement"] }
  step "look" {
    capabilities = ["human_review"]
    access       = "read"
    approval     = ["bob"]
  }
}
`
	e := epicOf(t, compileWith(Options{}, "### Sprint 1.1: A\n", policy))
	a := e.Agents["dev"]
	if got := fmt.Sprintf("%s %s %s %s %v %v %s %v %v", a.Slug, a.Runner, a.Model, a.Access, a.Capabilities, a.Tags, a.Session, a.Human, a.Implicit); got != "senior tool big write [implement debug] [go] resume false false" {
		t.Error(got)
	}
	if m := e.Models["big"]; m.ID != "big-1" || m.Provider != "acme" || e.Runners["tool"].Kind != "command" {
		t.Errorf("model %+v, runner %+v", m, e.Runners["tool"])
	}
	if s := e.Nodes[0].Steps[0]; s.Agent != "dev" || s.Model != "big" {
		t.Errorf("the step is done by %s with %s", s.Agent, s.Model)
	}
	if s := e.Nodes[0].Steps[1]; s.Agent != "ada" || !e.Agents["ada"].Human {
		t.Errorf("the step of a person: %+v, agent %+v", s, e.Agents["ada"])
	}
}

// S4-26, S4-27, S4-70, K21: when people come in, and what follows when one does.
func TestRulesForPeople(t *testing.T) {
	policy := "hitl {\n  level = \"every-node\"\n  plan = \"required\"\n  approvers = [\"ada\"]\n  on_human_message = \"cooldown\"\n  idle_cooldown = \"10m\"\n}\n"
	e := epicOf(t, compileWith(Options{}, "### Sprint 1.1: A\n", policy))
	if got := fmt.Sprint(e.Run.HITL); got != "{every-node required [ada] map[] cooldown 600000}" {
		t.Error(got)
	}
	var people []string
	for _, s := range e.Nodes[0].Steps {
		for _, g := range s.Gates {
			if e.Gates[g].Kind == "human" {
				people = append(people, e.Gates[g].Approvers...)
			}
		}
	}
	if fmt.Sprint(people) != "[ada]" {
		t.Errorf("every-node: approvers %v of %+v", people, e.Nodes[0].Steps)
	}
	if h := epicOf(t, compileText("### Sprint 1.1: A\n")).Run.HITL; h.Level != "gates" || h.Plan != "auto" {
		t.Errorf("without a policy: %+v", h)
	}
}

// S0-53: a gate may say what it is given.
func TestInputOfAGate(t *testing.T) {
	policy := "gate \"qa\" {\n  kind = \"agent\"\n  agent = agent.reviewer\n  input_schema = jsonfile(\"in.json\")\n}\npolicy \"default\" {\n  default = true\n  step \"implement\" { gates = [gate.qa] }\n}\n"
	in := `{"properties":{"branch":{"type":"string"},"changed_files":{"items":{"type":"string"},"type":"array"},"worktree_path":{"type":"string"}},"type":"object"}`
	e := epicOf(t, compileWith(Options{}, "### Sprint 1.1: A\n", policy, "in.json", in))
	if got := string(e.Gates["qa"].InputSchema); got != in {
		t.Error(got)
	}
	if len(e.Files) != 1 || e.Files[0].Path != "in.json" || e.Files[0].Digest == "" {
		t.Errorf("files %+v", e.Files)
	}
}

// S4-27: what a person's message does, and how long the agent waits, hold for the
// items of the policy or the fence that says it; an item that has what the run has
// says nothing.
func TestPeopleInSessionsByPolicy(t *testing.T) {
	const policy = `
hitl {
  on_human_message = "review"
}
policy "pairing" {
  match {
    label = ["pair"]
  }
  hitl {
    on_human_message = "cooldown"
    idle_cooldown    = "90s"
  }
}
`
	const plan = "### Sprint 1.1: A\n\n**Labels**: pair\n\n### Sprint 1.2: B\n\n```hcl ralph\nhitl {\n  on_human_message = \"pause\"\n}\n```\n\n### Sprint 1.3: C\n"
	out := compileWith(Options{}, plan, policy)
	e := epicOf(t, out)
	want := map[ir.Key]ir.NodeHITL{
		"1.1": {OnHumanMessage: "cooldown", IdleCooldownMS: 90_000}, "1.2": {OnHumanMessage: "pause", IdleCooldownMS: 120_000}, "1.3": {OnHumanMessage: "review", IdleCooldownMS: 120_000},
	}
	for i := range e.Nodes {
		n := &e.Nodes[i]
		h := e.HITLOf(n)
		if got := (ir.NodeHITL{OnHumanMessage: h.OnHumanMessage, IdleCooldownMS: h.IdleCooldownMS}); got != want[n.Key] || (n.HITL == nil) != (n.Key == "1.3") {
			t.Errorf("%s: %+v, want %+v", n.Key, got, want[n.Key])
		}
	}
	if got := printDiags(out); strings.Contains(got, "setting-elsewhere") {
		t.Errorf("said to do nothing:\n%s", got)
	}
}
