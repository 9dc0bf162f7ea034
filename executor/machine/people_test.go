package machine_test

import (
	"errors"
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

// stage drives a run without a driver: answer says what workers report.
type stage struct {
	t      *testing.T
	epic   *ir.Epic
	run    *machine.Run
	events []executor.Event
	now    time.Time
	answer func(executor.Effect) executor.Body   // nil, or what it returns: as usual
	tells  func(executor.Effect) []executor.Body // what is told while it goes on; nil: nothing
	flying []executor.Effect
	ids    int
	trees  int
}

func newStage(t *testing.T, lines []string, change ...func(*ir.Epic)) *stage {
	t.Helper()
	s := &stage{t: t, epic: executortest.Epic(lines, change...), now: time.UnixMilli(1_000_000).UTC()}
	s.fresh()
	return s
}

func (s *stage) fresh() {
	s.t.Helper()
	run, err := machine.New(s.epic)
	if err != nil {
		s.t.Fatal(err)
	}
	s.run = run
}

func (s *stage) put(e executor.Event) {
	s.t.Helper()
	e.Seq, e.At = s.run.Seq()+1, s.now
	if err := s.run.Apply(e); err != nil {
		s.t.Fatal(err)
	}
	s.events = append(s.events, e)
}

// begin starts a run, after a crash or an end too: everything is replayed.
func (s *stage) begin(change ...func(*executor.RunStarted)) {
	s.t.Helper()
	s.replay()
	start := executortest.Start(s.epic)
	start.Head = s.branchAt()
	for _, c := range change {
		c(&start)
	}
	s.put(executor.Event{Body: start})
}

// branchAt is where the integration branch stands while nobody else moves it, "" if
// there is none.
func (s *stage) branchAt() string {
	if s.epic.Epic.Integration.Mode != "dag" {
		return ""
	}
	for i := len(s.events) - 1; i >= 0; i-- {
		if p, ok := s.events[i].Body.(executor.Published); ok && s.events[i].Node == executor.Integration {
			return p.Result.Commit
		}
	}
	return ""
}

// replay makes the run anew from its events, and compares.
func (s *stage) replay() {
	s.t.Helper()
	before := executortest.Statuses(s.run)
	s.fresh()
	for _, e := range s.events {
		if err := s.run.Apply(e); err != nil {
			s.t.Fatalf("replay: %v", err)
		}
	}
	if after := executortest.Statuses(s.run); after != before && len(s.events) > 0 {
		s.t.Fatalf("replayed:\n%s\nwas:\n%s", after, before)
	}
	s.flying = nil
}

// usual is what a worker reports when all is well.
func (s *stage) usual(e executor.Effect) executor.Body {
	s.trees++
	body := executortest.Usual(e, s.trees)
	if body == nil {
		s.t.Fatalf("what does %s report?", e.Kind)
	}
	return body
}

func (s *stage) report(e executor.Effect) {
	s.t.Helper()
	if s.tells != nil {
		for _, b := range s.tells(e) {
			s.put(executor.Event{Node: e.Node, Step: e.Step, Attempt: e.Attempt, Body: b})
		}
	}
	var body executor.Body
	if s.answer != nil {
		body = s.answer(e)
	}
	if body == nil {
		body = s.usual(e)
	}
	s.put(executor.Event{Node: e.Node, Step: e.Step, Attempt: e.Attempt, Body: body})
}

// until goes on until the run is done or stop says so, which is asked about each
// effect before it reports; the effect stays in flight then.
func (s *stage) until(stop func(executor.Effect) bool) {
	s.t.Helper()
	for range 10_000 {
		todo := s.run.Todo(s.now)
		switch {
		case todo.Stuck != "":
			s.t.Fatalf("stuck: %s\n%s", todo.Stuck, executortest.Statuses(s.run))
		case len(todo.Record) > 0:
			s.put(todo.Record[0])
		case len(todo.Start) > 0:
			e := todo.Start[0]
			s.put(executor.Event{Node: e.Node, Step: e.Step, Attempt: e.Attempt, Body: executor.EffectStarted{Kind: e.Kind, Gate: e.Gate, Iteration: e.Iteration, Redo: e.Redo}})
			s.flying = append(s.flying, e)
		case len(todo.Stop) > 0:
			i := slices.IndexFunc(s.flying, func(e executor.Effect) bool { return e.Key("") == todo.Stop[0].Key("") })
			if i < 0 {
				s.t.Fatalf("to be stopped, and not in flight: %+v", todo.Stop[0])
			}
			e := s.flying[i]
			s.flying = slices.Delete(s.flying, i, i+1)
			s.put(executor.Event{Node: e.Node, Step: e.Step, Attempt: e.Attempt, Body: executor.EffectFailed{Class: executor.FailInterrupted, Gate: e.Gate, Detail: "stopped"}})
		case len(s.flying) > 0:
			i := 0
			for i < len(s.flying) && stop != nil && stop(s.flying[i]) {
				i++
			}
			if i == len(s.flying) {
				return
			}
			e := s.flying[i]
			s.flying = slices.Delete(s.flying, i, i+1)
			s.report(e)
		case todo.Done:
			return
		case todo.Wake.IsZero():
			return // waits for people
		default:
			s.now = todo.Wake
		}
	}
	s.t.Fatal("it does not end")
}

func (s *stage) end() {
	s.t.Helper()
	s.until(nil)
	s.put(executor.Event{Body: executor.RunEnded{Counts: s.run.Summary().Counts()}})
}

// say decides something; the error is the refusal.
func (s *stage) say(key string, d executor.Decision) error {
	s.t.Helper()
	s.ids++
	d.ID, d.User, d.At = fmt.Sprint("d", s.ids), "unix", s.now
	if d.By == "" {
		d.By = "ann"
	}
	id := ir.NodeID("")
	if key == executor.Integration {
		id = executor.Integration
	} else if key != "" {
		id = ir.NodeID("bd-" + strings.ReplaceAll(key, ".", "-"))
	}
	bound, err := s.run.Decisions().Consider(id, d, s.now)
	if err != nil {
		if _, ok := errors.AsType[*executor.Refused](err); !ok {
			s.t.Fatalf("%s %s: %v is no refusal", d.Verb, key, err)
		}
		return err
	}
	s.put(executor.Event{Node: id, Body: executor.Decided{Decision: bound}})
	return nil
}

// ok decides something that must apply; no, something that must not, for a
// reason that has these words in it.
func (s *stage) ok(key string, d executor.Decision) {
	s.t.Helper()
	if err := s.say(key, d); err != nil {
		s.t.Fatalf("%s %s %s is refused: %v", d.Verb, d.How, key, err)
	}
}

func (s *stage) no(key string, d executor.Decision, words string) {
	s.t.Helper()
	err := s.say(key, d)
	if err == nil || !strings.Contains(err.Error(), words) {
		s.t.Fatalf("%s %s %s: got %v, want a refusal with %q", d.Verb, d.How, key, err, words)
	}
}

func (s *stage) view(key string) machine.NodeView {
	s.t.Helper()
	id := ir.NodeID("bd-" + strings.ReplaceAll(key, ".", "-"))
	if key == executor.Integration {
		id = executor.Integration
	}
	v, ok := s.run.View(id)
	if !ok {
		s.t.Fatalf("no node %s", key)
	}
	return v
}

// is checks a node's status, cause and reason (a part of it).
func (s *stage) is(key string, status executor.NodeStatus, cause executor.Cause, reason string) {
	s.t.Helper()
	v := s.view(key)
	if v.Status != status || v.Cause != cause || !strings.Contains(v.Reason, reason) {
		s.t.Fatalf("%s is %s (%s): %q; want %s (%s): %q", key, v.Status, v.Cause, v.Reason, status, cause, reason)
	}
}

// agents makes the agent of each node report in turn what it is given, and then
// success.
func agents(reports map[ir.NodeID][]executor.AgentEnded) func(executor.Effect) executor.Body {
	return func(e executor.Effect) executor.Body {
		if e.Kind != executor.EffectAgent || len(reports[e.Node]) == 0 {
			return nil
		}
		out := reports[e.Node][0]
		reports[e.Node] = reports[e.Node][1:]
		return out
	}
}

func failed() executor.AgentEnded {
	return executor.AgentEnded{Outcome: executor.Outcome{Result: "failed", Summary: "cannot"}, End: executor.EndExited, ExitCode: 1}
}

func asks(what string) executor.AgentEnded {
	return executor.AgentEnded{Outcome: executor.Outcome{Result: "partial", NeedsHuman: true, Summary: what}, End: executor.EndExited}
}

var retry = executor.Decision{Verb: executor.RetryNode}

func TestABlockedNodeIsRetriedWithANewAllowance(t *testing.T) { // execution §5 "retry KEY also reopens", §3 "new allowance"
	s := newStage(t, []string{"1.1", "1.2: 1.1"})
	s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {failed(), failed(), failed(), failed(), failed()}})
	var left []int
	s.tells = func(e executor.Effect) []executor.Body {
		if e.Kind == executor.EffectAgent && e.Node == "bd-1-1" {
			left = append(left, s.run.Node(e.Node).Left())
		}
		return nil
	}
	s.begin()
	s.end()
	s.is("1.1", executor.Blocked, "", "3 attempts")
	s.is("1.2", executor.Pending, "", "needs 1.1 (blocked)")
	s.no("1.2", retry, "nothing to retry")
	s.ok("1.1", executor.Decision{Verb: executor.RetryNode, Message: "use the other library"}) // while no run is open
	s.begin()
	s.until(func(e executor.Effect) bool { return e.Kind == executor.EffectAgent })
	if p := string(s.run.Node("bd-1-1").Prompt()); !strings.Contains(p, "use the other library") {
		t.Errorf("the prompt does not hold what ann said:\n%s", p)
	}
	s.end()
	s.is("1.1", executor.Done, "", "")
	s.is("1.2", executor.Done, "", "")
	v := s.view("1.1")
	if n := len(v.Attempts); n != 6 || v.Attempts[5].Number != 6 {
		t.Errorf("%d attempts; want 6, counted on", n)
	}
	if got := fmt.Sprint(left); got != "[2 1 0 2 1 0]" {
		t.Errorf("left after each attempt: %s", got)
	}
}

func TestAQuestionIsAnsweredOrJudged(t *testing.T) { // execution §5: question
	for name, c := range map[string]struct {
		say      executor.Decision
		attempts int
	}{
		"answered": {executor.Decision{Verb: executor.RetryNode, Message: "take the blue one"}, 2},
		"judged":   {executor.Decision{Verb: executor.Approve}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, []string{"1.1"}, func(e *ir.Epic) { e.Nodes[0].Steps[0].Limits.Attempts = 1 })
			s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {asks("blue or red?")}})
			s.begin()
			s.until(nil)
			s.is("1.1", executor.Waiting, executor.CauseQuestion, "blue or red?")
			s.no("1.1", retry, "-m TEXT")
			s.no("1.1", executor.Decision{Verb: executor.Reject, Message: "no"}, "nothing to reject")
			s.replay()
			s.ok("1.1", c.say)
			s.replay()
			s.until(func(e executor.Effect) bool { return e.Kind == executor.EffectAgent })
			if c.attempts == 2 && !strings.Contains(string(s.run.Node("bd-1-1").Prompt()), "take the blue one") {
				t.Errorf("the answer is not in the prompt:\n%s", s.run.Node("bd-1-1").Prompt())
			}
			s.end()
			s.is("1.1", executor.Done, "", "") // it cost none: there was only one
			if got := len(s.view("1.1").Attempts); got != c.attempts {
				t.Errorf("%d attempts, want %d", got, c.attempts)
			}
		})
	}
}

func TestAQuestionCountsBeforeAnythingIsChanged(t *testing.T) { // execution §4: need_human is waiting(human) with the question
	empty := func(e executor.Effect) executor.Body {
		if e.Kind == executor.EffectCollect && e.Attempt == 1 {
			return executor.Collected{Result: executor.Tree{Commit: "c0ffee", Tree: "7ea"}, Problems: []string{"nothing changed since the step started"}}
		}
		return nil
	}
	for name, c := range map[string]struct {
		say    executor.Decision
		status executor.NodeStatus
		told   string
	}{
		"answered":            {executor.Decision{Verb: executor.RetryNode, Message: "take the blue one"}, executor.Done, ""},
		"approved with a gap": {executor.Decision{Verb: executor.Approve}, executor.Blocked, "nothing changed"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, []string{"1.1"}, func(e *ir.Epic) { e.Nodes[0].Steps[0].Limits.Attempts = 1 })
			reports := agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {asks("blue or red?")}})
			s.answer = func(e executor.Effect) executor.Body {
				if b := empty(e); b != nil {
					return b
				}
				return reports(e)
			}
			s.begin()
			s.until(nil)
			s.is("1.1", executor.Waiting, executor.CauseQuestion, "blue or red?")
			s.replay()
			s.ok("1.1", c.say)
			s.replay()
			s.end()
			s.is("1.1", c.status, "", c.told) // an answer costs none, and nobody approves what ralph's own checks refuse
			if c.status == executor.Blocked && len(s.view("1.1").Attempts[0].Gates) != 0 {
				t.Errorf("gates were paid for: %+v", s.view("1.1").Attempts[0].Gates)
			}
		})
	}
}

func TestWhatSomebodyMendsIsRetried(t *testing.T) { // execution §5: configuration, runner
	broken := true
	s := newStage(t, []string{"1.1"})
	s.answer = func(e executor.Effect) executor.Body {
		if e.Kind == executor.EffectAgent && broken {
			return executor.EffectFailed{Class: executor.FailConfig, Detail: "no such program"}
		}
		return nil
	}
	s.begin()
	s.until(nil)
	s.is("1.1", executor.Waiting, executor.CauseConfig, "no such program")
	s.no("1.1", executor.Decision{Verb: executor.Approve}, "nothing to approve")
	broken = false
	s.ok("1.1", retry)
	s.end()
	s.is("1.1", executor.Done, "", "")
	s.no("1.1", retry, "nothing to retry")
}

func TestSkippedIsTransparentAndCancelledIsNot(t *testing.T) { // execution §3 "skipped … are transparent", §5; S1-19
	s := newStage(t, []string{"1.1", "1.2: 1.1", "1.3: 1.2", "2.1", "2.2: 2.1"})
	s.ok("1.2", executor.Decision{Verb: executor.Skip}) // before any run
	s.is("1.2", executor.Skipped, "", "by ann")
	s.begin()
	s.ok("2.1", executor.Decision{Verb: executor.Cancel})
	s.is("2.1", executor.Cancelled, "", "by ann")
	s.no("2.1", executor.Decision{Verb: executor.Cancel}, "already")
	s.until(func(e executor.Effect) bool { return e.Node == "bd-1-3" && e.Kind == executor.EffectPrepare })
	if e := s.flying[0]; e.Base != s.view("1.1").Result.Commit {
		t.Errorf("1.3 starts from %s, want the result of 1.1, %s", e.Base, s.view("1.1").Result.Commit)
	}
	s.end()
	s.is("1.3", executor.Done, "", "")
	s.is("2.2", executor.Pending, "", "needs 2.1 (cancelled)")
	s.no("1.3", executor.Decision{Verb: executor.Skip}, "done")
	s.ok("2.1", retry)
	s.ok("1.2", retry) // others have begun without it: at the next start
	s.begin()
	s.end()
	for _, k := range []string{"1.1", "1.2", "1.3", "2.1", "2.2"} {
		s.is(k, executor.Done, "", "")
	}
	if got := len(s.view("1.3").Attempts); got != 2 {
		t.Errorf("1.3 has %d attempts, want 2: its base changed", got)
	}
}

func TestSkippingWaitsForWhatIsPassedOn(t *testing.T) { // execution §3 "dependents wait for their dependencies"
	s := newStage(t, []string{"1.1", "1.2: 1.1", "1.3: 1.2"})
	s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {failed(), failed(), failed()}})
	s.begin()
	s.ok("1.2", executor.Decision{Verb: executor.Skip})
	s.end()
	s.is("1.2", executor.Skipped, "", "")
	s.is("1.3", executor.Pending, "", "needs 1.1 (blocked)")
}

func TestWhatRunsIsSkippedOnlyByForceAndStopped(t *testing.T) { // execution §5 "skip"
	agent := func(e executor.Effect) bool { return e.Kind == executor.EffectAgent && e.Node == "bd-1-1" }
	for _, d := range []executor.Decision{{Verb: executor.Skip, How: executor.Forced}, {Verb: executor.Cancel}} {
		s := newStage(t, []string{"1.1", "1.2: 1.1"})
		s.begin()
		s.until(agent)
		s.no("1.1", executor.Decision{Verb: executor.Skip}, "--force")
		s.ok("1.1", d)
		stop := s.run.Todo(s.now).Stop
		for len(stop) == 0 { // decisions first
			s.put(s.run.Todo(s.now).Record[0])
			stop = s.run.Todo(s.now).Stop
		}
		if len(stop) != 1 || !agent(stop[0]) {
			t.Fatalf("%s: stop %+v", d.Verb, stop)
		}
		v := s.view("1.1")
		if a := v.Attempts[0]; a.Status != executor.AttemptCancelled || !strings.Contains(a.Reason, "ann") {
			t.Errorf("%s: the attempt is %s: %s", d.Verb, a.Status, a.Reason)
		}
		s.ok("1.1", retry) // at once: it begins when the old attempt is gone
		for _, e := range s.run.Todo(s.now).Record {
			if _, begins := e.Body.(executor.NodeStarted); begins && e.Node == "bd-1-1" {
				t.Errorf("%s: it begins again while its agent is still there", d.Verb)
			}
		}
		s.replay()
		s.begin()
		s.end()
		s.is("1.1", executor.Done, "", "")
		s.is("1.2", executor.Done, "", "")
	}
}

func TestANodeIsPausedAndResumed(t *testing.T) { // execution §5: pause
	pause, resume := executor.Decision{Verb: executor.Pause}, executor.Decision{Verb: executor.Resume}
	s := newStage(t, []string{"1.1", "1.2: 1.1", "2.1"})
	s.no("1.1", resume, "not paused")
	s.ok("1.2", pause)
	s.begin()
	s.until(func(e executor.Effect) bool { return e.Kind == executor.EffectAgent })
	s.ok("2.1", pause) // while its agent works: what runs goes on
	s.no("2.1", pause, "already")
	s.end()
	s.is("1.1", executor.Done, "", "")
	s.is("1.2", executor.Pending, "", "paused by ann")
	s.is("2.1", executor.Waiting, executor.CausePaused, "paused by ann")
	s.begin()
	s.end()
	s.is("2.1", executor.Waiting, executor.CausePaused, "paused by ann")
	s.ok("1.2", resume)
	s.ok("2.1", resume)
	s.begin()
	s.end()
	s.is("1.2", executor.Done, "", "")
	s.is("2.1", executor.Done, "", "")
	if got := len(s.view("2.1").Attempts); got != 1 {
		t.Errorf("a pause made %d attempts of one", got)
	}
}

func TestTheRunIsPausedAndResumed(t *testing.T) { // execution §5: pause of the run
	s := newStage(t, []string{"1.1", "1.2: 1.1", "2.1"})
	s.begin()
	s.until(func(e executor.Effect) bool { return e.Kind == executor.EffectAgent && e.Node == "bd-1-1" })
	s.ok("", executor.Decision{Verb: executor.Pause})
	s.no("", executor.Decision{Verb: executor.Pause}, "held already")
	if h := s.run.Overview().Held; h.For != executor.ForHuman || !strings.Contains(h.Detail, "ann") {
		t.Errorf("held: %+v", h)
	}
	s.end()
	s.is("1.1", executor.Done, "", "") // what ran was collected and judged
	if s.view("1.2").Status == executor.Done {
		t.Error("1.2 began while the run was paused")
	}
	s.begin()
	s.end()
	if s.view("1.2").Status == executor.Done {
		t.Error("a restart ended the pause")
	}
	s.ok("", executor.Decision{Verb: executor.Resume})
	s.no("", executor.Decision{Verb: executor.Resume}, "not paused")
	s.begin()
	s.end()
	s.is("1.2", executor.Done, "", "")
	s.is("2.1", executor.Done, "", "")
}

func TestTheRunIsCancelled(t *testing.T) { // execution §5: "cancel ends the run"
	s := newStage(t, []string{"1.1", "1.2: 1.1"})
	s.no("", executor.Decision{Verb: executor.Cancel}, "no run")
	s.begin()
	s.until(func(e executor.Effect) bool { return e.Kind == executor.EffectAgent })
	s.ok("", executor.Decision{Verb: executor.Cancel})
	todo := s.run.Todo(s.now)
	if len(todo.Record) != 1 || todo.Record[0].Kind() != "run.draining" {
		t.Fatalf("got %+v, want the run to drain", todo)
	}
	s.end()
	if v := s.run.Overview(); !strings.Contains(v.Draining, "ann") {
		t.Errorf("draining: %q", v.Draining)
	}
	if got := s.view("1.2").Status; got == executor.Done {
		t.Error("1.2 began in a run that was cancelled")
	}
	s.begin() // the word was about that run
	s.end()
	s.is("1.2", executor.Done, "", "")
}

func TestAPersonHandsInTheWorktree(t *testing.T) { // execution §5 "a person's own fix"
	s := newStage(t, []string{"1.1", "1.2: 1.1"})
	good := false
	s.answer = func(e executor.Effect) executor.Body {
		if e.Kind == executor.EffectGate && !good {
			return executortest.Verdict(e.Gate, executor.Fail)
		}
		return nil
	}
	handIn := executor.Decision{Verb: executor.RetryNode, How: executor.GatesOnly}
	s.no("1.1", handIn, "cannot become an attempt")
	s.begin()
	s.end()
	s.is("1.1", executor.Blocked, "", "gate check failed")
	s.ok("1.1", handIn)
	s.begin()
	agents := 0
	s.until(func(e executor.Effect) bool {
		if e.Kind == executor.EffectAgent {
			agents++
		}
		if e.Kind == executor.EffectCollect && !e.Person {
			t.Error("collected as an agent's work")
		}
		return false
	})
	s.is("1.1", executor.Blocked, "", "gate check failed")
	a := s.view("1.1").Attempts
	if last := a[len(a)-1]; last.Person != "ann" || last.Status != executor.AttemptFailed || agents > 0 {
		t.Errorf("last attempt %+v, %d agents", last, agents)
	}
	good = true
	s.ok("1.1", handIn)
	s.replay()
	s.end()
	s.is("1.1", executor.Done, "", "")
	s.is("1.2", executor.Done, "", "")
}

func TestAManualNodeIsApprovedWhenItsWorkIsThere(t *testing.T) { // execution §3 kind manual, §5; S4-16, S4-83
	s := newStage(t, []string{"1.1", "1.2: 1.1"}, func(e *ir.Epic) {
		e.Nodes[0].Kind = ir.Manual
		e.Nodes[0].Steps = []ir.Step{{Name: "manual", Access: "write", Gates: []string{"check"}, GateMode: "parallel", OnFailure: "keep", AllowEmpty: true, Next: "manual"}}
		e.Nodes[0].Limits.StepLimits = e.Nodes[0].Steps[0].Limits
	})
	verdict := executor.Fail
	var collected []executor.Effect
	s.answer = func(e executor.Effect) executor.Body {
		switch {
		case e.Kind == executor.EffectAgent && e.Node == "bd-1-1":
			t.Error("an agent works on a manual node")
		case e.Kind == executor.EffectCollect && e.Node == "bd-1-1":
			collected = append(collected, e)
		case e.Kind == executor.EffectGate && e.Node == "bd-1-1":
			return executortest.Verdict(e.Gate, verdict)
		}
		return nil
	}
	s.begin()
	s.end()
	s.is("1.1", executor.Waiting, executor.CauseManual, "ralph approve 1.1")
	s.ok("1.1", executor.Decision{Verb: executor.Approve})
	s.begin()
	s.end()
	s.is("1.1", executor.Waiting, executor.CauseManual, "check")
	verdict = executor.Pass
	s.ok("1.1", executor.Decision{Verb: executor.Approve})
	s.begin()
	s.end()
	s.is("1.1", executor.Done, "", "")
	s.is("1.2", executor.Done, "", "")
	if len(collected) != 2 || !collected[0].Person || collected[0].Commit == "" {
		t.Errorf("collected %+v", collected)
	}
}

func TestThePlanIsApprovedByDigest(t *testing.T) { // execution §5 "hitl { plan = required }"; S1-17; S2-34, S2-36
	approve := executor.Decision{Verb: executor.Approve}
	s := newStage(t, []string{"1.1"})
	s.no("", approve, "no approval of the plan")
	if !s.run.Overview().PlanApproved {
		t.Error("a plan that nobody has to approve is not approved")
	}
	s = newStage(t, []string{"1.1"}, func(e *ir.Epic) { e.Run.HITL.Plan, e.Run.HITL.Approvers = "required", []string{"ann"} })
	if s.run.Overview().PlanApproved {
		t.Error("approved by nobody")
	}
	s.no("", executor.Decision{Verb: executor.Approve, By: "bob"}, "may not")
	s.no("", executor.Decision{Verb: executor.Approve, Digest: "sha256:other"}, "different epic.json")
	s.ok("", executor.Decision{Verb: executor.Approve, By: "@Ann"})
	s.replay()
	if !s.run.Overview().PlanApproved {
		t.Error("not approved after a restart")
	}
	s.no("", approve, "already")
	s.begin()
	s.end()
	s.epic = executortest.Epic([]string{"1.1", "1.2"}, func(e *ir.Epic) { e.Run.HITL.Plan = "required" })
	s.epic.Digest = "sha256:other"
	s.fresh()
	for _, e := range s.events {
		if err := s.run.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	if s.run.Overview().PlanApproved {
		t.Error("the approval counts for another epic")
	}
}

func TestADecisionIsAppliedOnce(t *testing.T) { // execution §5: inbox
	s := newStage(t, []string{"1.1"})
	s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {asks("?"), asks("??")}})
	s.begin()
	s.until(nil)
	d := executor.Decision{ID: "once", Verb: executor.RetryNode, Message: "yes", By: "ann"}
	for i := range 2 {
		bound, err := s.run.Decisions().Consider("bd-1-1", d, s.now)
		if err != nil || s.run.Decisions().Heard("once") != (i == 1) {
			t.Fatalf("time %d: %v, heard %v", i, err, s.run.Decisions().Heard("once"))
		}
		s.put(executor.Event{Node: "bd-1-1", Body: executor.Decided{Decision: bound}})
		s.until(nil)
	}
	s.is("1.1", executor.Waiting, executor.CauseQuestion, "??")
	if got := len(s.view("1.1").Decisions); got != 1 {
		t.Errorf("%d decisions on record, want 1", got)
	}
}

func TestDecisionsThatMakeNoSenseAreRefused(t *testing.T) {
	s := newStage(t, []string{"1.1"})
	s.no("1.1", executor.Decision{Verb: "explode"}, "unknown verb")
	s.no("1.1", executor.Decision{Verb: executor.Skip, How: executor.GatesOnly}, "no way")
	s.no("", executor.Decision{Verb: executor.Skip}, "about one node")
	s.no("9.9", executor.Decision{Verb: executor.Skip}, "no node")
	s.no("1.1", executor.Decision{Verb: executor.Resume, Budget: ir.Budget{Tokens: -1}}, "smaller")
	s.no("1.1", executor.Decision{Verb: executor.Skip, By: " "}, "who decides")
	s.no("integration", executor.Decision{Verb: executor.Skip}, "the integration of all results")
}

// S2-09: a drafted plan is approved as it was written, for exactly that epic, whether its
// policy asks for that or not.
func TestADraftedPlanIsApproved(t *testing.T) {
	for _, asks := range []string{"auto", "required"} {
		s := newStage(t, []string{"1.1"}, func(e *ir.Epic) { e.Run.HITL.Plan, e.Run.HITL.Approvers = asks, []string{"ann"} })
		d := executor.Decision{ID: "a", Verb: executor.Approve, How: executor.Drafted, By: "bob", Digest: s.epic.Digest}
		if _, err := s.run.Decisions().Consider("", d, s.now); err == nil {
			t.Errorf("%s: bob may not approve", asks)
		}
		d.By = "ann"
		for _, other := range []string{"sha256:other", ""} {
			d.Digest = other
			if _, err := s.run.Decisions().Consider("", d, s.now); err == nil {
				t.Errorf("%s: %q is about another epic", asks, other)
			}
		}
		d.Digest = s.epic.Digest
		s.put(executor.Event{Body: executor.Decided{Decision: d}})
		if !s.run.Overview().PlanApproved {
			t.Errorf("%s: the plan is not approved", asks)
		}
		var no *executor.Refused
		if _, err := s.run.Decisions().Consider("", executor.Decision{ID: "b", Verb: executor.Approve, How: executor.Drafted, By: "ann", Digest: s.epic.Digest}, s.now); !errors.As(err, &no) || !no.Already {
			t.Errorf("%s: the second approval: %v", asks, err)
		}
		if _, err := s.run.Decisions().Consider("bd-1-1", executor.Decision{ID: "c", Verb: executor.Approve, How: executor.Drafted, By: "ann"}, s.now); err == nil {
			t.Errorf("%s: a node is no plan", asks)
		}
	}
}
