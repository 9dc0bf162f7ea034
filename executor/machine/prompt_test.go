package machine_test

import (
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// prompts walks to the end and returns what the agent of a step was told, turn
// by turn; extra is asked first what an effect reports.
func (s *stage) prompts(node ir.NodeID, step string) []string {
	var out []string
	s.until(func(e executor.Effect) bool {
		if e.Node == node && e.Step == step && e.Kind == executor.EffectAgent {
			out = append(out, string(s.run.Node(node).Prompt()))
		}
		return false
	})
	return out
}

func wantIn(t *testing.T, prompt string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(prompt, p) {
			t.Errorf("the prompt lacks %q:\n%s", p, prompt)
		}
	}
}

func TestThePromptOfAMergeNamesWhatConflicts(t *testing.T) { // execution §3 "several dependencies"
	s := newStage(t, []string{"1.1", "1.2", "1.3: 1.1 1.2"})
	s.answer = func(e executor.Effect) executor.Body {
		switch {
		case e.Kind == executor.EffectBase && e.Node == "bd-1-3":
			return executor.EffectFailed{Class: executor.FailConflict, Detail: "no", Paths: []string{"a.go", "b.go"}}
		case e.Kind == executor.EffectCollect && e.Merge && e.Attempt == 1:
			return executor.Collected{Result: executor.Tree{Commit: "x", Tree: "x"}, Problems: []string{"a.go holds conflict markers"}}
		}
		return nil
	}
	s.begin()
	got := s.prompts("bd-1-3", executor.MergeStep)
	if len(got) != 2 {
		t.Fatalf("%d turns, want 2", len(got))
	}
	wantIn(t, got[0], "Resolve it", "- 1.1: Sprint 1.1 (branch ralph/x/1-1)", "- 1.2: Sprint 1.2", "- a.go\n- b.go", "Do 1.3.", "How to report")
	wantIn(t, got[1], "Feedback", "a.go holds conflict markers")
	s.is("1.3", executor.Done, "", "")
}

func TestThePromptAsksOnceForAnOutcome(t *testing.T) { // execution §4 "no valid outcome after one reminder"; S4-48
	for name, c := range map[string]struct {
		second executor.AgentEnded
		turns  int
		status executor.NodeStatus
	}{
		"that then comes": {executortest.Success(), 2, executor.Done},
		"and not twice":   {executor.AgentEnded{End: executor.EndExited, Outcome: executor.Outcome{Invalid: "no JSON"}}, 2, executor.Blocked},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, []string{"1.1"}, func(e *ir.Epic) {
				e.Nodes[0].Steps[0].Limits.Attempts, e.Nodes[0].Steps[0].Limits.Iterations = 1, 1
			})
			s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {
				{End: executor.EndExited, Outcome: executor.Outcome{Invalid: "no JSON"}}, c.second,
			}})
			s.begin()
			got := s.prompts("bd-1-1", "implement")
			if len(got) != c.turns {
				t.Fatalf("%d turns, want %d", len(got), c.turns)
			}
			if strings.Contains(got[0], "This turn") {
				t.Errorf("the first turn is told of another:\n%s", got[0])
			}
			wantIn(t, got[1], "ended without a valid outcome: no JSON", "only report it")
			s.is("1.1", c.status, "", "")
		})
	}
}

func TestThePromptNamesTheLastAttemptOfAnOlderLife(t *testing.T) { // execution §3 "the prompt names the last one"
	s := newStage(t, []string{"1.1"})
	s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {failed(), failed(), failed()}})
	s.begin()
	s.end()
	s.is("1.1", executor.Blocked, "", "")
	commit := s.view("1.1").Attempts[2].Commit
	s.epic = executortest.Epic([]string{"1.1"}, func(e *ir.Epic) { e.Nodes[0].Prompt, e.Digest = []string{"Do it otherwise."}, "sha256:other" })
	s.replay()
	s.answer = nil
	s.begin()
	got := s.prompts("bd-1-1", "implement")
	if len(got) != 1 {
		t.Fatalf("%d turns, want 1", len(got))
	}
	wantIn(t, got[0], "Do it otherwise.", "attempt 3 of step implement (failed)", commit)
	if strings.Contains(got[0], "Feedback") {
		t.Errorf("the feedback of an older life is still given:\n%s", got[0])
	}
	s.is("1.1", executor.Done, "", "")
	if a := s.view("1.1").Attempts; len(a) != 4 || a[3].Number != 4 {
		t.Errorf("attempts %+v: numbers never restart", a)
	}
}

func TestFeedbackIsKeptInTheLog(t *testing.T) { // written by ralph from every gate and check, kept, and shown
	s := newStage(t, []string{"1.1"})
	judged := 0
	s.answer = func(e executor.Effect) executor.Body {
		if e.Kind == executor.EffectGate && e.Node == "bd-1-1" {
			if judged++; judged == 1 {
				return executor.GateJudged{Gate: e.Gate, Verdict: executor.Fail, Message: "--- FAIL: TestX", Tests: "fail"}
			}
		}
		return nil
	}
	s.begin()
	s.end()
	a := s.view("1.1").Attempts
	if len(a) != 2 || len(a[0].Feedback) > 0 || !strings.Contains(strings.Join(a[1].Feedback, "\n"), "Gate check: fail\n\n    --- FAIL: TestX") {
		t.Errorf("attempts %+v", a)
	}
}

// S2-06: a step that looks around is told that alone, and the next one what it found
// and left.
func TestAStepOfItsOwnPromptIsToldThatAlone(t *testing.T) {
	s := newStage(t, []string{"1.1"}, func(e *ir.Epic) {
		look := executortest.Step("explore")
		look.Access, look.Prompt = "read", []string{"Look around."}
		e.Nodes[0].Steps = append([]ir.Step{look}, e.Nodes[0].Steps...)
	})
	s.begin()
	var looks, works string
	s.until(func(e executor.Effect) bool {
		switch {
		case e.Kind != executor.EffectAgent:
		case e.Step == "explore":
			looks = string(s.run.Node(e.Node).Prompt())
		default:
			works = string(s.run.Node(e.Node).Prompt("- /files/findings.md"))
		}
		return false
	})
	wantIn(t, looks, "Look around.", "How to report")
	wantIn(t, works, "Do 1.1.", "- /files/findings.md")
	if strings.Contains(looks, "Do 1.1.") || strings.Contains(works, "Look around.") || strings.Contains(looks, "earlier steps left") {
		t.Errorf("explore:\n%s\nimplement:\n%s", looks, works)
	}
}
