package machine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// A person says that a runner's limit is over: all that waits for it goes on at once.
func TestARetryEndsThePauseOfARunner(t *testing.T) { // execution §4 limits, §5 retry
	s := newStage(t, []string{"1.1", "2.1"})
	s.answer = onKind(executor.EffectAgent, executor.EffectFailed{Class: executor.FailLimit, Until: s.now.Add(time.Hour), Detail: "usage limit"})
	s.begin()
	s.until(inAgent)
	s.land()
	for todo := s.run.Todo(s.now); len(todo.Record) > 0; todo = s.run.Todo(s.now) {
		s.put(todo.Record[0])
	}
	s.is("1.1", executor.Waiting, "", "usage limit")
	began := s.now
	s.ok("1.1", retry)
	s.until(nil)
	s.is("1.1", executor.Done, "", "")
	s.is("2.1", executor.Done, "", "")
	if took := s.now.Sub(began); took >= time.Hour {
		t.Errorf("it took %s", took)
	}
}

// A pull request that is closed sends its sprint back with what was said there, from the
// result that was refused; it costs no attempt.
func TestAClosedPullRequestSendsTheSprintBack(t *testing.T) { // execution §3: mode wait
	s := newStage(t, []string{"1.1"}, mode("wait", "node"), step(func(s *ir.Step) { s.Limits.Attempts = 1 }))
	polls := onKind(executor.EffectPoll, executor.PullSeen{State: "closed", Comment: "use tabs"})
	first := ""
	s.answer = func(e executor.Effect) executor.Body {
		if e.Kind == executor.EffectPull && first == "" {
			first = e.Commit
		}
		return polls(e)
	}
	s.begin(func(r *executor.RunStarted) { r.Wait = true })
	s.until(func(e executor.Effect) bool { return e.Kind == executor.EffectAgent && e.Attempt == 2 })
	if p := string(s.run.Node("bd-1-1").Prompt()); !strings.Contains(p, "use tabs") {
		t.Errorf("the prompt lacks what was said:\n%s", p)
	}
	if v := s.view("1.1"); v.Attempts[1].From != first || v.Result.Commit != "" {
		t.Errorf("it goes on from %s with the result %q; want from %s, without", v.Attempts[1].From, v.Result.Commit, first)
	}
	s.until(nil)
	s.is("1.1", executor.Done, "", "")
	if got := s.view("1.1").Result.Commit; got == "" || got == first {
		t.Errorf("the result is %q; the one that was refused is %q", got, first)
	}
}

// A pull request that is closed sends a sprint of several steps to where a failure of the
// last one goes.
func TestAClosedPullRequestGoesWhereAFailureGoes(t *testing.T) { // execution §3, §7
	s := newStage(t, []string{"1.1"}, mode("wait", "node"), threeSteps)
	s.answer = onKind(executor.EffectPoll, executor.PullSeen{State: "closed", Comment: "use tabs"})
	s.begin(func(r *executor.RunStarted) { r.Wait = true })
	s.until(nil)
	s.is("1.1", executor.Done, "", "")
	if got, want := s.trail(), "design implement review implement review"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// What a turn cost counts, also if its sprint was ended meanwhile; a retry begins when the
// turn is gone.
func TestTheCostOfAStoppedTurnCounts(t *testing.T) { // execution §4 budget, §5 cancel
	s := newStage(t, []string{"1.1"})
	s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {used(num(120), nil, "success"), used(num(5), nil, "success")}})
	s.begin()
	s.until(inAgent)
	s.ok("1.1", cancel)
	s.ok("1.1", retry)
	s.land()
	if got := s.run.Overview().Spent.Tokens; got != 120 {
		t.Errorf("%d tokens are counted, want 120", got)
	}
	s.until(nil)
	s.is("1.1", executor.Done, "", "")
	if got := s.run.Overview().Spent.Tokens; got != 125 {
		t.Errorf("%d tokens are counted at the end, want 125", got)
	}
}

// An approval is of one result: what is made anew asks again.
func TestAnApprovalIsOfOneResult(t *testing.T) { // execution §5: bound to gate, result and base
	s := newScript(t, []string{"1.1"}, gatesOf("unit"), approved(0))
	s.begin()
	s.end()
	s.ok("1.1", executor.Decision{Verb: executor.Approve})
	s.begin()
	s.end()
	s.is("1.1", executor.Done, "", "")
	s.begin(func(e *executor.RunStarted) { e.Rerun = []ir.NodeID{"bd-1-1"} })
	s.end()
	s.is("1.1", executor.Waiting, executor.CauseApproval, "ok asks for approval")
}
