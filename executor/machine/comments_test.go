package machine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

func texts(list []machine.Comment) []string {
	var out []string
	for _, c := range list {
		out = append(out, c.Text)
	}
	return out
}

func TestEachIterationIsAStructuredComment(t *testing.T) { // S2-07, S2-22, S2-39, L2-04
	s := newStage(t, []string{"1.1"}, func(e *ir.Epic) {
		e.Gates["review"] = ir.Gate{Kind: "review", Agent: "dev", From: "policy", OnFailure: "retry", Prompt: []string{"Judge."}, Access: "read", TimeoutMS: 60_000}
		e.Nodes[0].Steps[0].Gates = []string{"check", "review"}
	})
	tries := 0
	s.answer = func(e executor.Effect) executor.Body {
		switch {
		case e.Kind == executor.EffectGate && e.Gate == "check":
			v := executortest.Verdict(e.Gate, executor.Pass)
			v.Tests, v.Counts = "pass", &executor.TestCounts{Passed: 11, Failed: 0, Skipped: 1}
			return v
		case e.Kind == executor.EffectGate && e.Gate == "review":
			if tries++; tries == 1 {
				v := executortest.Verdict(e.Gate, executor.Fail)
				v.Message = "the README is missing"
				return v
			}
		}
		return nil
	}
	s.begin()
	s.end()
	got := texts(s.run.Node("bd-1-1").Comments())
	want := []string{
		"[iter:1] [task:bd-1-1] [tests:11/0/1] [commits:1] implement #1 failed: gate review",
		"[VALIDATION REJECTED] [task:bd-1-1] implement #1, gate review: the README is missing",
		"[iter:2] [task:bd-1-1] [tests:11/0/1] [commits:1] implement #2 passed",
	}
	if len(got) != len(want) {
		t.Fatalf("got %q, want %q", got, want)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("comment %d: got %q, want it to begin %q", i, got[i], want[i])
		}
	}
	epic := texts(s.run.Node("").Comments())
	if len(epic) < 4 || !strings.HasPrefix(epic[0], "[run] started by tester") || !strings.HasPrefix(epic[1], want[0]) || !strings.Contains(epic[len(epic)-1], "1 done") {
		t.Errorf("of the epic: %q", epic)
	}
	before := s.run.Node("bd-1-1").Comments()
	s.now = s.now.Add(time.Hour)
	s.begin() // a replay says the same
	if after := s.run.Node("bd-1-1").Comments(); !slices.Equal(before, after) {
		t.Errorf("after a replay: %q, want %q", texts(after), texts(before))
	}
}

func TestTestsAreAWordWhereNoGateCountsThem(t *testing.T) { // S2-22, K31
	s := newStage(t, []string{"1.1"})
	s.answer = func(e executor.Effect) executor.Body {
		if e.Kind == executor.EffectGate {
			v := executortest.Verdict(e.Gate, executor.Pass)
			v.Tests = "pass"
			return v
		}
		return nil
	}
	s.begin()
	s.end()
	if got := texts(s.run.Node("bd-1-1").Comments()); len(got) != 1 || !strings.Contains(got[0], "[tests:pass]") {
		t.Errorf("got %q", got)
	}
}

func TestDecisionsOfPeopleAreComments(t *testing.T) {
	s := newStage(t, []string{"1.1", "1.2"})
	s.begin()
	s.ok("1.1", executor.Decision{Verb: executor.Pause, Message: "wait for the release"})
	s.ok("", executor.Decision{Verb: executor.Pause})
	got := s.run.Node("bd-1-1").Comments()
	if len(got) != 1 || got[0].Author != "ann" || !strings.HasPrefix(got[0].Text, "[decided] [task:bd-1-1] ann paused it at ") || !strings.HasSuffix(got[0].Text, ": wait for the release") {
		t.Errorf("got %+v", got)
	}
	if epic := texts(s.run.Node("").Comments()); !strings.HasPrefix(epic[1], "[decided] ann paused it") {
		t.Errorf("of the epic: %q", epic)
	}
}

func TestTheModeOfAnEpicFollowsItsRuns(t *testing.T) { // S2-03, S2-09, S2-30, S2-32, S2-34, S2-36, K14, K26
	s := newStage(t, []string{"1.1", "1.2: 1.1"}, func(e *ir.Epic) { e.Run.HITL.Plan = "required" })
	was := ""
	is := func(want, reason string) {
		t.Helper()
		got, why := s.run.Summary().Mode()
		if got != want || !strings.Contains(why, reason) {
			t.Fatalf("mode %s (%s), want %s (%s)", got, why, want, reason)
		}
		for _, next := range machine.ModePath(was, got) {
			if !oneMove(was, next) {
				t.Fatalf("%s cannot become %s", was, next)
			}
			was = next
		}
		if was != got {
			t.Fatalf("no way leads to %s", got)
		}
	}
	is(machine.ModePlanning, "waits for approval")
	s.ok("", executor.Decision{Verb: executor.Approve})
	is(machine.ModeReady, "approved")
	s.begin()
	is(machine.ModeBuilding, "tester")
	s.ok("", executor.Decision{Verb: executor.Pause})
	is(machine.ModePaused, "paused by ann")
	s.ok("", executor.Decision{Verb: executor.Resume})
	is(machine.ModeBuilding, "")
	s.put(executor.Event{Body: executor.RunDraining{Until: s.now}})
	is(machine.ModePaused, "interrupted")
	s.put(executor.Event{Body: executor.RunEnded{Interrupted: true, Counts: s.run.Summary().Counts()}})
	is(machine.ModePaused, "interrupted")
	s.begin()
	s.end()
	is(machine.ModeComplete, "2 done")
}

// Where starting ralph apply is the approval, an epic that was pushed waits for it.
func TestAnEpicIsPlannedUntilSomebodyStartsIt(t *testing.T) { // S2-03, S2-09, S2-34
	s := newStage(t, []string{"1.1"})
	if got, why := s.run.Summary().Mode(); got != machine.ModePlanning || !strings.Contains(why, "starting ralph apply approves it") {
		t.Errorf("before: %s (%s)", got, why)
	}
	s.begin()
	if got, _ := s.run.Summary().Mode(); got != machine.ModeBuilding {
		t.Errorf("started, it is %s", got)
	}
}

// S2-03, S2-09: what is drafted is planned until it compiled and was approved.
func TestADraftIsPlannedUntilItIsApproved(t *testing.T) {
	draft := func(e *ir.Epic) {
		e.Gates["compiles"] = ir.Gate{Kind: "compiles", Plan: "plans/x.md", Policy: "sha256:0", From: "builtin", OnFailure: "retry"}
		e.Nodes[0].Steps[0].Gates = []string{"compiles"}
		e.Epic.Integration = ir.Integration{Mode: "none", PR: "none"}
	}
	s := newStage(t, []string{"1.1"}, draft)
	is := func(want string) {
		t.Helper()
		if got, why := s.run.Summary().Mode(); got != want || !strings.Contains(why, "plans/x.md") {
			t.Errorf("mode %s (%s), want %s", got, why, want)
		}
	}
	is(machine.ModePlanning)
	s.begin()
	is(machine.ModePlanning)
	s.end()
	is(machine.ModeReady)

	s = newStage(t, []string{"1.1"}, draft)
	s.begin()
	s.ok("1.1", executor.Decision{Verb: executor.Cancel})
	is(machine.ModePlanning)
}

// oneMove reports whether an epic in one mode may become another without a third.
func oneMove(from, to string) bool {
	return slices.Contains(modeMoves[from], to)
}

// modeMoves are the transitions that a tracker may be told of, by the seed.
var modeMoves = map[string][]string{
	"":                   {machine.ModeCreated, machine.ModePlanning},
	machine.ModeCreated:  {machine.ModePlanning},
	machine.ModePlanning: {machine.ModeReady},
	machine.ModeReady:    {machine.ModeBuilding, machine.ModePlanning},
	machine.ModeBuilding: {machine.ModePaused, machine.ModeComplete},
	machine.ModePaused:   {machine.ModeBuilding, machine.ModePlanning, machine.ModeComplete},
	machine.ModeComplete: {machine.ModePlanning, machine.ModeReady, machine.ModePaused},
}

func TestInvalidTransitionsOfModesAreRefused(t *testing.T) { // S2-36
	for _, move := range [][2]string{
		{machine.ModeCreated, machine.ModeBuilding},
		{machine.ModePlanning, machine.ModeBuilding},
		{machine.ModePlanning, machine.ModeComplete},
		{machine.ModeReady, machine.ModeComplete},
		{machine.ModeComplete, machine.ModeBuilding},
		{machine.ModeReady, "done"},
	} {
		if path := machine.ModePath(move[0], move[1]); len(path) == 1 {
			t.Errorf("%s may become %s", move[0], move[1])
		}
	}
	all := []string{machine.ModeCreated, machine.ModePlanning, machine.ModeReady, machine.ModeBuilding, machine.ModePaused, machine.ModeComplete}
	for _, from := range append(all, "", "nonsense") {
		for _, to := range all[1:] {
			at := from
			if from == "nonsense" {
				at = ""
			}
			for _, next := range machine.ModePath(from, to) {
				if !oneMove(at, next) {
					t.Errorf("%s to %s: %s cannot become %s", from, to, at, next)
				}
				at = next
			}
			if at != to {
				t.Errorf("from %q no way leads to %s: it ends at %q", from, to, at)
			}
		}
	}
	if got := machine.ModePath("", machine.ModeBuilding); !slices.Equal(got, []string{machine.ModePlanning, machine.ModeReady, machine.ModeBuilding}) {
		t.Errorf("to building: %q", got)
	}
}
