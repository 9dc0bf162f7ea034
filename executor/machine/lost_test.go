package machine

import (
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// lossy is a run of one node with an agent, a gate of each sort, and two inputs that
// have to be merged.
func lossy() *ir.Epic {
	retry := ir.Retry{Backoff: "exponential", InitialMS: 1000, MaxMS: 60_000}
	one := func(id string, after ...ir.Edge) ir.Node {
		return ir.Node{
			ID: ir.NodeID("bd-" + id), Key: ir.Key(id), Kind: ir.Work, After: after, Digest: ir.NodeDigest{Work: "w" + id, Judge: "j"},
			Steps: []ir.Step{{
				Name: "s", Agent: "a", Access: "write", Gates: []string{"red", "q"}, GateMode: "parallel", Next: "s", Session: "fresh",
				Stall: ir.Stall{Action: "diagnose", Agent: "a"}, Limits: ir.StepLimits{Attempts: 3, Iterations: 1, RunnerRetries: 2}, Retry: retry,
			}},
		}
	}
	last := one("3", ir.Edge{Key: "1", Type: ir.Blocks}, ir.Edge{Key: "2", Type: ir.Blocks})
	return &ir.Epic{
		Epic: ir.Header{ID: "bd-e", Integration: ir.Integration{Mode: "none"}}, Digest: "d",
		Agents: map[string]ir.Agent{"a": {Runner: "r"}}, Runners: map[string]ir.Runner{"r": {}},
		Gates: map[string]ir.Gate{"red": {Kind: "command", RedFirst: true}, "q": {Kind: "agent", Agent: "a"}},
		Nodes: []ir.Node{one("1"), one("2"), last},
	}
}

// losing plays a run in which some workers are lost, until nothing happens by itself;
// it returns how often the effects of the last node began (of its gates: q), how long that took,
// and a function that lets a person retry and says the same of what comes then.
func losing(t *testing.T, lose func(e executor.Effect, nth int) bool) (run *Run, begun map[executor.EffectKind]int, took time.Duration, retry func() map[executor.EffectKind]int) {
	t.Helper()
	run, err := New(lossy())
	if err != nil {
		t.Fatal(err)
	}
	now := time.UnixMilli(0).UTC()
	put := func(e executor.Event) {
		t.Helper()
		e.Seq, e.At = run.Seq()+1, now
		if err := run.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	play := func() map[executor.EffectKind]int {
		begun := map[executor.EffectKind]int{}
		for range 1000 {
			todo := run.Todo(now)
			for _, e := range todo.Record {
				put(e)
			}
			if len(todo.Record) > 0 {
				continue
			}
			for _, e := range todo.Start {
				put(e.Started())
				e.Seq = run.Seq()
				if e.Node != "bd-3" || e.Kind == executor.EffectGate && e.Gate != "q" {
					put(e.Says(goesWell(e)))
					continue
				}
				if begun[e.Kind]++; lose(e, begun[e.Kind]) {
					put(e.Says(executor.EffectFailed{Class: executor.FailLost, Detail: "its worker is gone", Gate: e.Gate}))
					continue
				}
				put(e.Says(goesWell(e)))
			}
			switch {
			case len(todo.Start) > 0:
			case todo.Done:
				return begun
			default:
				now = todo.Wake
			}
		}
		t.Fatalf("it goes on for ever: %v", begun)
		return nil
	}
	put(executor.Event{Body: executor.RunStarted{Epic: "bd-e", Digest: "d", Base: executor.Tree{Commit: "base", Tree: "base"}, Slots: 1, By: "me"}})
	begun = play()
	return run, begun, now.Sub(time.UnixMilli(0)), func() map[executor.EffectKind]int {
		bound, err := run.Decisions().Consider("bd-3", executor.Decision{Verb: executor.RetryNode, Message: "now", By: "ann", At: now}, now)
		if err != nil {
			t.Fatal(err)
		}
		put(executor.Event{Node: "bd-3", Body: executor.Decided{Decision: bound}})
		return play()
	}
}

// goesWell is what goes well, but for the first turn of the last node's agent, which stalls.
func goesWell(e executor.Effect) executor.Body {
	switch e.Kind {
	case executor.EffectBase:
		return executor.BaseMade{Base: executor.Tree{Commit: "merged", Tree: "merged"}}
	case executor.EffectPrepare:
		return executor.Prepared{}
	case executor.EffectAgent:
		if e.Node == "bd-3" && e.Attempt == 1 {
			return executor.AgentEnded{End: executor.EndStalled}
		}
		return executor.AgentEnded{End: executor.EndExited, Outcome: executor.Outcome{Result: "success"}}
	case executor.EffectDiagnose:
		return executor.Diagnosed{Action: "retry"}
	case executor.EffectCollect:
		return executor.Collected{Result: executor.Tree{Commit: "c" + string(e.Node), Tree: "c" + string(e.Node)}}
	case executor.EffectGate, executor.EffectRed:
		v := executor.Pass
		if e.Kind == executor.EffectRed {
			v = executor.Fail
		}
		return executor.GateJudged{Gate: e.Gate, Verdict: v, Tests: "skip", Red: e.Kind == executor.EffectRed}
	}
	return executor.Published{Result: executor.Tree{Commit: e.Commit, Tree: e.Commit}}
}

// An effect that takes its worker with it each time begins as often as a runner is
// tried again, each time later, and then a person is asked, whose word begins the count anew.
func TestAnEffectThatLosesItsWorkersDoesNotBeginForEver(t *testing.T) { // execution §4, §9
	for kind, cause := range map[executor.EffectKind]executor.Cause{
		executor.EffectBase: executor.CauseWorkspace, executor.EffectPrepare: executor.CauseWorkspace, executor.EffectRed: executor.CauseWorkspace, executor.EffectAgent: executor.CauseRunner,
		executor.EffectDiagnose: executor.CauseDiagnosis, executor.EffectCollect: executor.CauseWorkspace, executor.EffectGate: executor.CauseGate, executor.EffectPublish: executor.CauseWorkspace,
	} {
		t.Run(string(kind), func(t *testing.T) {
			run, begun, took, retry := losing(t, func(e executor.Effect, _ int) bool { return e.Kind == kind })
			v, _ := run.View("bd-3")
			if begun[kind] != 3 || took < 3*time.Second {
				t.Errorf("%s began %d times in %s, want 3 times in 3 s", kind, begun[kind], took)
			}
			if v.Status != executor.Waiting || v.For != executor.ForHuman || v.Cause != cause {
				t.Errorf("node 3 is %s for %s, cause %s; want it waiting for a person, cause %s", v.Status, v.For, v.Cause, cause)
			}
			for _, a := range v.Attempts {
				if a.Status.Counts() && a.Status != executor.AttemptPassed {
					t.Errorf("attempt %d was charged: %s", a.Number, a.Reason)
				}
			}
			if kind == executor.EffectDiagnose { // a person's word goes on without a diagnosis
				return
			}
			if again := retry(); again[kind] != 3 {
				t.Errorf("after a person's word %s began %d times, want 3", kind, again[kind])
			}
		})
	}
}

// What a worker reports ends the row: so many may be lost between two reports.
func TestAReportEndsTheRowOfLostWorkers(t *testing.T) {
	for _, kind := range []executor.EffectKind{executor.EffectPrepare, executor.EffectAgent, executor.EffectGate, executor.EffectPublish} {
		run, begun, _, _ := losing(t, func(e executor.Effect, nth int) bool { return e.Kind == kind && nth%3 != 0 })
		if v, _ := run.View("bd-3"); v.Status != executor.Done {
			t.Errorf("%s: node 3 is %s (%s), after %v", kind, v.Status, v.Reason, begun)
		}
	}
}
