package machine

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// A worker elsewhere has the epic and a request that went through JSON: what it tells the
// agent is byte for byte what the machine would, and no text of feedback goes twice.
func TestARequestIsPlainDataAndSaysAllThatAWorkerNeeds(t *testing.T) { // execution §3, §9
	seen, fedBack := map[executor.EffectKind]int{}, 0
	for seed := range seeds(t, 150) {
		walk(t, seed, 10, func(s *sim) {
			for _, e := range s.run.Todo(s.now).Start {
				q := s.run.Request(e)
				b, err := json.Marshal(q)
				if err != nil {
					t.Fatal(err)
				}
				var back executor.Request
				if err := json.Unmarshal(b, &back); err != nil {
					t.Fatal(err)
				}
				again, err := json.Marshal(&back)
				if err != nil || !bytes.Equal(again, b) {
					t.Fatalf("through JSON\n%s\nbecame\n%s", b, again)
				}
				back.Effect.Cost = e.Cost // of the machine alone
				if back.Effect.Key("") != e.Key("") || !reflect.DeepEqual(back.Outcome, q.Outcome) {
					t.Fatalf("%+v became %+v", q, back)
				}
				seen[e.Kind]++
				feedback := s.run.Node(e.Node).Feedback()
				if len(feedback) > 0 && len(back.Feedback) > 0 {
					fedBack++
				}
				switch e.Kind {
				case executor.EffectPull:
					if back.Pull == nil || back.Pull.Body == "" || *back.Pull != s.run.pullText(e) {
						t.Fatalf("seed %d: the pull request says %+v", seed, back.Pull)
					}
				case executor.EffectAgent:
					n, step := elsewhere(s.epic, &back)
					if got, want := back.Prompt(n, step, "- a file"), s.run.Node(e.Node).Prompt("- a file"); !bytes.Equal(got, want) {
						t.Fatalf("seed %d: a worker tells the agent\n%s\nand the machine would\n%s", seed, got, want)
					}
					fallthrough
				case executor.EffectGate, executor.EffectRed:
					want := s.run.Node(e.Node).Context()
					if g := s.epic.Gates[e.Gate]; e.Kind != executor.EffectAgent && (g.Kind == "review" || e.Agent == "" && g.Agent == "") {
						want = nil // nobody asks, or is blind
					}
					if got := executor.WithFeedback(back.Context, back.Feedback); !bytes.Equal(got, want) {
						t.Fatalf("seed %d: the context is\n%s\nwant\n%s", seed, got, want)
					}
					a, _ := s.run.Node(e.Node).Attempt(e.Step, e.Attempt)
					if e.Kind != executor.EffectAgent && strings.Join(back.Feedback[:back.Told], "\n") != strings.Join(a.Feedback, "\n") {
						t.Fatalf("seed %d: the agent was told %q, the gate hears %q", seed, a.Feedback, back.Feedback[:back.Told])
					}
				}
				late, err := json.Marshal([]any{back.Late, back.Context})
				if err != nil {
					t.Fatal(err)
				}
				for _, line := range feedback {
					if strings.HasPrefix(line, "Attempt ") && bytes.Contains(late, []byte(line)) {
						t.Fatalf("seed %d: %q goes twice", seed, line)
					}
				}
			}
		})
	}
	for _, kind := range []executor.EffectKind{executor.EffectAgent, executor.EffectGate, executor.EffectRed, executor.EffectCollect, executor.EffectDiagnose, executor.EffectPublish, executor.EffectPull} {
		if seen[kind] < 10 {
			t.Errorf("%d requests for %s were looked at", seen[kind], kind)
		}
	}
	if fedBack < 50 {
		t.Errorf("%d requests had feedback", fedBack)
	}
}

// elsewhere finds what a request is about as a worker does that has only the epic.
func elsewhere(epic *ir.Epic, q *executor.Request) (*ir.Node, *ir.Step) {
	n := &ir.Node{ID: q.Effect.Node, Key: ir.Key(q.Effect.Node)}
	for i := range epic.Nodes {
		if epic.Nodes[i].ID == q.Effect.Node {
			n = &epic.Nodes[i]
		}
	}
	for i := range n.Steps {
		if n.Steps[i].Name == q.Effect.Step {
			return n, &n.Steps[i]
		}
	}
	return n, q.Step
}
