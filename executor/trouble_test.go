package executor_test

import (
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// times repeats a report.
func times(n int, b executor.Body) []executor.Body {
	out := make([]executor.Body, n)
	for i := range out {
		out[i] = b
	}
	return out
}

// What follows when an effect does not happen: again, another agent, or a person; an
// attempt is counted only when the agent's program crashes. execution §4; L0-09
func TestWhatFollowsWhenAnEffectFails(t *testing.T) {
	wait := func(e *ir.Epic) { e.Epic.Integration.Mode = "wait" }
	doctor := func(e *ir.Epic) {
		e.Agents["doctor"] = ir.Agent{Runner: "sh", Access: "read"}
		e.Nodes[0].Steps[0].Stall = ir.Stall{AfterMS: 1, Action: "diagnose", Agent: "doctor"}
	}
	stalled := func() func(executor.Effect) executor.Body {
		return onKind(executor.EffectAgent, times(9, executor.AgentEnded{End: executor.EndStalled})...)
	}
	for name, c := range map[string]struct {
		epic     func(*ir.Epic)
		answer   func(executor.Effect) executor.Body
		status   executor.NodeStatus
		cause    executor.Cause
		attempts int
	}{
		"a worktree that cannot be made at once":          {nil, onKind(executor.EffectPrepare, times(2, fails(executor.FailTransient))...), executor.Done, "", 1},
		"one that cannot be made":                         {nil, onKind(executor.EffectPrepare, times(3, fails(executor.FailTransient))...), executor.Waiting, executor.CauseWorkspace, 1},
		"a worktree that crashes is no attempt":           {nil, onKind(executor.EffectPrepare, times(3, fails(executor.FailCrash))...), executor.Waiting, executor.CauseWorkspace, 1},
		"a worktree has no runner to park":                {nil, onKind(executor.EffectPrepare, times(3, fails(executor.FailLimit))...), executor.Waiting, executor.CauseWorkspace, 1},
		"a worktree that is configured wrongly":           {nil, onKind(executor.EffectPrepare, fails(executor.FailConfig)), executor.Waiting, executor.CauseConfig, 1},
		"and there is another agent":                      {fallback, onKind(executor.EffectPrepare, fails(executor.FailConfig)), executor.Waiting, executor.CauseConfig, 1},
		"nothing that could be collected at once":         {nil, onKind(executor.EffectCollect, times(2, fails(executor.FailTransient))...), executor.Done, "", 1},
		"a protected file":                                {nil, onKind(executor.EffectCollect, fails(executor.FailProtected)), executor.Waiting, executor.CauseProtected, 1},
		"an agent that crashes twice":                     {nil, onKind(executor.EffectAgent, times(2, fails(executor.FailCrash))...), executor.Done, "", 1},
		"an agent that crashes once more":                 {nil, onKind(executor.EffectAgent, times(3, fails(executor.FailCrash))...), executor.Done, "", 2},
		"an agent that is configured wrongly":             {nil, onKind(executor.EffectAgent, fails(executor.FailConfig)), executor.Waiting, executor.CauseConfig, 1},
		"and another that takes its place":                {fallback, onKind(executor.EffectAgent, fails(executor.FailConfig)), executor.Done, "", 2},
		"both are":                                        {fallback, onKind(executor.EffectAgent, times(2, fails(executor.FailConfig))...), executor.Waiting, executor.CauseConfig, 2},
		"another takes its place after an outage":         {fallback, onKind(executor.EffectAgent, times(3, fails(executor.FailTransient))...), executor.Done, "", 2},
		"a pull request that cannot be asked for":         {wait, onKind(executor.EffectPoll, times(9, fails(executor.FailTransient))...), executor.Done, "", 1},
		"one that is configured wrongly":                  {wait, onKind(executor.EffectPoll, fails(executor.FailConfig)), executor.Waiting, executor.CauseConfig, 1},
		"a diagnosis that is late":                        {doctor, first(stalled(), onKind(executor.EffectDiagnose, append(times(2, fails(executor.FailTransient)), executor.Diagnosed{Action: "ask"})...)), executor.Waiting, executor.CauseDiagnosis, 1},
		"a diagnosis that cannot be made":                 {doctor, first(stalled(), onKind(executor.EffectDiagnose, times(3, fails(executor.FailTransient))...)), executor.Waiting, executor.CauseDiagnosis, 1},
		"one whose agent is configured wrongly":           {doctor, first(stalled(), onKind(executor.EffectDiagnose, fails(executor.FailConfig))), executor.Waiting, executor.CauseDiagnosis, 1},
		"a diagnosis says to try again, until it is used": {doctor, first(stalled(), onKind(executor.EffectDiagnose, times(9, executor.Diagnosed{Action: "retry"})...)), executor.Blocked, "", 5},
		"a diagnosis says that it failed":                 {doctor, first(stalled(), onKind(executor.EffectDiagnose, times(9, executor.Diagnosed{Action: "fail"})...)), executor.Blocked, "", 3},
	} {
		t.Run(name, func(t *testing.T) {
			change := []func(*ir.Epic){}
			if c.epic != nil {
				change = append(change, c.epic)
			}
			s := newStage(t, []string{"1.1"}, change...)
			s.answer = c.answer
			s.begin(func(r *executor.RunStarted) { r.Wait = c.epic != nil })
			s.until(nil)
			v := s.view("1.1")
			if v.Status != c.status || v.Cause != c.cause || len(v.Attempts) != c.attempts {
				t.Errorf("%s (%s) after %d attempts: %s; want %s (%s) after %d", v.Status, v.Cause, len(v.Attempts), v.Reason, c.status, c.cause, c.attempts)
			}
		})
	}
}

// A gate that cannot be judged costs no attempt: it is tried again, another agent
// judges, or a person decides. execution §4; K15
func TestWhatFollowsWhenAGateCannotBeJudged(t *testing.T) {
	spare := func(e *ir.Epic) {
		fallback(e)
		e.Nodes[0].Steps[0].Fallback = nil
	}
	second := qa("qa")
	second.Fallback = []string{"spare"}
	interrupted := fails(executor.FailInterrupted)
	var agents []string
	for name, c := range map[string]struct {
		gate    ir.Gate
		answers []executor.Body
		status  executor.NodeStatus
		cause   executor.Cause
		agents  int // that judged
	}{
		"twice for a moment":                 {qa("qa"), times(2, fails(executor.FailTransient)), executor.Done, "", 1},
		"for longer":                         {qa("qa"), times(3, fails(executor.FailTransient)), executor.Waiting, executor.CauseGate, 1},
		"a moment does not count for ever":   {qa("qa"), append(append(times(2, fails(executor.FailTransient)), executortest.Verdict("qa", executor.ErrorJudged)), times(2, fails(executor.FailTransient))...), executor.Done, "", 1},
		"configured wrongly":                 {qa("qa"), times(1, fails(executor.FailConfig)), executor.Waiting, executor.CauseConfig, 1},
		"another judges what cannot be done": {second, times(1, fails(executor.FailConfig)), executor.Done, "", 2},
		"another judges after an outage":     {second, times(3, fails(executor.FailTransient)), executor.Done, "", 2},
		"not within it":                      {second, times(2, fails(executor.FailTransient)), executor.Done, "", 1},
		"the other has an outage, too":       {second, times(6, fails(executor.FailTransient)), executor.Waiting, executor.CauseGate, 2},
		"the other has its own allowance":    {second, times(5, fails(executor.FailTransient)), executor.Done, "", 2},
		"interrupted counts nothing":         {qa("qa"), times(9, interrupted), executor.Done, "", 1},
		"no verdict twice":                   {qa("qa"), times(2, executortest.Verdict("qa", executor.ErrorJudged)), executor.Waiting, executor.CauseGate, 1},
		"no verdict once":                    {qa("qa"), times(1, executortest.Verdict("qa", executor.ErrorJudged)), executor.Done, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, []string{"1.1"}, spare, withGates("parallel", c.gate))
			agents = nil
			next := onKind(executor.EffectGate, c.answers...)
			s.answer = func(e executor.Effect) executor.Body {
				if e.Kind == executor.EffectGate && (len(agents) == 0 || agents[len(agents)-1] != e.Agent) {
					agents = append(agents, e.Agent)
				}
				return next(e)
			}
			s.begin(func(r *executor.RunStarted) { r.Wait = true })
			s.until(nil)
			v := s.view("1.1")
			if v.Status != c.status || v.Cause != c.cause || len(v.Attempts) != 1 || len(agents) != c.agents {
				t.Errorf("%s (%s) after %d attempts, judged by %v: %s; want %s (%s) by %d", v.Status, v.Cause, len(v.Attempts), agents, v.Reason, c.status, c.cause, c.agents)
			}
			if c.status != executor.Waiting {
				return
			}
			s.ok("1.1", executor.Decision{Verb: executor.RetryNode}) // with a new allowance
			next = onKind(executor.EffectGate, times(2, fails(executor.FailTransient))...)
			s.until(nil)
			s.is("1.1", executor.Done, "", "")
		})
	}
}

// In order no gate begins before the one in front of it has a verdict; side by side one
// that could not be judged keeps none back. execution §3; L0-05, S0-124
func TestGatesInOrderWaitForEachOther(t *testing.T) {
	for mode, want := range map[string]string{"ordered": "qa qa unit", "parallel": "qa unit qa"} {
		s := newStage(t, []string{"1.1"}, withGates(mode, qa("qa"), cmd("unit")), step(func(s *ir.Step) { s.Retry = ir.Retry{Backoff: "fixed", InitialMS: 1000} }))
		var got string
		trouble := onKind(executor.EffectGate, fails(executor.FailTransient))
		s.answer = func(e executor.Effect) executor.Body {
			if e.Kind == executor.EffectGate && e.Node == "bd-1-1" {
				if got != "" {
					got += " "
				}
				got += e.Gate
			}
			return trouble(e)
		}
		s.begin(func(r *executor.RunStarted) { r.Wait = true })
		s.until(nil)
		if got != want {
			t.Errorf("%s: gates reported as %s, want %s", mode, got, want)
		}
	}
}

func TestWhatATimeThatIsOverComesTo(t *testing.T) { // execution §3: a human gate's timeout; never approval
	for onTimeout, want := range map[string]executor.Verdict{"fail": executor.Fail, "stop": executor.Stop, "": executor.Fail} {
		boss := ir.Gate{Why: "boss", Kind: "human", Approvers: []string{"ann"}, TimeoutMS: 60_000, OnTimeout: onTimeout}
		s := newStage(t, []string{"1.1"}, withGates("parallel", boss), step(func(s *ir.Step) { s.Limits.Attempts = 1 }))
		s.begin(func(r *executor.RunStarted) { r.Wait = true })
		began := s.now
		s.until(nil)
		s.is("1.1", executor.Blocked, "", "nobody decided in 1m0s")
		if g := s.view("1.1").Attempts[0].Gates; len(g) != 1 || g[0].Verdict != want || s.now.Sub(began) != time.Minute {
			t.Errorf("on_timeout %q: after %s %+v, want %s after a minute", onTimeout, s.now.Sub(began), g, want)
		}
	}
}

func TestAGateThatGivesNoVerdictBeforeAnyWork(t *testing.T) { // execution §3 red_first; L3-02
	for _, c := range []struct {
		errors int
		status executor.NodeStatus
		cause  executor.Cause
		red    int
	}{{1, executor.Done, "", 2}, {2, executor.Waiting, executor.CauseGate, 2}} {
		red := cmd("repro")
		red.RedFirst = true
		s := newStage(t, []string{"1.1"}, withGates("parallel", red))
		s.answer = onKind(executor.EffectRed, times(c.errors, executor.GateJudged{Gate: "repro", Red: true, Verdict: executor.ErrorJudged, Message: "no shell"})...)
		s.begin(func(r *executor.RunStarted) { r.Wait = true })
		s.until(nil)
		v := s.view("1.1")
		if v.Status != c.status || v.Cause != c.cause || len(v.Attempts) != 1 || len(v.Attempts[0].Red) != c.red {
			t.Errorf("%d errors: %s (%s) %q, %+v", c.errors, v.Status, v.Cause, v.Reason, v.Attempts)
		}
	}
}
