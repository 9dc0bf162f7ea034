package local_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/local"
	"github.com/ralph-compiler/ralph/ir"
)

func TestWhoMayAskForTheTask(t *testing.T) { // get_context, and a blind review has none
	b := newBench(t, executortest.Epic([]string{"1.1"}, func(e *ir.Epic) {
		qa := ir.Gate{Kind: "agent", Agent: "dev", Access: "read", From: "policy", OnFailure: "retry", ProtectNew: true}
		blind := qa
		blind.Kind = "review"
		e.Gates["qa"], e.Gates["blind"] = qa, blind
		e.Nodes[0].Goal = "People log in"
		e.Nodes[0].Steps[0].Gates = []string{"check", "qa", "blind"}
	}))
	var mu sync.Mutex // guards got
	got := map[string]string{}
	b.runner.Do = func(_ context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
		mu.Lock()
		defer mu.Unlock()
		got["the agent"] = string(r.Context)
		return executortest.Success(), nil
	}
	b.gate.Do = func(_ context.Context, r executor.GateRun) (executor.GateJudged, error) {
		mu.Lock()
		defer mu.Unlock()
		got[r.Name] = string(r.Context)
		return executortest.Verdict(r.Name, executor.Pass), nil
	}
	if _, err := b.apply(func(c *local.Config, _ *executor.RunStarted) {
		c.Gates = map[string]executor.Gate{"command": b.gate, "agent": b.gate, "review": b.gate}
	}); err != nil {
		t.Fatal(err)
	}
	for who, asks := range map[string]bool{"the agent": true, "qa": true, "blind": false, "check": false} {
		if is := strings.Contains(got[who], `"goal":"People log in"`); is != asks || !asks && got[who] != "" {
			t.Errorf("%s may ask for %q; want something: %v", who, got[who], asks)
		}
	}
}
