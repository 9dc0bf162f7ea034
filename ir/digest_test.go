package ir

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// covered says for every field which digests of a node it is in: w(ork),
// j(udge), both or none. A new field must be entered here.
var covered = map[string]string{
	"Node.id": "", "Node.key": "", "Node.kind": "w", "Node.done": "", "Node.title": "", "Node.phase": "",
	"Node.section": "", "Node.goal": "", "Node.type": "", "Node.priority": "", "Node.lane": "", "Node.labels": "",
	"Node.implements": "", "Node.after": "", "Node.merges": "", "Node.tasks": "", "Node.acceptance": "j",
	"Node.policy": "", "Node.prompt": "w", "Node.ext": "", "Node.offline": "",
	"Git.branch": "", "Git.base": "", "Git.worktree": "",
	"Scope.owns": "w", "Scope.files": "w", "Scope.reads": "w",
	"NodeLimits.iterations": "", "NodeLimits.attempts": "", "NodeLimits.breaker": "", "NodeLimits.runner_retries": "",
	"NodeLimits.timeout_ms": "", "NodeLimits.estimate_ms": "", "NodeLimits.deadline": "",
	"Budget.tokens": "", "Budget.usd_micro": "", "Budget.wall_ms": "",
	"Complexity.level": "", "Complexity.word": "", "Complexity.from": "",
	"NodeDigest.work": "", "NodeDigest.judge": "",

	"Step.name": "wj", "Step.agent": "w", "Step.fallback": "", "Step.why": "", "Step.capabilities": "", "Step.model": "w",
	"Step.access": "w", "Step.session": "w", "Step.note": "w", "Step.prompt": "w", "Step.gates": "j", "Step.gate_mode": "j",
	"Step.on_failure": "", "Step.next": "", "Step.allow_empty": "j", "Step.sandbox": "",
	"StepLimits.iterations": "", "StepLimits.attempts": "", "StepLimits.breaker": "", "StepLimits.runner_retries": "", "StepLimits.timeout_ms": "",
	"Retry.backoff": "", "Retry.initial_ms": "", "Retry.max_ms": "", "Retry.jitter_percent": "",
	"Stall.after_ms": "", "Stall.action": "", "Stall.agent": "",

	"Agent.path": "", "Agent.digest": "wj", "Agent.slug": "wj", "Agent.runner": "wj", "Agent.model": "", "Agent.access": "",
	"Agent.capabilities": "", "Agent.tags": "", "Agent.session": "", "Agent.human": "wj", "Agent.implicit": "",
	"Cost.tokens": "", "Cost.usd_micro": "",
	"Runner.kind": "wj", "Runner.run": "wj", "Runner.prompt": "wj", "Runner.env": "wj", "Runner.set": "wj", "Runner.secrets": "wj",
	"Runner.outcome": "wj", "Runner.concurrent": "", "Runner.rpm": "", "LimitedWhen.exit_code": "", "LimitedWhen.output": "",
	"Model.id": "wj", "Model.provider": "wj", "Model.price_input": "", "Model.price_output": "",
	"Secret.env":   "wj",
	"Sandbox.kind": "", "Sandbox.write": "", "Sandbox.read": "", "Sandbox.hide": "", "Sandbox.network": "", "Sandbox.limits": "", // but for an image
	"Sandbox.cache": "", "Sandbox.services": "", "Sandbox.nest": "", "Sandbox.accept": "", "Sandbox.required": "",

	"Gate.kind": "j", "Gate.run": "j", "Gate.env": "j", "Gate.agent": "j", "Gate.fallback": "", "Gate.why": "", "Gate.model": "j",
	"Gate.access": "j", "Gate.prompt": "j", "Gate.sees": "j", "Gate.input_schema": "j", "Gate.output_schema": "j", "Gate.promise": "j",
	"Gate.no_errors": "j", "Gate.approvers": "j", "Gate.on_timeout": "", "Gate.timeout_ms": "", "Gate.on_failure": "j",
	"Gate.protect": "j", "Gate.protect_new": "j", "Gate.evidence": "j", "Gate.red_first": "j", "Gate.from": "", "Gate.baseline": "", "Gate.secrets": "j", "Gate.require": "j",
	"Gate.plan": "j", "Gate.policy": "j", "Gate.sandbox": "", "Gate.network": "",
	"Expect.exit_code": "j", "Expect.stdout_contains": "j", "Expect.stderr_contains": "j",

	"Worktree.setup": "w", "Worktree.copy": "w", "Worktree.env": "w", "Worktree.secrets": "w", "Worktree.min_free": "", "Worktree.max_commit": "", "Worktree.submodules": "w", "Worktree.layout": "",
	"Worktree.sandbox": "", "Worktree.network": "",
}

// uncovered are the types that concern the run or the plan, not a node.
var uncovered = []string{"NodeHITL", "Epic", "Header", "Integration", "Run", "Concurrency", "HITL", "GitSettings", "Notify", "Tracker", "Waiver", "FileDigest", "Edge", "Task"}

func sample() *Epic {
	code, cost := 1, int64(1)
	e := &Epic{
		Run:       Run{Worktree: Worktree{Setup: []string{"make"}, Env: map[string]string{"A": "1"}}, Tracker: &Tracker{}},
		Agents:    map[string]Agent{"a": {Runner: "r", Expect: &Cost{Tokens: &cost, USDMicro: &cost}}, "b": {}},
		Runners:   map[string]Runner{"r": {Secrets: []string{"s"}, LimitedWhen: &LimitedWhen{ExitCode: &code}}},
		Models:    map[string]Model{"m": {ID: "x"}},
		Secrets:   map[string]Secret{"s": {Env: "S"}},
		Sandboxes: map[string]Sandbox{"box": {}},
		Gates:     map[string]Gate{"g": {Kind: "agent", Agent: "a", Model: "m", InputSchema: json.RawMessage(`{}`), OutputSchema: json.RawMessage(`{}`)}},
	}
	e.Nodes = []Node{{
		ID: "bd-1", Key: "1.1", Kind: Work, Title: "T", Prompt: []string{"Do it."},
		Tasks: []Task{{Text: "x"}}, After: []Edge{{Key: "0.1", Type: Blocks}},
		Steps: []Step{{Name: "s", Agent: "a", Model: "m", Sandbox: "box", Gates: []string{"g"}}},
	}}
	return e
}

// TestChangingAFieldChangesExactlyItsDigests mutates every field of an epic.
func TestChangingAFieldChangesExactlyItsDigests(t *testing.T) {
	base := sample()
	Seal(base)
	seen := map[string]bool{}
	var walk func(s *shape, v func(e *Epic) (get reflect.Value, put func(reflect.Value)))
	walk = func(s *shape, at func(e *Epic) (reflect.Value, func(reflect.Value))) {
		for i := range s.fields {
			f := &s.fields[i]
			field := func(e *Epic) (reflect.Value, func(reflect.Value)) {
				v, put := at(e)
				c := reflect.New(v.Type()).Elem()
				c.Set(v)
				return f.of(c), func(x reflect.Value) { f.of(c).Set(x); put(c) }
			}
			switch f.shape.kind {
			case shapeStruct:
				walk(f.shape, field)
				continue
			case shapeSlice:
				walk(f.shape.elem, func(e *Epic) (reflect.Value, func(reflect.Value)) {
					v, _ := field(e)
					if v.Len() == 0 {
						return reflect.New(f.shape.elem.typ).Elem(), func(reflect.Value) {}
					}
					return v.Index(0), func(x reflect.Value) { v.Index(0).Set(x) }
				})
			case shapeMap:
				if f.shape.elem.kind == shapeStruct {
					walk(f.shape.elem, func(e *Epic) (reflect.Value, func(reflect.Value)) {
						v, _ := field(e)
						k := v.MapKeys()[0]
						if x := reflect.ValueOf("a"); v.MapIndex(x).IsValid() {
							k = x
						}
						return v.MapIndex(k), func(x reflect.Value) { v.SetMapIndex(k, x) }
					})
					continue
				}
			case shapePointer:
				if f.shape.elem.kind == shapeStruct {
					walk(f.shape.elem, func(e *Epic) (reflect.Value, func(reflect.Value)) {
						v, _ := field(e)
						return v.Elem(), func(x reflect.Value) { v.Elem().Set(x) }
					})
					continue
				}
			}
			name := s.name + "." + f.name
			if slices.Contains(uncovered, s.name) && s.name != "Epic" {
				continue
			}
			if s.name == "Epic" || name == "Node.steps" {
				continue
			}
			want, known := covered[name]
			if !known {
				t.Errorf("%s: say in this test which digests cover it", name)
				continue
			}
			seen[name] = true
			e := sample()
			v, put := field(e)
			x := reflect.New(v.Type()).Elem()
			x.Set(v)
			mutate(x)
			put(x)
			Seal(e)
			got := ""
			if e.Nodes[0].Digest.Work != base.Nodes[0].Digest.Work {
				got += "w"
			}
			if e.Nodes[0].Digest.Judge != base.Nodes[0].Digest.Judge {
				got += "j"
			}
			if got != want {
				t.Errorf("%s changes %q, want %q", name, got, want)
			}
		}
	}
	walk(epicShape(), func(e *Epic) (reflect.Value, func(reflect.Value)) {
		v := reflect.ValueOf(e).Elem()
		return v, v.Set
	})
	for name := range covered {
		if !seen[name] && !strings.HasPrefix(name, "NodeDigest") {
			t.Errorf("%s was never tried", name)
		}
	}
}

func mutate(v reflect.Value) {
	switch {
	case v.Type() == rawType:
		v.SetBytes([]byte(`{"type":"object"}`))
	case v.Kind() == reflect.String:
		v.SetString(v.String() + "b")
	case v.Kind() == reflect.Bool:
		v.SetBool(!v.Bool())
	case v.Kind() == reflect.Int || v.Kind() == reflect.Int64:
		v.SetInt(v.Int() + 1)
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		mutate(v.Elem())
	case v.Kind() == reflect.Slice:
		x := reflect.New(v.Type().Elem()).Elem()
		if x.Kind() == reflect.String {
			x.SetString("more")
		}
		v.Set(reflect.Append(v, x))
	case v.Kind() == reflect.Map:
		m := reflect.MakeMap(v.Type())
		x := reflect.New(v.Type().Elem()).Elem()
		if x.Type() == rawType {
			x.SetBytes([]byte("1"))
		}
		m.SetMapIndex(reflect.ValueOf("more").Convert(v.Type().Key()), x)
		v.Set(m)
	default:
		panic(fmt.Sprint("mutate ", v.Type()))
	}
}

func TestARenumberedSprintKeepsItsDigests(t *testing.T) {
	e := sample()
	e.Gates["1.1/verify"] = Gate{Kind: "command", Run: "make"}
	e.Nodes[0].Steps[0].Gates = []string{"1.1/verify"}
	e.Nodes[0].Prompt = []string{"Sprint 1.1: T"}
	Seal(e)
	before := e.Nodes[0].Digest

	e.Nodes[0].Key = "1.2"
	e.Nodes[0].Prompt = []string{"Sprint 1.2: T"}
	e.Gates = map[string]Gate{"1.2/verify": e.Gates["1.1/verify"]}
	e.Nodes[0].Steps[0].Gates = []string{"1.2/verify"}
	Seal(e)
	if e.Nodes[0].Digest != before {
		t.Errorf("digests of a renumbered sprint: %v, before: %v", e.Nodes[0].Digest, before)
	}
	e.Nodes[0].Prompt = []string{"Sprint 1.2: T", "like 1.2"}
	Seal(e)
	withLine := e.Nodes[0].Digest.Work
	e.Nodes[0].Prompt = []string{"Sprint 1.2: T", "like 1.3"}
	Seal(e)
	if e.Nodes[0].Digest.Work == withLine {
		t.Error("a number in the text of a sprint is no longer covered")
	}
}

// Of a sandbox only its image is part of the work: execution §2.
func TestAnImageIsPartOfTheWork(t *testing.T) {
	e := sample()
	Seal(e)
	before := e.Nodes[0].Digest
	e.Sandboxes["box"] = Sandbox{Kind: "container", Limits: map[string]string{"memory": "4g"}}
	e.Sandboxes["other"] = Sandbox{Kind: "none"}
	for _, name := range []string{"box", "other", "none", ""} {
		e.Nodes[0].Steps[0].Sandbox = name
		if Seal(e); e.Nodes[0].Digest != before {
			t.Errorf("sandbox %q changes the digests", name)
		}
	}
	e.Nodes[0].Steps[0].Sandbox = "box"
	e.Sandboxes["box"].Limits["image"] = "golang:1.26"
	if Seal(e); e.Nodes[0].Digest.Work == before.Work || e.Nodes[0].Digest.Judge != before.Judge {
		t.Errorf("the image is not covered as work alone: %v, before: %v", e.Nodes[0].Digest, before)
	}
}

func TestGateDigestBindsApprovals(t *testing.T) {
	e := sample()
	first := GateDigest(e, "g")
	if first == "" || GateDigest(e, "nothing") != "" {
		t.Fatalf("got %q", first)
	}
	g := e.Gates["g"]
	g.TimeoutMS = 5
	e.Gates["g"] = g
	if GateDigest(e, "g") != first {
		t.Error("a timeout changes what an approval binds to")
	}
	g.Approvers = []string{"@bo"}
	e.Gates["g"] = g
	if GateDigest(e, "g") == first {
		t.Error("other approvers do not change what an approval binds to")
	}
}
