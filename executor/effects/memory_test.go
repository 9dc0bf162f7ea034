package effects_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/effects"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/internal/wall"
	"github.com/ralph-compiler/ralph/ir"
)

// TestOutOfMemoryIsAFailedAttempt: what an agent or its gate does to itself is no crash that
// is tried again for nothing, and the next attempt is told.
func TestOutOfMemoryIsAFailedAttempt(t *testing.T) { // execution §4
	box := ir.Sandbox{Kind: "auto", Limits: map[string]string{"memory": "4000000000", "cpu": "150"}}
	epic := executortest.Epic([]string{"1.1"}, func(e *ir.Epic) {
		e.Sandboxes = map[string]ir.Sandbox{"default": box}
		check := e.Gates["check"]
		check.Sandbox = "default"
		e.Gates["check"] = check
		e.Nodes[0].Steps[0].Sandbox = "default"
		e.Nodes[0].Steps[0].Limits.Attempts, e.Nodes[0].Steps[0].Limits.Breaker = 3, 3
	})
	with := tools(t, epic)
	with.Confinement = effects.Confinement{
		Kinds: map[string]wall.Kind{"default": wall.Namespaces}, Home: "/home/ada", Groups: "/groups",
		Mounts: func(string) ([]wall.Mount, error) { return nil, nil },
	}
	var prompts []string
	with.Runners["command"] = executortest.Runner{Do: func(_ context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
		if l := r.Wall.Limits; l.Memory != 4e9 || l.CPU != 150 || r.Wall.Groups != "/groups" {
			t.Errorf("the wall has %+v, groups %q", l, r.Wall.Groups)
		}
		if prompts = append(prompts, string(r.Prompt)); len(prompts) == 1 {
			r.Wall.OutOfMemory()
			return executor.AgentEnded{}, &executor.Failure{Class: executor.FailCrash, Err: errors.New("killed by signal 9")}
		}
		return executortest.Success(), nil
	}}
	judged := 0
	with.Gates["command"] = executortest.Gate{Do: func(_ context.Context, r executor.GateRun) (executor.GateJudged, error) {
		if judged++; judged > 1 {
			return executortest.Verdict(r.Name, executor.Pass), nil
		}
		r.Wall.OutOfMemory()
		return executortest.Verdict(r.Name, executor.Fail), nil
	}}
	a := newAfar(t, with)
	a.drive()
	if got := a.run.Summary().Counts(); got["done"] != 1 || len(prompts) != 3 {
		t.Fatalf("%v, %d turns\n%s", got, len(prompts), executortest.Statuses(a.run))
	}
	const why, more = `out of memory (limit 4GB, sandbox "default")`, "4GB of memory in all (limits.memory)"
	for i, want := range []string{"", "Attempt 1 of step implement failed: " + why, why} {
		if i > 0 && (!strings.Contains(prompts[i], want) || !strings.Contains(prompts[i], more)) {
			t.Errorf("attempt %d is told\n%s", i+1, prompts[i])
		}
	}
	log := a.run.Views()[0].Attempts
	if len(log) != 3 || !strings.HasPrefix(log[0].Reason, why) || log[0].Sandbox.Memory != "4GB" || !strings.Contains(log[1].Reason, why) || log[2].Sandbox.Memory != "" {
		t.Errorf("%+v", log)
	}
}

// TestATurnThatWasCutSaysInWhatSandboxItWas: who looks at what it left is led there, and told
// what it could not reach.
func TestATurnThatWasCutSaysInWhatSandboxItWas(t *testing.T) {
	epic := executortest.Epic([]string{"1.1"}, func(e *ir.Epic) {
		e.Sandboxes = map[string]ir.Sandbox{"default": {Kind: "auto", Network: []string{"a.example"}}}
		e.Nodes[0].Steps[0].Sandbox = "default"
		e.Nodes[0].Steps[0].Limits.Attempts = 1
	})
	with := tools(t, epic)
	with.Confinement = effects.Confinement{
		Kinds: map[string]wall.Kind{"default": wall.Namespaces}, Home: "/home/ada",
		Mounts: func(string) ([]wall.Mount, error) { return nil, nil },
	}
	with.Runners["command"] = executortest.Runner{Do: func(_ context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
		r.Wall.Egress.Refused(wall.Denial{Host: "b.example:443"})
		return executor.AgentEnded{}, &executor.Failure{Class: executor.FailCrash, Err: errors.New("killed by signal 9")}
	}}
	a := newAfar(t, with)
	a.drive()
	log := a.run.Views()[0].Attempts
	if len(log) == 0 || log[0].Turns > 0 || !log[0].Sandbox.Confined() || executor.RefusedHosts(log[0].Sandbox.Refused, 0) != "1 × b.example:443" {
		t.Errorf("%+v\n%s", log, executortest.Statuses(a.run))
	}
}
