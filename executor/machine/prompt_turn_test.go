package machine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// told walks to the end and returns what the agents of 1.1 were told, turn by turn.
func (s *stage) told() []string { return s.prompts("bd-1-1", "implement") }

func ofKind(kind string) func(*ir.Epic) {
	return func(e *ir.Epic) { r := e.Runners["sh"]; r.Kind = kind; e.Runners["sh"] = r }
}

func TestHowToReportDependsOnTheProgram(t *testing.T) { // the outcome channel; S4-46
	for kind, want := range map[string][2]string{
		"command":  {"the file that RALPH_OUTCOME names", "report_outcome"},
		"claude":   {"call the tool report_outcome", "RALPH_OUTCOME"},
		"opencode": {"call the tool report_outcome", "RALPH_OUTCOME"},
		"codex":    {"call the tool report_outcome", "RALPH_OUTCOME"},
		"acp":      {"call the tool report_outcome", "RALPH_OUTCOME"},
	} {
		s := newStage(t, []string{"1.1"}, ofKind(kind))
		s.begin()
		p := s.told()[0]
		wantIn(t, p, want[0], `{"result": "success", "summary": `)
		if strings.Contains(p, want[1]) {
			t.Errorf("an agent of runner %s is told of %s:\n%s", kind, want[1], p)
		}
		if kind != "command" {
			wantIn(t, p, "end your last message with this JSON object in a ```json fence", "get_context", "propose_work")
		}
	}
}

func TestATurnThatGoesOnIsToldWhy(t *testing.T) { // execution §3, §6; K25
	for name, c := range map[string]struct {
		change func(*ir.Epic)
		answer func(s *stage) func(executor.Effect) executor.Body
		want   []string // in the second turn
		not    string
	}{
		"cut": {
			answer: func(*stage) func(executor.Effect) executor.Body {
				return onKind(executor.EffectAgent, fails(executor.FailTransient))
			},
			want: []string{"Your turn was interrupted", "continue there; do not start over", "Do 1.1."},
		},
		"cut in the reminder": {
			answer: func(*stage) func(executor.Effect) executor.Body {
				return onKind(executor.EffectAgent, ended("", func(a *executor.AgentEnded) { a.Outcome.Invalid = "no JSON." }), fails(executor.FailCrash))
			},
			want: []string{"ended without a valid outcome: no JSON.\n", "only report it now"},
			not:  "do not begin anew",
		},
		"cut, and the session is lost": {
			answer: func(*stage) func(executor.Effect) executor.Body {
				return onKind(executor.EffectAgent, fails(executor.FailTransient), fails(executor.FailSession))
			},
			want: []string{"Do 1.1."},
			not:  "This turn",
		},
		"taken over": {
			change: onMessage("cooldown"),
			answer: func(s *stage) func(executor.Effect) executor.Body { return taken(&script{stage: s}, 1, "use bcrypt") },
			want:   []string{"A person took over meanwhile", "and report", "A person wrote in the session of attempt 1 of step implement:\n\n    use bcrypt"},
		},
		"taken over as a review": {
			change: onMessage("review"),
			answer: func(s *stage) func(executor.Effect) executor.Body { return taken(&script{stage: s}, 1, "use bcrypt") },
			want: []string{
				"## Feedback", "A person wrote in the session of attempt 1 of step implement:\n\n    use bcrypt",
				"Attempt 1 of step implement was given up: a person wrote in the agent's session: use bcrypt.",
			},
			not: "This turn",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, []string{"1.1"}, func(e *ir.Epic) {
				if c.change != nil {
					c.change(e)
				}
			})
			withSessions(&script{stage: s}, "one", "two")
			s.answer = c.answer(s)
			s.begin()
			got := s.told()
			last := got[len(got)-1]
			wantIn(t, last, c.want...)
			if c.not != "" && strings.Contains(last, c.not) {
				t.Errorf("the prompt says %q:\n%s", c.not, last)
			}
			s.is("1.1", executor.Done, "", "")
		})
	}
}

// Whatever becomes of a session, the next attempt is told what stands in the epic
// and on record: the same bytes.
func TestAPromptNeedsNoSession(t *testing.T) { // S2-42, S2-43, S2-44
	play := func(compacted bool) []string {
		s := newStage(t, []string{"1.1", "1.2: 1.1"}, ofKind("claude"), resuming)
		n := 0
		withSessions(&script{stage: s}, "one", "two", "three")
		s.answer = first(func(e executor.Effect) executor.Body {
			if e.Kind != executor.EffectAgent {
				return nil
			}
			n++
			return ended("success", func(a *executor.AgentEnded) {
				a.Outcome.Summary = fmt.Sprintf("summary %d", n)
				if a.Session = e.Session; compacted { // the program made a new session of the old one
					a.Session, a.Usage, a.Millis = fmt.Sprintf("compacted-%d", n), executor.Usage{Tokens: new(int64)}, 77
				}
			})
		}, verdicts(map[string][]executor.Verdict{"check": {executor.Fail, executor.Fail, executor.Pass}}))
		s.begin()
		var out []string
		for seen := map[string]bool{}; ; {
			var at executor.Effect
			s.until(func(e executor.Effect) bool {
				key := e.Key("")
				if e.Kind != executor.EffectAgent || seen[key] {
					return false
				}
				seen[key], at = true, e
				return true
			})
			if at.Kind == "" {
				return out
			}
			out = append(out, string(s.run.Node(at.Node).Prompt()))
			if compacted { // another process goes on, from the journal alone
				flying := s.flying
				s.replay()
				s.flying = flying
				if again := string(s.run.Node(at.Node).Prompt()); again != out[len(out)-1] {
					t.Errorf("after a restart the prompt is\n%s\nwas\n%s", again, out[len(out)-1])
				}
			}
		}
	}
	calm, compacted := play(false), play(true)
	if len(calm) != 4 || len(compacted) != len(calm) {
		t.Fatalf("%d and %d turns, want 4", len(calm), len(compacted))
	}
	for i := range calm {
		if calm[i] != compacted[i] {
			t.Errorf("turn %d is told\n%s\nand after a compaction\n%s", i+1, calm[i], compacted[i])
		}
	}
	wantIn(t, calm[2], "Feedback", "check says fail", "summary 2")
	wantIn(t, calm[3], "Do 1.2.")
}

// A command has no session, and another agent may stand in: the answer alone says
// nothing to somebody who does not know what was asked.
func TestAnAnswerComesWithItsQuestion(t *testing.T) {
	s := newStage(t, []string{"1.1"})
	ask := executor.AgentEnded{End: executor.EndExited, Outcome: executor.Outcome{Result: "partial", Summary: "In which language?", NeedsHuman: true}}
	s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {ask, failed(), executortest.Success()}})
	s.begin()
	s.end()
	s.is("1.1", executor.Waiting, executor.CauseQuestion, "")
	if err := s.say("1.1", executor.Decision{Verb: executor.RetryNode, Message: "German"}); err != nil {
		t.Fatal(err)
	}
	s.begin()
	got := s.told()
	if len(got) != 2 {
		t.Fatalf("%d turns, want 2", len(got))
	}
	for _, prompt := range got {
		wantIn(t, prompt, "Attempt 1 of step implement asked:\n\n    In which language?\n\nann says:\n\n    German\n")
	}
}

func TestWhatAnAttemptIsFailedForIsStillInTheWorktree(t *testing.T) {
	const said = "Your worktree holds what was kept of that attempt"
	for name, c := range map[string]struct {
		change func(*ir.Epic)
		none   bool // nothing was kept
		want   bool
	}{
		"where the next one goes on from it":    {nil, false, true},
		"not where it begins at the step's own": {func(e *ir.Epic) { e.Nodes[0].Steps[0].OnFailure = "reset" }, false, false},
		"not where nothing was kept":            {nil, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			var change []func(*ir.Epic)
			if c.change != nil {
				change = append(change, c.change)
			}
			s := newStage(t, []string{"1.1"}, change...)
			s.answer = func(e executor.Effect) executor.Body {
				if e.Kind == executor.EffectCollect && e.Attempt == 1 && c.none {
					return executor.Collected{Result: executor.Tree{Commit: e.Start, Tree: "x"}, Problems: []string{"it deleted its worktree"}}
				}
				if e.Kind == executor.EffectCollect && e.Attempt == 1 {
					return executor.Collected{Result: executor.Tree{Commit: "x", Tree: "x"}, Problems: []string{"outside what the sprint owns (a): b"}}
				}
				return nil
			}
			s.begin()
			got := s.told()
			if len(got) != 2 {
				t.Fatalf("%d turns, want 2", len(got))
			}
			if is := strings.Contains(got[1], said); is != c.want {
				t.Errorf("told: %v, want %v\n%s", is, c.want, got[1])
			}
		})
	}
}
