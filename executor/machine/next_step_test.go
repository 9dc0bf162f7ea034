package machine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// threeSteps are a design, its implementation and a review that goes back to the
// implementation.
func threeSteps(e *ir.Epic) {
	review := executortest.Step("review")
	review.Access, review.Next = "read", "implement"
	e.Nodes[0].Steps = []ir.Step{executortest.Step("design"), executortest.Step("implement", "check"), review}
}

// trail is the steps of the attempts that ended, each with what its end noted.
func (s *stage) trail() string {
	var out []string
	for _, e := range s.events {
		if end, ok := e.Body.(executor.AttemptEnded); ok && e.Node == "bd-1-1" {
			word := e.Step
			if end.Note != "" {
				word += " [" + end.Note + "]"
			}
			out = append(out, word)
		}
	}
	return strings.Join(out, " ")
}

func TestASuggestedStepIsTakenWhereThePlanGoesBack(t *testing.T) { // S4-44, S4-92
	const compiled = "design implement review implement review"
	note := func(step string) string {
		return "design implement review [suggested next step is not one that a failure may go to: " + step + "] implement review"
	}
	for suggested, want := range map[string]string{
		"":          compiled,
		"implement": compiled,                                          // where the plan goes
		"design":    "design implement review design implement review", // where a failure before it goes
		"review":    note("review"),                                    // where none goes
		"deploy":    note("deploy"),                                    // what does not exist
	} {
		s := newStage(t, []string{"1.1"}, threeSteps)
		s.answer = onKind(executor.EffectAgent, ended("success"), ended("success"),
			ended("failed", func(a *executor.AgentEnded) { a.Outcome.SuggestedNext = suggested }))
		s.begin()
		s.end()
		s.is("1.1", executor.Done, "", "")
		if got := s.trail(); got != want {
			t.Errorf("after a failure that suggests %q:\ngot  %s\nwant %s", suggested, got, want)
		}
	}
}

func TestASuggestedStepAheadIsNotTaken(t *testing.T) { // S4-44
	s := newStage(t, []string{"1.1"}, threeSteps)
	s.answer = onKind(executor.EffectAgent, ended("failed", func(a *executor.AgentEnded) { a.Outcome.SuggestedNext = "implement" }))
	s.begin()
	s.end()
	if got, want := s.trail(), "design [suggested next step is not one that a failure may go to: implement] design implement review"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestASuggestionOfASuccessIsNoted(t *testing.T) { // S4-44
	s := newStage(t, []string{"1.1"}, threeSteps)
	s.answer = onKind(executor.EffectAgent, ended("success"), ended("success", func(a *executor.AgentEnded) { a.Outcome.SuggestedNext = "design" }))
	s.begin()
	s.end()
	if got, want := s.trail(), "design implement [suggested next step ignored, since the attempt passed: design] review"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAnOutcomeSaysWhetherTheAttemptGoesOn(t *testing.T) { // S4-41, S4-42; execution §4
	for _, c := range []struct {
		result, action string
		turns          int
		status         executor.AttemptStatus
	}{
		{"success", "", 1, executor.AttemptPassed},
		{"success", "advance_phase", 1, executor.AttemptPassed},
		{"success", "none", 1, executor.AttemptPassed},
		{"success", "repeat_phase", 2, executor.AttemptPassed},
		{"", "repeat_phase", 2, executor.AttemptPassed},
		{"partial", "", 2, executor.AttemptPassed},
		{"partial", "advance_phase", 2, executor.AttemptPassed},
		{"failed", "repeat_phase", 1, executor.AttemptFailed},
	} {
		t.Run(fmt.Sprintf("%q and %q", c.result, c.action), func(t *testing.T) {
			s := newStage(t, []string{"1.1"}, step(func(s *ir.Step) { s.Limits.Iterations, s.Limits.Attempts = 3, 1 }))
			s.answer = onKind(executor.EffectAgent, ended(c.result, func(a *executor.AgentEnded) { a.Outcome.NextAction = c.action }))
			s.begin()
			s.until(nil)
			a := s.view("1.1").Attempts
			if len(a) != 1 || a[0].Turns != c.turns || a[0].Status != c.status {
				t.Errorf("got %+v; want %d turns, %s", a, c.turns, c.status)
			}
		})
	}
}
