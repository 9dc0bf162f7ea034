package bd

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

func TestATransitionCostsFewCalls(t *testing.T) { // issue: five calls for one step and one attempt, one more per further step, two per further attempt; S2-15..24
	for _, of := range []struct {
		name        string
		steps, fail int
		most        int
	}{{"one step", 1, 0, 5}, {"two steps", 2, 0, 6}, {"three steps", 3, 0, 7}, {"four steps, two attempts", 4, 1, 10}, {"two attempts", 1, 1, 7}, {"three attempts", 1, 2, 9}} {
		t.Run(of.name, func(t *testing.T) {
			if testing.Short() && of.steps+of.fail > 2 {
				t.Skip("every call of bd is a process")
			}
			s := newScene(t, []string{"1.1"}, func(e *ir.Epic) {
				for i := range of.steps - 1 {
					e.Nodes[0].Steps = append(e.Nodes[0].Steps, executortest.Step(fmt.Sprintf("review-%d", i+1), "check"))
				}
			})
			failures := 0
			s.answer = func(e executor.Effect) executor.Body {
				if e.Kind == executor.EffectGate && failures < of.fail {
					failures++
					return executortest.Verdict(e.Gate, executor.Fail)
				}
				return nil
			}
			s.open()
			s.begin()
			phases := map[string]bool{}
			s.play(func() { // the mirror keeps up with every event: nothing is coalesced
				s.settle(false)
				if b := s.bead("bd-1-1"); b.Status == "in_progress" {
					l := s.labels("bd-1-1", "phase:")
					if strings.Count(l, "phase:") != 1 {
						t.Fatalf("labels while it runs: %q, want exactly one phase", l)
					}
					phases[l] = true
				}
			})
			s.ended()
			s.settle(true)
			calls := s.of("bd-1-1")
			if len(calls) > of.most {
				t.Errorf("%d calls, want at most %d: %q", len(calls), of.most, calls)
			}
			b := s.bead("bd-1-1")
			said := 0
			for _, c := range b.Comments {
				said += strings.Count("\n"+c.Text, "\n[iter:")
			}
			if b.Status != "closed" || !strings.HasPrefix(b.CloseReason, "done") || said != of.steps+of.fail {
				t.Errorf("it is %s (%s) and %d attempts are told of", b.Status, b.CloseReason, said)
			}
			if len(phases) != of.steps || s.labels("bd-1-1", "phase:") != "" {
				t.Errorf("phases %v, at the end %q", phases, s.labels("bd-1-1", "phase:"))
			}
			if e := s.bead("bd-epic"); e.Status != "closed" || !slices.Contains(e.Labels, "mode:complete") {
				t.Errorf("the epic is %s with %q", e.Status, e.Labels)
			}
		})
	}
}

// What waits to be said with the next thing is said when ralph ends.
func TestStepsThatPassedAreSaidAtTheEnd(t *testing.T) { // issue: comments are never dropped; S2-07
	s := newScene(t, []string{"1.1"}, func(e *ir.Epic) {
		e.Nodes[0].Steps = append(e.Nodes[0].Steps, executortest.Step("review", "check"), executortest.Step("polish", "check"))
	})
	s.open()
	s.begin()
	s.hold = func(e executor.Effect) bool { return e.Kind == executor.EffectAgent && e.Step == "polish" }
	s.play(func() { s.settle(false) })
	if b := s.bead("bd-1-1"); len(b.Comments) != 0 || s.labels("bd-1-1", "phase:") != "phase:polish" {
		t.Errorf("%d comments, labels %q", len(b.Comments), b.Labels)
	}
	s.m.Start(t.Context())
	if unsent, err := s.m.Close(t.Context()); err != nil || len(unsent) > 0 {
		t.Errorf("unsent: %q, %v", unsent, err)
	}
	if b := s.bead("bd-1-1"); len(b.Comments) != 1 || !strings.Contains(b.Comments[0].Text, "[iter:1] ") || !strings.Contains(b.Comments[0].Text, "\n[iter:2] ") {
		t.Errorf("comments %+v", b.Comments)
	}
}

// BenchmarkObserve is what the mirror costs the goroutine of the scheduler for an event.
func BenchmarkObserve(b *testing.B) {
	m := &Mirror{nudge: make(chan struct{}, 1)}
	list := []executor.Event{{Seq: 1}}
	b.ReportAllocs()
	for b.Loop() {
		m.Observe(list)
		if len(m.news) == 1000 {
			m.news = m.news[:0]
		}
	}
}
