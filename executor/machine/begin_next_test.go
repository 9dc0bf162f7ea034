package machine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

func rerun(ids ...ir.NodeID) func(*executor.RunStarted) {
	return func(r *executor.RunStarted) { r.Rerun = ids }
}

// starts lists what the lives of a node began with, in order.
func (s *stage) starts(id ir.NodeID) (out []string) {
	for _, e := range s.events {
		if b, ok := e.Body.(executor.NodeStarted); ok && e.Node == id {
			var of []string
			for _, in := range b.Inputs {
				of = append(of, string(in.Node))
			}
			out = append(out, strings.Join(of, " "))
		}
	}
	return out
}

// What a person skipped or cancelled stays so in the next run, unless that is asked for it.
func TestARerunTakesBackWhatAPersonEnded(t *testing.T) { // execution §2 (--rerun)
	for _, verb := range []executor.Verb{executor.Skip, executor.Cancel} {
		s := newStage(t, []string{"1.1", "1.2"})
		s.begin()
		s.ok("1.1", executor.Decision{Verb: verb})
		s.end()
		was := s.view("1.1").Status
		s.begin()
		s.end()
		s.is("1.1", was, "", "by ann")
		s.begin(rerun("bd-1-1"))
		s.end()
		s.is("1.1", executor.Done, "", "")
	}
}

// A run that names nodes which the record or the epic has not is a run of the others.
func TestARunOfNodesThatAreNotThere(t *testing.T) {
	s := newStage(t, []string{"1.1", "1.2"})
	s.begin(rerun("bd-9"), func(r *executor.RunStarted) {
		r.Only, r.Merged = []ir.NodeID{"bd-9", "bd-1-1"}, []ir.NodeID{"bd-9", "bd-1-2"}
	})
	s.end()
	s.is("1.1", executor.Done, "", "")
	s.is("1.2", executor.Pending, "", "")
}

// What many paths lead to is looked at once: the number of paths doubles with each rung.
func TestOnlyGoesThroughALadder(t *testing.T) { // execution §2 (--only)
	lines := []string{"0.1", "0.2"}
	const rungs = 40
	for i := 1; i <= rungs; i++ {
		for k := 1; k <= 2; k++ {
			lines = append(lines, fmt.Sprintf("%d.%d: %d.1 %d.2", i, k, i-1, i-1))
		}
	}
	s := newStage(t, lines)
	s.begin(func(r *executor.RunStarted) { r.Only = []ir.NodeID{ir.NodeID(fmt.Sprintf("bd-%d-1", rungs))} })
	s.is("0.1", executor.Ready, "", "")
	s.is(fmt.Sprintf("%d.2", rungs), executor.Pending, "", "not selected by --only")
}

// A run that its base held is another one when it is started again.
func TestARunThatItsBaseHeldIsStartedForMore(t *testing.T) { // execution §5, preflight
	gates := preflights(map[string]ir.Gate{"unit": {Run: "a", Baseline: "green"}}, []string{"unit"}, []string{"unit"})
	s := newStage(t, []string{"1.1", "1.2"}, gates)
	s.begin(tried, func(r *executor.RunStarted) { r.Only = []ir.NodeID{"bd-1-1"} })
	s.preflight("unit")
	s.put(s.run.Todo(s.now).Record[0])
	s.put(executor.Event{Body: executor.RunEnded{}})
	s.begin(tried)
	s.preflight()
	s.until(nil)
	s.is("1.1", executor.Done, "", "")
	s.is("1.2", executor.Done, "", "")
}

// A preflight that was made before the run is part of it: what it tried is not tried again,
// and what it left out is.
func TestAPreflightBeforeTheRunIsPartOfIt(t *testing.T) { // execution §5, preflight
	before := func(r *executor.RunStarted) { r.Tried = true }
	s := newStage(t, []string{"1.1"}, preflights(map[string]ir.Gate{"unit": {Run: "a"}, "lint": {Run: "b"}}, []string{"unit", "lint"}))
	s.begin(tried)
	s.preflight("lint")
	s.begin(tried, before)
	if got := s.preflight(); got != "" {
		t.Errorf("it tried %q again", got)
	}
	s.begin(tried, before, func(r *executor.RunStarted) { r.Base = executor.Tree{Commit: "next", Tree: "tree-next"} })
	if got := s.preflight(); got != "unit lint" {
		t.Errorf("on a base that was not tried it tried %q", got)
	}
}

// How long a runner has failed is counted in one run.
func TestAnOutageIsOfOneRun(t *testing.T) { // execution §4
	s := newStage(t, []string{"1.1"}, step(func(s *ir.Step) { s.Limits.RunnerRetries = 0 }))
	s.answer = func(e executor.Effect) executor.Body {
		if inAgent(e) {
			return fails(executor.FailTransient)
		}
		return nil
	}
	s.begin()
	s.until(inAgent)
	s.land()
	s.now = s.now.Add(7 * time.Hour)
	s.begin()
	s.until(inAgent)
	s.land()
	todo := s.run.Todo(s.now)
	if len(todo.Record) != 1 || todo.Record[0].Kind() != "runner.parked" {
		t.Errorf("after its first failure in this run: %+v", todo.Record)
	}
}

// A branch that was part of one base need not be part of the next.
func TestWhatTheBaseHoldsIsOfThatBase(t *testing.T) { // execution §2, §7
	on := func(name string, merged ...ir.NodeID) func(*executor.RunStarted) {
		return func(r *executor.RunStarted) { r.Base, r.Merged = executor.Tree{Commit: name, Tree: name}, merged }
	}
	s := newStage(t, []string{"1.1"})
	s.begin()
	s.end()
	for _, c := range []struct {
		start    func(*executor.RunStarted)
		attempts int
	}{
		{on("with", "bd-1-1"), 1},
		{on("with"), 1}, // it is on record
		{on("without"), 2},
	} {
		s.begin(c.start)
		s.end()
		s.is("1.1", executor.Done, "", "")
		if got := attempts(s, "1.1"); got != c.attempts {
			t.Errorf("%d attempts, want %d", got, c.attempts)
		}
	}
}

// What people accepted of others is asked about again where a base holds it no longer.
func TestCommitsOfOthersThatABaseHeld(t *testing.T) { // execution §5 (the account is true)
	lines := []string{"1.1", "1.2"}
	s := newScript(t, lines)
	s.begin()
	s.end()
	s.change(other(lines, "two", "1.1"))
	s.answer = theirs
	s.begin(stands("theirs"))
	s.end()
	s.ok(executor.Integration, executor.Decision{Verb: executor.Approve})
	s.begin(stands("theirs"))
	s.end()
	s.answer = agents(nil)
	onto := func(base string) func(*executor.RunStarted) {
		return func(r *executor.RunStarted) { r.Base = executor.Tree{Commit: base, Tree: base} }
	}
	at := stands(s.sumAt())
	s.begin(at, onto("with"), func(r *executor.RunStarted) { r.Theirs = s.run.Integration().Others() })
	s.begin(at, onto("without"))
	s.end()
	s.is(executor.Integration, executor.Waiting, executor.CauseOlder, "commits of others that you accepted, theirs")
}

// What goes on is what it is said to be: it was interrupted.
func TestWhatRanWaitsForASlot(t *testing.T) { // execution §2
	s := newStage(t, []string{"1.1"})
	s.begin()
	s.until(inAgent)
	s.begin()
	s.is("1.1", executor.Waiting, "", "interrupted")
}

// A resolution that a person is asked for is of no use once the text is another.
func TestAConflictOfAnotherTextIsNotWaitedFor(t *testing.T) { // execution §2 (a changed text)
	lines := []string{"1.1", "1.2", "2.1: 1.1 1.2"}
	none := func(e *ir.Epic) {
		a := e.Agents["dev"]
		a.Access = "read"
		e.Agents["dev"] = a
	}
	s := newScript(t, lines, none)
	s.answer = first(conflictOf("bd-2-1"), func(e executor.Effect) executor.Body {
		if inAgent(e) && e.Merge {
			return failed()
		}
		return nil
	})
	s.begin()
	s.end()
	s.is("2.1", executor.Waiting, executor.CauseConflict, "a.go")
	s.change(executortest.Epic(lines, none, func(e *ir.Epic) { e.Nodes[2].Prompt, e.Digest = []string{"Do it otherwise."}, "sha256:two" }))
	s.begin()
	s.is("2.1", executor.Ready, "", "")
}

// Where several need what was judged again, each goes its own way on.
func TestAMendedGateBehindWhatOthersNeedToo(t *testing.T) { // execution §2
	lines := []string{"1.1", "1.2: 1.1", "1.3: 1.1"}
	s := newScript(t, lines)
	s.answer = checkSays("bd-1-2", executor.Fail)
	s.begin()
	s.end()
	s.is("1.2", executor.Blocked, "", "3 attempts")
	s.change(mend(lines, "two"))
	s.answer = nil
	s.begin()
	s.end()
	for _, key := range []string{"1.1", "1.2", "1.3"} {
		s.is(key, executor.Done, "", "")
	}
	s.is(executor.Integration, executor.Done, "", "")
}

// What is skipped passes on what it needs, also to one that needs more.
func TestWhatIsSkippedPassesOnWhatItNeeds(t *testing.T) { // execution §3 "skipped … are transparent"
	s := newStage(t, []string{"1.1", "1.2: 1.1", "1.3", "1.4: 1.2 1.3"})
	s.ok("1.2", executor.Decision{Verb: executor.Skip})
	s.begin()
	s.end()
	if got := s.starts("bd-1-4"); !slices.Equal(got, []string{"bd-1-1 bd-1-3"}) {
		t.Errorf("1.4 began with %q", got)
	}
}

// While no run of the present epic has begun, nothing is derived from what an earlier one
// did: what needed it is not ready, nor done because the plan says so now.
func TestNothingMovesUnderAnotherEpic(t *testing.T) {
	lines := []string{"1.1", "1.2: 1.1"}
	s := newScript(t, lines)
	s.begin()
	s.until(func(e executor.Effect) bool { return e.Kind == executor.EffectPublish })
	s.land()
	s.put(s.run.Todo(s.now).Record[0])
	s.is("1.1", executor.Done, "", "")
	for _, done := range []bool{false, true} {
		s.change(mend(lines, "two", func(e *ir.Epic) { e.Nodes[1].Done = done }))
		s.is("1.1", executor.Done, "", "")
		s.is("1.2", executor.Pending, "", "")
	}
}

// In mode branch one node lands at a time, also when several are ready at once.
func TestOneLandsAtATime(t *testing.T) { // execution §7 (mode branch)
	s := newStage(t, []string{"1.1", "1.2"}, mode("branch", "none"))
	s.answer = heads("h0", "h0")
	s.begin()
	s.until(func(e executor.Effect) bool { return e.Kind == executor.EffectPublish })
	for len(s.flying) > 0 {
		s.land()
	}
	todo := s.run.Todo(s.now)
	if len(todo.Record) != 1 || todo.Record[0].Step != machine.LandStep {
		t.Errorf("two nodes are ready to land: %+v", todo.Record)
	}
	s.end()
	s.is("1.1", executor.Done, "", "")
	s.is("1.2", executor.Done, "", "")
}

// A draining run goes on with what an attempt has begun, and begins no other.
func TestADrainingRunBeginsNoAttempt(t *testing.T) { // execution §6
	s := newStage(t, []string{"1.1"}, twoSteps)
	s.begin()
	s.until(func(e executor.Effect) bool { return e.Kind == executor.EffectGate })
	s.drain(time.Hour)
	s.land()
	todo := s.rounds(func([]executor.Effect) {})
	if got := attempts(s, "1.1"); got != 1 || !todo.Done {
		t.Errorf("%d attempts, %+v", got, todo)
	}
	s.begin()
	s.end()
	s.is("1.1", executor.Done, "", "")
}

// Nobody but the person worked on what they hand in: it is judged from where it lies,
// whatever becomes of the tree when an agent fails.
func TestWhatAPersonHandsInIsNotReset(t *testing.T) { // execution §5 "a person's own fix"
	s := newStage(t, []string{"1.1"}, step(func(s *ir.Step) { s.OnFailure, s.Limits.Attempts = "reset", 1 }))
	s.answer = checkSays("bd-1-1", executor.Fail)
	s.begin()
	s.end()
	s.is("1.1", executor.Blocked, "", "")
	left := s.view("1.1").Attempts[0].Commit
	s.answer = nil
	s.ok("1.1", executor.Decision{Verb: executor.RetryNode, How: executor.GatesOnly})
	s.begin()
	s.end()
	if a := s.view("1.1").Attempts; len(a) != 2 || a[1].Person != "ann" || a[1].From != left {
		t.Errorf("the attempts are %+v, want one of ann's from %s", a, left)
	}
}

// The sum's conflict waits for a person over runs, unless the sum is to be made again.
func TestARerunOfTheSumsConflict(t *testing.T) { // execution §2 (--rerun)
	s := newStage(t, []string{"1.1", "1.2"})
	s.answer = conflictOf(executor.Integration)
	s.begin()
	s.end()
	s.is(executor.Integration, executor.Waiting, executor.CauseConflict, "a.go")
	s.begin()
	s.is(executor.Integration, executor.Waiting, executor.CauseConflict, "a.go")
	s.begin(rerun(executor.Integration))
	s.is(executor.Integration, executor.Pending, "", "")
}

// The sum's conflict that an agent was resolving is met again: what is joined may be other
// results by now. Only a person's work on it stays.
func TestACutMergeOfTheSumBeginsAgain(t *testing.T) { // execution §5 (the sum is derived)
	s := newScript(t, []string{"1.1", "1.2"}, func(e *ir.Epic) { e.Epic.Integration.ConflictAgent = "dev" })
	s.answer = conflictOf(executor.Integration)
	merges := func(e executor.Effect) bool { return e.Node == executor.Integration && inAgent(e) && e.Merge }
	s.begin()
	s.until(merges)
	s.begin()
	s.is(executor.Integration, executor.Pending, "", "")
	s.until(func(e executor.Effect) bool { return e.Node == executor.Integration && e.Kind == executor.EffectBase })
	s.until(merges)
	s.end()
	s.is(executor.Integration, executor.Done, "", "")
}

// A node without steps has no attempt that could be judged otherwise.
func TestOtherGatesOfANodeWithoutSteps(t *testing.T) { // execution §2 (a changed gate re-judges)
	none := func(e *ir.Epic) { e.Nodes[0].Steps, e.Nodes[0].Kind = nil, ir.GateKind }
	s := newScript(t, []string{"1.1"}, none)
	s.begin()
	s.until(func(e executor.Effect) bool { return e.Node == "bd-1-1" && e.Kind == executor.EffectPublish })
	now := mend([]string{"1.1"}, "two", none)
	now.Nodes[0].Digest.Judge = "sha256:another"
	s.change(now)
	s.begin()
	s.is("1.1", executor.Waiting, "", "interrupted")
	s.end()
	s.is("1.1", executor.Done, "", "")
}
