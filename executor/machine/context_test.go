package machine_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

func TestAnAgentMayAskForItsTask(t *testing.T) { // get_context
	s := newStage(t, []string{"1.1", "1.2: 1.1"}, func(e *ir.Epic) {
		n := &e.Nodes[1]
		n.Goal, n.Acceptance = "People log in", []string{"a <b> works"}
		n.Tasks = []ir.Task{{Text: "a table", Detail: []string{"with an index"}}}
		n.Scope = ir.Scope{Owns: []string{"auth/**"}}
		review := executortest.Step("review", "check")
		review.Access, review.Next = "read", "implement"
		n.Steps = append(n.Steps, review)
	})
	said := func(what string) executor.AgentEnded {
		return ended("success", func(a *executor.AgentEnded) { a.Outcome.Summary = what })
	}
	s.answer = first(agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {said("made the store")}, "bd-1-2": {said("made the table")}}),
		func(e executor.Effect) executor.Body {
			if e.Kind == executor.EffectGate && e.Step == "review" && e.Attempt == 1 {
				return executor.GateJudged{Gate: e.Gate, Verdict: executor.Fail, Message: "no test", Tests: "fail"}
			}
			return nil
		})
	if s.run.Node("bd-1-2").Context() != nil {
		t.Error("there is something to ask for before anything began")
	}
	s.begin()
	seen := map[string]string{}
	s.until(func(e executor.Effect) bool {
		if e.Kind == executor.EffectAgent && e.Node == "bd-1-2" {
			seen[fmt.Sprintf("%s-%d", e.Step, e.Attempt)] = string(s.run.Node(e.Node).Context())
		}
		return false
	})
	spec := `{"sprint":"1.2","id":"bd-1-2","title":"Sprint 1.2","goal":"People log in","tasks":["a table\nwith an index"],"acceptance":["a <b> works"],` +
		`"paths":{"owns":["auth/**"],"files":null,"reads":null},`
	built := `"worktree_contains":[{"sprint":"1.1","title":"Sprint 1.1","summary":"made the store"}]`
	if want := spec + `"step":"review","attempt":1,` + built + `,"earlier_steps":[{"step":"implement","said":"made the table"}]}`; seen["review-1"] != want {
		t.Errorf("in the review\ngot  %s\nwant %s", seen["review-1"], want)
	}
	var again struct {
		Attempt  int
		Feedback string
	}
	if err := json.Unmarshal([]byte(seen["implement-2"]), &again); err != nil || again.Attempt != 2 || !strings.Contains(again.Feedback, "no test") {
		t.Errorf("after a fail %s, %v", seen["implement-2"], err)
	}
}

func TestTheAgentOfAMergeMayAskWhatConflicts(t *testing.T) { // execution §3
	s := newStage(t, joined)
	s.answer = conflictOf("bd-1-3")
	s.begin()
	got := ""
	s.until(func(e executor.Effect) bool {
		if e.Kind == executor.EffectAgent && e.Merge {
			got = string(s.run.Node(e.Node).Context())
		}
		return false
	})
	want := `{"sprint":"1.3","id":"bd-1-3","title":"Sprint 1.3","step":"merge","attempt":1,` +
		`"worktree_contains":[{"sprint":"1.1","title":"Sprint 1.1","summary":"done"},{"sprint":"1.2","title":"Sprint 1.2","summary":"done"}],"in_conflict":["a.go"]}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
