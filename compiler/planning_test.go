package compiler

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ralph-compiler/ralph/ir"
)

// wished is the epic of a draft under a policy; it fails where there is none.
func wished(t *testing.T, policy string, w Wish, o Options) *ir.Epic {
	t.Helper()
	out := planning(policy, w, o)
	if out.Diags.HasErrors() {
		t.Fatal(printDiags(out))
	}
	return out.Results[0].Epic
}

func planning(policy string, w Wish, o Options) Output {
	if w.Plan == "" {
		w.Plan = "plans/login.md"
	}
	if w.Brief == nil {
		w.Brief = []string{"Add a sign-in page", "", "REQ-001: it works."}
	}
	w.Approver = "ada"
	w.Prompt = func(p Planned) []string {
		return []string{fmt.Sprintf("plan; explored %t, reviewed %t, person %t, gates %d", p.Explored, p.Reviewed, p.Person, len(p.Policy.Gates))}
	}
	w.Explore = func(later bool) []string { return []string{fmt.Sprintf("explore; later %t", later)} }
	return Planning(Input{Policy: []Source{{Path: "ralph.hcl", Bytes: []byte(policy)}}, Project: fstest.MapFS{}, Options: o}, w)
}

// shape writes the steps of a draft in a line each.
func shape(e *ir.Epic) string {
	var b strings.Builder
	for _, s := range e.Nodes[0].Steps {
		fmt.Fprintf(&b, "%s %s %v %s %s ×%d %v %q\n", s.Name, s.Agent, s.Fallback, s.Access, s.Session, s.Limits.Attempts, s.Gates, s.Prompt)
	}
	return b.String() + strings.Join(e.Nodes[0].Prompt, "\n")
}

const plannersPolicy = `
runner "sh" {
  kind = "command"
  run  = ["./agent.sh"]
}
agent "planner" {
  runner       = runner.claude
  capabilities = ["plan"]
  access       = "write"
}
agent "second" {
  runner       = runner.sh
  capabilities = ["plan"]
  access       = "write"
}
agent "near" {
  runner       = runner.sh
  capabilities = ["review"]
  access       = "read"
}
agent "far" {
  runner       = runner.sh
  capabilities = ["review"]
  access       = "read"
}
gate "unit" { run = "make test" }
rule "never" {
  assert  = false
  message = "no work at all"
}
budget { usd = 1 }
hitl { level = "none" }
policy "default" {
  step "implement" { gates = [gate.unit] }
  step "release" { agent = agent.second }
}
`

const explorersPolicy = `
agent "zoe" {
  runner       = runner.sh
  capabilities = ["explore"]
  access       = "read"
}
agent "bea" {
  runner       = runner.sh
  capabilities = ["explore", "review"]
  access       = "read"
}
agent "off" {
  runner       = runner.sh
  capabilities = ["explore"]
  access       = "read"
  active       = false
}
agent "ann" {
  human        = true
  capabilities = ["explore"]
}
`

// S2-01, S2-02, S2-10: only the built-in policy and the block draft say how a plan is
// written.
func TestADraftIsAnEpicOfOneNode(t *testing.T) {
	for name, c := range map[string]struct {
		policy string
		wish   Wish
		opts   Options
		want   string
	}{
		"nothing said": {
			want: "explore reviewer [] read fresh ×3 [] [\"explore; later false\"]\n" +
				"plan default [] write resume ×5 [compiles approval] []\n" +
				"plan; explored true, reviewed false, person true, gates 1",
		},
		"agents, and nobody who explores": {
			policy: plannersPolicy,
			want: "plan planner [] write resume ×5 [compiles approval] []\n" +
				"plan; explored false, reviewed false, person true, gates 2",
		},
		"the block draft": {
			policy: plannersPolicy + `draft {
  agents    = [agent.second, agent.planner]
  explorers = [agent.near, agent.far]
  attempts  = 4
  review    = agent.far
}`,
			want: "explore near [] read fresh ×3 [] [\"explore; later false\"]\n" +
				"explore-2 far [] read fresh ×3 [] [\"explore; later true\"]\n" +
				"plan second [planner] write fresh ×4 [compiles review approval] []\n" +
				"plan; explored true, reviewed true, person true, gates 2",
		},
		"all who explore, as they are declared": {
			policy: plannersPolicy + explorersPolicy,
			want: "explore zoe [] read fresh ×3 [] [\"explore; later false\"]\n" +
				"explore-2 bea [] read fresh ×3 [] [\"explore; later true\"]\n" +
				"plan planner [] write resume ×5 [compiles approval] []\n" +
				"plan; explored true, reviewed false, person true, gates 2",
		},
		"nobody looks around": {
			policy: plannersPolicy + explorersPolicy + "draft { explorers = [] }\n",
			want: "plan planner [] write resume ×5 [compiles approval] []\n" +
				"plan; explored false, reviewed false, person true, gates 2",
		},
		"nobody looks around, and no agents": {
			policy: "draft { explorers = [] }\n",
			want: "plan default [] write resume ×5 [compiles approval] []\n" +
				"plan; explored false, reviewed false, person true, gates 1",
		},
		"flags": {
			policy: plannersPolicy, wish: Wish{Agent: "second", Attempts: 7, Approved: true},
			want: "plan second [] write fresh ×7 [compiles] []\n" +
				"plan; explored false, reviewed false, person false, gates 2",
		},
		"a critical wish": { // S2-46…S2-49
			policy: plannersPolicy, wish: Wish{Brief: []string{"Add authentication"}},
			want: "plan planner [] write resume ×8 [compiles approval] []\n" +
				"plan; explored false, reviewed false, person true, gates 2",
		},
		"a level by flag": {
			policy: plannersPolicy, opts: Options{Complexity: "trivial"},
			want: "plan planner [] write resume ×2 [compiles approval] []\n" +
				"plan; explored false, reviewed false, person true, gates 2",
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := wished(t, c.policy, c.wish, c.opts)
			if got := shape(e); got != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
			n := &e.Nodes[0]
			if e.Epic.ID != "draft-login" || n.ID != "draft-login-1" || n.Key != "1" || fmt.Sprint(n.Scope.Owns) != "[plans/login.md]" {
				t.Errorf("%s, node %s (%s) owns %v", e.Epic.ID, n.Key, n.ID, n.Scope.Owns)
			}
			if in := e.Epic.Integration; in.Mode != "none" || in.Branch != "" || len(in.Gates) > 0 {
				t.Errorf("integration: %+v", in)
			}
			if e.Run.Budget != (ir.Budget{}) || e.Run.HITL.Level != "gates" {
				t.Errorf("the project's budget, or its people's level: %+v %+v", e.Run.Budget, e.Run.HITL)
			}
		})
	}
}

// A policy that changed judges again.
func TestADraftKnowsThePolicyThatItIsJudgedBy(t *testing.T) {
	a, b := wished(t, "", Wish{}, Options{}), wished(t, plannersPolicy, Wish{Agent: "default"}, Options{})
	c := wished(t, plannersPolicy+"\n# a word\n", Wish{Agent: "default"}, Options{})
	if a.Nodes[0].Digest.Judge == b.Nodes[0].Digest.Judge || b.Nodes[0].Digest.Judge == c.Nodes[0].Digest.Judge || b.Nodes[0].Digest.Work != c.Nodes[0].Digest.Work {
		t.Errorf("%+v\n%+v\n%+v", a.Nodes[0].Digest, b.Nodes[0].Digest, c.Nodes[0].Digest)
	}
}

func TestADraftIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		policy string
		wish   Wish
		want   string
	}{
		"an agent that is not there":   {plannersPolicy, Wish{Agent: "planer"}, `Did you mean "planner"?`},
		"an agent that may only read":  {plannersPolicy, Wish{Agent: "near"}, "agent-access"},
		"a plan outside":               {"", Wish{Plan: "../x.md"}, "path-leaves-project"},
		"a policy that is wrong":       {"gate {", Wish{}, "policy"},
		"an explorer that is a person": {"agent \"ann\" {\n human = true\n}\ndraft { explorers = [agent.ann] }", Wish{}, "draft-agent"},
	} {
		t.Run(name, func(t *testing.T) {
			out := planning(c.policy, c.wish, Options{})
			if got := printDiags(out); !out.Diags.HasErrors() || !strings.Contains(got, c.want) {
				t.Errorf("want %s:\n%s", c.want, got)
			}
		})
	}
}

// A verdict about a plan holds for the policy that was there: for what its expressions
// read as well, and for the commit by which the plan is judged.
func TestTheGateOfADraftKnowsItsPolicy(t *testing.T) {
	digest := func(check string, committed map[string]string) string {
		out := Planning(Input{
			Policy:  []Source{{Path: "ralph.hcl", Bytes: []byte("gate \"unit\" { run = trimspace(file(\"check.txt\")) }")}},
			Project: fstest.MapFS{"check.txt": {Data: []byte(check)}},
		}, Wish{
			Plan: "plans/login.md", Brief: []string{"Add a sign-in page"}, Approver: "ada", Committed: committed,
			Prompt: func(Planned) []string { return []string{"plan"} }, Explore: func(bool) []string { return []string{"explore"} },
		})
		if out.Diags.HasErrors() {
			t.Fatal(printDiags(out))
		}
		return out.Results[0].Epic.Gates[CompilesGate].Policy
	}
	now := digest("make", map[string]string{"ralph.hcl": "1", "check.txt": "1", "main.go": "1"})
	for what, c := range map[string]struct {
		got  string
		same bool
	}{
		"other code":              {digest("make", map[string]string{"ralph.hcl": "1", "check.txt": "1", "main.go": "2"}), true},
		"an input changed here":   {digest("true", map[string]string{"ralph.hcl": "1", "check.txt": "1"}), false},
		"an input was committed":  {digest("make", map[string]string{"ralph.hcl": "1", "check.txt": "2"}), false},
		"the policy was":          {digest("make", map[string]string{"ralph.hcl": "2", "check.txt": "1"}), false},
		"a policy file more":      {digest("make", map[string]string{"ralph.hcl": "1", "check.txt": "1", "policies/a.hcl": "1"}), false},
		"no policy file, beside":  {digest("make", map[string]string{"ralph.hcl": "1", "check.txt": "1", "policies/a.md": "1", "policies/x/a.hcl": "1"}), true},
		"nothing committed of it": {digest("make", nil), false},
	} {
		if (c.got == now) != c.same {
			t.Errorf("%s: same %t, want %t", what, c.got == now, c.same)
		}
	}
}
