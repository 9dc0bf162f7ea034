package machine_test

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
		"a diagnosis that is late":                        {doctor, first(stalled(), onKind(executor.EffectDiagnose, append(times(2, fails(executor.FailTransient)), times(9, executor.Diagnosed{Action: "fail"})...)...)), executor.Blocked, "", 3},
		"one whose runner has a limit":                    {doctor, first(stalled(), onKind(executor.EffectDiagnose, append(times(4, fails(executor.FailLimit)), times(9, executor.Diagnosed{Action: "fail"})...)...)), executor.Blocked, "", 3},
		"another takes no place for a moment":             {fallback, onKind(executor.EffectAgent, times(2, fails(executor.FailTransient))...), executor.Done, "", 1},
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
			counted := 0 // interruptions are none
			for _, a := range c.answers {
				if f, is := a.(executor.EffectFailed); !is || f.Class != executor.FailInterrupted {
					counted++
				}
			}
			if got := v.Attempts[0].Erred; len(got) != counted || counted > 0 && (got[0].Gate != "qa" || got[0].At.IsZero()) {
				t.Errorf("%d times without a verdict: %+v", counted, got)
			}
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
	for mode, want := range map[string]string{"ordered": "qa qa unit test", "parallel": "qa unit test qa"} {
		s := newStage(t, []string{"1.1"}, withGates(mode, qa("qa"), cmd("unit"), cmd("test")), step(func(s *ir.Step) { s.Retry = ir.Retry{Backoff: "fixed", InitialMS: 1000} }))
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

func TestNoGateBeginsBehindOneThatNobodyCouldJudge(t *testing.T) { // execution §3 ordered
	s := newStage(t, []string{"1.1"}, withGates("ordered", qa("qa"), cmd("unit")))
	s.answer = func(e executor.Effect) executor.Body {
		if e.Gate == "unit" {
			t.Error("unit was judged")
		}
		return verdicts(map[string][]executor.Verdict{"qa": {executor.ErrorJudged}})(e)
	}
	s.begin()
	s.until(nil)
	s.is("1.1", executor.Waiting, executor.CauseGate, "qa")
}

func TestCommandsShareTheWorktreeInTurn(t *testing.T) { // execution §3 parallel; L0-05
	s := newStage(t, []string{"1.1"}, withGates("parallel", cmd("unit"), qa("qa"), cmd("test"), qa("scan")))
	s.begin()
	s.until(func(e executor.Effect) bool { return e.Kind == executor.EffectCollect })
	s.report(s.flying[0])
	var got string
	for _, e := range s.run.Todo(s.now).Start {
		got += " " + e.Gate
	}
	if got != " unit qa scan" {
		t.Errorf("at work at once:%s; want unit, qa, scan", got)
	}
}

func TestALimitOfAGatesRunnerParksIt(t *testing.T) { // execution §4: a rate limit parks the runner; L0-07
	s := newStage(t, []string{"1.1"}, withGates("parallel", qa("qa")))
	limit := fails(executor.FailLimit)
	limit.Until = s.now.Add(3 * time.Hour)
	s.answer = onKind(executor.EffectGate, limit)
	s.begin(func(r *executor.RunStarted) { r.Wait = true })
	began := s.now
	s.until(nil)
	s.is("1.1", executor.Done, "", "")
	if d := s.now.Sub(began); d != 3*time.Hour || len(s.view("1.1").Attempts) != 1 {
		t.Errorf("it waited for %s, in %d attempts; want 3 hours, in one", d, len(s.view("1.1").Attempts))
	}
	parked := false
	for _, e := range s.events {
		b, ok := e.Body.(executor.RunnerParked)
		parked = parked || ok && b.Runner == "sh" && b.Until.Equal(limit.Until)
	}
	if !parked {
		t.Error("its runner was not parked")
	}
}

func TestAGateFailsFirstOncePerStep(t *testing.T) { // execution §3 red_first: before the first attempt of the step
	for name, c := range map[string]struct {
		epic func(*ir.Epic)
		want int // times that the gate was run before any work
	}{
		"one step":                         {func(*ir.Epic) {}, 1},
		"each attempt begins at the start": {step(func(s *ir.Step) { s.OnFailure = "reset" }), 1},
		"the second step": {func(e *ir.Epic) {
			gates := e.Nodes[0].Steps[0].Gates
			threeSteps(e)
			e.Nodes[0].Steps[1].Gates = gates
		}, 1},
	} {
		red := cmd("repro")
		red.RedFirst = true
		s := newStage(t, []string{"1.1"}, withGates("parallel", red), c.epic)
		next := verdicts(map[string][]executor.Verdict{"repro": {executor.Fail, executor.Pass}})
		n := 0
		s.answer = func(e executor.Effect) executor.Body {
			if e.Kind == executor.EffectRed {
				n++
			}
			return next(e)
		}
		s.begin()
		s.until(nil)
		s.is("1.1", executor.Done, "", "")
		if n != c.want {
			t.Errorf("%s: seen failing %d times, want %d", name, n, c.want)
		}
	}
}

func TestWhoJudgedIsOnRecord(t *testing.T) { // S0-73..75, S4-38
	s := newStage(t, []string{"1.1"}, withGates("parallel", qa("qa"), qa("script")), func(e *ir.Epic) {
		g := e.Gates["script"]
		g.Agent = "plain" // a program that asks no model
		e.Gates["script"], e.Agents["plain"] = g, e.Agents["qa"]
		e.Runners["asks"] = ir.Runner{Kind: "claude", Run: []string{"claude"}, Prompt: "stdin"}
		e.Agents["qa"] = ir.Agent{Runner: "asks", Access: "read"}
	})
	s.answer = func(e executor.Effect) executor.Body {
		if e.Kind != executor.EffectGate {
			return nil
		}
		g := executortest.Verdict(e.Gate, executor.Pass)
		g.Agent, g.Model = e.Agent, "small"
		if e.Gate == "qa" {
			g.Session = "ses-qa"
		}
		return g
	}
	s.begin()
	s.until(nil)
	a := s.view("1.1").Attempts[0]
	models := map[string]string{}
	for _, g := range a.Gates {
		models[g.Gate] = g.Model
	}
	if models["qa"] != "small" || models["script"] != "" {
		t.Errorf("the models are %v; want small of qa, none of a program that asks none", models)
	}
	if len(a.Sessions) != 1 || a.Sessions[0].Session != "ses-qa" || a.Sessions[0].Agent != "qa" || a.Sessions[0].Gate != "qa" {
		t.Errorf("the sessions are %+v", a.Sessions)
	}
}
