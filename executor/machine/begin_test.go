package machine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// judgings counts the verdicts on record of a gate of a sprint.
func (s *stage) judgings(id ir.NodeID, gate string) (n int) {
	for _, e := range s.events {
		if b, ok := e.Body.(executor.GateJudged); ok && e.Node == id && b.Gate == gate {
			n++
		}
	}
	return n
}

// An attempt that is open when its gates change is judged by all gates of today, also by
// those that had passed as they were.
func TestAnOpenAttemptIsJudgedByTheGatesOfToday(t *testing.T) { // execution §2 (a changed gate re-judges)
	first := ir.Gate{Why: "first", Kind: "command", Run: "true"}
	second := ir.Gate{Why: "second", Kind: "command", Run: "true"}
	third := ir.Gate{Why: "third", Kind: "command", Run: "true"}
	changed := first
	changed.Run = "make test"
	for name, now := range map[string][]ir.Gate{
		"one is another":    {changed, second},
		"there is one more": {first, second, third},
	} {
		s := newScript(t, []string{"1.1"}, withGates("serial", first, second), ir.Seal)
		s.begin()
		s.until(func(e executor.Effect) bool { return e.Gate == "second" })
		if got := s.judgings("bd-1-1", "first"); got != 1 {
			t.Fatalf("%s: the first gate judged %d times", name, got)
		}
		s.change(executortest.Epic([]string{"1.1"}, withGates("serial", now...), ir.Seal))
		s.begin()
		s.end()
		s.is("1.1", executor.Done, "", "")
		if got := attempts(s.stage, "1.1"); got != 1 {
			t.Errorf("%s: %d attempts", name, got)
		}
		for _, g := range now {
			want := 1
			if g.Why == "first" {
				want = 2
			}
			if got := s.judgings("bd-1-1", g.Why); got != want {
				t.Errorf("%s: gate %s judged %d times, want %d", name, g.Why, got, want)
			}
		}
	}
}

// What an attempt waits for, when its gates change, is still waited for unless a gate asked
// for it; and what its gates said is said no more.
func TestGatesThatChangeWhileANodeWaits(t *testing.T) { // execution §2 (a changed gate re-judges)
	human := ir.Gate{Why: "boss", Kind: "human", Approvers: []string{"ann"}}
	only := func(r *executor.RunStarted) { r.Only = []ir.NodeID{"bd-1-2"} }
	lines := []string{"1.1", "1.2"}
	for name, c := range map[string]struct {
		gates  []ir.Gate
		answer func(executor.Effect) executor.Body
		stop   func(executor.Effect) bool
		start  []func(*executor.RunStarted)
		cause  executor.Cause // after the next run
		reason string
	}{
		"an approval": {gates: []ir.Gate{cmd("unit"), human}},
		"a gate that gives no verdict": {
			gates: []ir.Gate{cmd("unit")}, answer: verdicts(map[string][]executor.Verdict{"unit": {executor.ErrorJudged, executor.ErrorJudged, executor.Pass}}),
		},
		"a question": {
			gates: []ir.Gate{cmd("unit")}, answer: agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {asks("which?")}}),
			cause: executor.CauseQuestion, reason: "which?",
		},
		"a run of others": {
			gates: []ir.Gate{cmd("unit")}, stop: func(e executor.Effect) bool { return e.Gate == "unit" }, start: []func(*executor.RunStarted){only},
			cause: executor.CauseOnly, reason: "not selected",
		},
		"a gate that failed beside": {
			gates: []ir.Gate{goesOn(cmd("unit")), cmd("lint")}, answer: verdicts(map[string][]executor.Verdict{"unit": {executor.Fail, executor.Pass}}),
			stop: func(e executor.Effect) bool { return e.Gate == "lint" },
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t, lines, withGates("ordered", c.gates...), ir.Seal)
			s.answer = c.answer
			s.begin()
			s.until(c.stop)
			today := slices.DeleteFunc(slices.Clone(c.gates), func(g ir.Gate) bool { return g.Kind == "human" })
			for i := range today {
				today[i].Run = "make"
			}
			s.change(executortest.Epic(lines, withGates("ordered", today...), ir.Seal, func(e *ir.Epic) { e.Digest = "sha256:two" }))
			s.begin(c.start...)
			s.end()
			if c.cause != "" {
				s.is("1.1", executor.Waiting, c.cause, c.reason)
				return
			}
			s.is("1.1", executor.Done, "", "")
			if got := attempts(s.stage, "1.1"); got != 1 {
				t.Errorf("%d attempts", got)
			}
			for _, e := range s.events {
				if b, ok := e.Body.(executor.NodeDone); ok && e.Node == "bd-1-1" && b.Judge != s.epic.Nodes[0].Digest.Judge {
					t.Errorf("it is on record as judged by %q", b.Judge)
				}
			}
		})
	}
}

// With --only what was interrupted and is not asked for waits; what is asked for runs with
// all that it needs, however far up.
func TestOnlyTakesAlongWhatIsNeeded(t *testing.T) { // execution §2 (--only)
	only := func(ids ...ir.NodeID) func(*executor.RunStarted) {
		return func(r *executor.RunStarted) { r.Only = ids }
	}
	s := newStage(t, []string{"1.1", "1.2: 1.1", "1.3: 1.2", "2.1"})
	s.begin(only("bd-1-3"))
	s.end()
	for key, want := range map[string]executor.NodeStatus{"1.1": executor.Done, "1.2": executor.Done, "1.3": executor.Done, "2.1": executor.Pending} {
		s.is(key, want, "", "")
	}

	s = newStage(t, []string{"1.1", "2.1"})
	s.begin()
	s.until(func(e executor.Effect) bool { return e.Node == "bd-1-1" && e.Kind == executor.EffectAgent })
	s.begin(only("bd-2-1"))
	s.end()
	s.is("1.1", executor.Waiting, executor.CauseOnly, "not selected by --only")
	s.is("2.1", executor.Done, "", "")
	s.begin()
	s.end()
	s.is("1.1", executor.Done, "", "")
	if !slices.ContainsFunc(s.events, func(e executor.Event) bool { return e.Node == executor.Integration }) {
		t.Error("nothing was joined")
	}
}

// A decision is bound with the time at which it was considered, and a message without
// what surrounds it, of bounded length.
func TestADecisionIsBoundWithItsTimeAndText(t *testing.T) { // execution §6 (what people say)
	s := newStage(t, []string{"1.1"})
	s.begin()
	bound, err := s.run.Decisions().Consider("bd-1-1", executor.Decision{
		Verb: executor.Pause, By: "ann", Message: "  " + strings.Repeat("x", 2*executor.MaxNote) + "\n",
	}, s.now.Add(1500*time.Microsecond))
	if err != nil {
		t.Fatal(err)
	}
	if want := s.now.Add(time.Millisecond); !bound.At.Equal(want) {
		t.Errorf("decided at %s, want %s", bound.At, want)
	}
	if m := bound.Message; len(m) > executor.MaxNote || !strings.HasPrefix(m, "x") {
		t.Errorf("the message is %d bytes, %.5q", len(m), m)
	}
}
