package policies

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ralph-compiler/ralph/diag"
)

func TestRules(t *testing.T) {
	human := GateView{Name: "boss", Kind: "human"}
	critical := &NodeView{Key: "1.1", Title: "pay", Complexity: "critical"}
	approved := &NodeView{Key: "1.2", Complexity: "critical", Gates: []GateView{human}}
	plan := &PlanView{Title: "P", Nodes: []*NodeView{critical, approved}}
	tests := []struct {
		name, rule, want string
		eval             func(r *Rule) (*Finding, diag.List)
	}{
		{
			"a rule that is broken gives its message",
			"when = node.complexity == \"critical\"\n assert = anytrue([for g in node.gates : g.kind == \"human\"])\n message = \"sprint ${node.key} needs a person\"",
			"error: sprint 1.1 needs a person",
			func(r *Rule) (*Finding, diag.List) { return r.Node(critical, plan) },
		},
		{
			"a rule that holds gives nothing",
			"assert = anytrue([for g in node.gates : g.kind == \"human\"])\n message = \"x\"", "",
			func(r *Rule) (*Finding, diag.List) { return r.Node(approved, plan) },
		},
		{
			"a rule does not count where when is false",
			"when = node.complexity == \"trivial\"\n assert = false\n message = \"x\"", "",
			func(r *Rule) (*Finding, diag.List) { return r.Node(critical, plan) },
		},
		{
			"a rule over edges sees both ends",
			"over = \"edge\"\n severity = \"warning\"\n assert = edge.from.key != \"1.1\"\n message = \"${edge.from.key} ${edge.type} ${edge.to.key}\"",
			"warning: 1.1 blocks 1.2",
			func(r *Rule) (*Finding, diag.List) {
				return r.Edge(&EdgeView{From: critical, To: approved, Type: "blocks"}, plan)
			},
		},
		{
			"a rule over the plan sees its nodes",
			"over = \"plan\"\n severity = \"note\"\n assert = length([for n in plan.nodes : n if n.complexity == \"critical\"]) < 2\n message = \"${length(plan.nodes)} nodes\"",
			"note: 2 nodes",
			func(r *Rule) (*Finding, diag.List) { return r.Plan(plan) },
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := decodeText(t, "rule \"r\" {\n "+test.rule+"\n}")
			f, diags := test.eval(s.Rules[0])
			if len(diags) > 0 {
				t.Fatal(diags)
			}
			got := ""
			if f != nil {
				got = f.Severity.String() + ": " + f.Message
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// A misspelt attribute inside for over a list is found before any plan exists.
func TestRuleIsTriedOnASample(t *testing.T) {
	for _, src := range []string{
		`assert = anytrue([for g in node.gates : g.knid == "human"])`,
		`assert = alltrue([for a in node.agents : contains(a.capabilitys, "x")])`,
		"over = \"plan\"\n assert = alltrue([for n in plan.nodes : n.kee == \"\"])",
	} {
		text := "rule \"r\" {\n " + src + "\n message = \"x\"\n}"
		f := diag.NewFile("r.hcl", []byte(text))
		_, diags := Decode(Input{Files: []*diag.File{f}})
		if len(diags) != 1 || diags[0].Code != "policy-expression" {
			t.Errorf("%s: got %+v", src, diags)
		}
	}
}

func TestPerNodeExpressions(t *testing.T) {
	s := decodeText(t, `
gate "unit" {
  run     = "make test-${node.phase} IN=${run.worktree}"
  timeout = node.priority < 2 ? "20m" : "5m"
}
gate "static" { run = "make" }
policy "default" {
  default = true
  step "implement" {
    model = node.complexity == "critical" ? model.opus : "haiku"
    gates = concat([gate.unit], node.lane == "ui" ? ["static"] : [])
  }
}`)
	if g := s.Gates["static"]; g.Dynamic {
		t.Error("a gate without node.* is dynamic")
	} else if same, _ := g.For(&NodeView{}); same != g {
		t.Error("a static gate is copied")
	}
	a := &NodeView{Key: "2.1", Phase: "2", Priority: 1, Complexity: "critical", Lane: "ui"}
	b := &NodeView{Key: "3.1", Phase: "3", Priority: 3}
	for _, x := range []struct {
		v                 *NodeView
		run, model, gates string
		timeout           int64
	}{
		{a, "make test-2 IN=${run.worktree}", "opus", "unit static", 1_200_000},
		{b, "make test-3 IN=${run.worktree}", "haiku", "unit", 300_000},
	} {
		g, diags := s.Gates["unit"].For(x.v)
		if len(diags) > 0 || g.Run.V != x.run || g.TimeoutMS.V != x.timeout {
			t.Errorf("gate for %s: %q %d %v", x.v.Key, g.Run.V, g.TimeoutMS.V, diags)
		}
		p, diags := s.DefaultPolicy().For(x.v)
		if len(diags) > 0 || p.Steps[0].Model.V != x.model || strings.Join(p.Steps[0].Gates.V, " ") != x.gates {
			t.Errorf("policy for %s: %+v %v", x.v.Key, p.Steps[0].StepSettings, diags)
		}
	}
	// A mistake that shows only for one node is reported for that node.
	s = decodeText(t, "gate \"g\" {\n run = split(\"-\", node.lane)[1]\n}")
	if _, diags := s.Gates["g"].For(a); !diags.HasErrors() {
		t.Error("an index that does not exist is not reported")
	}
}

func TestPerNodeFilesAreRecorded(t *testing.T) {
	f := diag.NewFile("r.hcl", []byte("gate \"g\" {\n agent = agent.default\n prompt = file(\"asks/${node.phase}.md\")\n}"))
	s, diags := Decode(Input{Files: []*diag.File{f}, Project: fstest.MapFS{"asks/2.md": {Data: []byte("look")}, "asks/1.md": {Data: []byte("a")}}})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if len(s.Files) != 0 {
		t.Errorf("what the sample read is recorded: %+v", s.Files)
	}
	g, diags := s.Gates["g"].For(&NodeView{Phase: "2"})
	if len(diags) > 0 || g.Prompt.V != "look" || len(g.Files) != 1 || g.Files[0].Path != "asks/2.md" || g.Files[0].For != "gate.g.prompt" {
		t.Errorf("got %q %+v %v", g.Prompt.V, g.Files, diags)
	}
}

// S4-22, S4-91
func TestMatching(t *testing.T) {
	s := decodeText(t, `
policy "ui" {
  match {
    lane = ["ui"]
  }
}
policy "web" {
  match {
    paths = ["web/**"]
  }
}
policy "urgent" {
  priority = 5
  match {
    priority = [0, 1]
    label    = "hot"
  }
}`)
	for _, x := range []struct {
		name string
		v    NodeView
		want string
	}{
		{"nothing fits", NodeView{Lane: "api", Priority: 2}, ""},
		{"one fits", NodeView{Lane: "ui", Priority: 2}, "ui"},
		{"two fit and are told to the user", NodeView{Lane: "ui", Paths: []string{"web/a/b.ts"}}, "ui web"},
		{"the higher priority decides", NodeView{Lane: "ui", Priority: 0, Labels: []string{"x", "Hot"}}, "urgent"},
		{"all attributes must fit", NodeView{Priority: 0}, ""},
	} {
		var got []string
		for _, p := range s.Matching(&x.v) {
			got = append(got, p.Name)
		}
		if strings.Join(got, " ") != x.want {
			t.Errorf("%s: got %v, want %q", x.name, got, x.want)
		}
	}
}

// What is evaluated for each node. A policy has a budget for that, which is spent after some
// thousand nodes; then nothing is evaluated any more.
func BenchmarkPerNode(b *testing.B) {
	f := diag.NewFile("r.hcl", []byte(`
gate "unit" {
  run = "make test-${node.phase}"
}
policy "default" {
  default = true
  step "implement" {
    model = node.complexity == "critical" ? "opus" : "haiku"
    gates = [gate.unit]
  }
}
rule "r" {
  when    = node.complexity == "critical"
  assert  = anytrue([for g in node.gates : g.kind == "human"])
  message = "x"
}`))
	each := func(name string, evaluate func(s *Set) diag.List) {
		b.Run(name, func(b *testing.B) {
			var s *Set
			for i := 0; b.Loop(); i++ {
				if i%1000 == 0 {
					b.StopTimer()
					s, _ = Decode(Input{Files: []*diag.File{f}})
					b.StartTimer()
				}
				if diags := evaluate(s); diags.HasErrors() {
					b.Fatal(diags)
				}
			}
		})
	}
	each("rule", func(s *Set) diag.List {
		_, diags := s.Rules[0].Node(&NodeView{Key: "1.1", Complexity: "critical", Gates: []GateView{{Kind: "human"}}}, nil)
		return diags
	})
	each("gate", func(s *Set) diag.List {
		_, diags := s.Gates["unit"].For(&NodeView{Phase: "1"})
		return diags
	})
	each("policy", func(s *Set) diag.List {
		_, diags := s.DefaultPolicy().For(&NodeView{Phase: "1"})
		return diags
	})
	each("complexity", func(s *Set) diag.List {
		s.MatchComplexity("Add the payment page and its tests", "People can pay with a card or by invoice", []string{"write the page", "write the tests"})
		return nil
	})
}
