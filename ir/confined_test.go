package ir

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func confinedEpic() *Epic {
	e := sample()
	e.Sandboxes = map[string]Sandbox{
		"default": {Kind: "auto", Network: []string{"model"}}, "strict": {Kind: "bwrap"}, "off": {Kind: "none"}, "none": {Kind: "none"},
	}
	e.Gates = map[string]Gate{
		"unit": {Kind: "command", Sandbox: "default"},
		"db":   {Kind: "command", Sandbox: "default", Network: []string{"db.example.com"}},
		"open": {Kind: "command", Sandbox: "none", Network: []string{"example.com"}},
		"look": {Kind: "review", Sandbox: "default", Network: []string{"model"}},
	}
	e.Run.Worktree.Sandbox, e.Run.Worktree.Network = "strict", []string{"packages.example.com"}
	return e
}

func TestWhatAProgramCanReach(t *testing.T) {
	for _, c := range []struct {
		what string
		edit func(e *Epic)
		of   func(e *Epic) Confined
		name string
		net  []string
	}{
		{"a step has its sandbox and that one's network", nil, step("default", false), "default", []string{"model"}},
		{"a step may have none", nil, step("none", false), "", nil},
		{"kind none is none", nil, step("off", false), "", nil},
		{"a step that was made up has the default", nil, step("", false), "default", []string{"model"}},
		{"without a default it has none", func(e *Epic) { delete(e.Sandboxes, "default") }, step("", false), "", nil},
		{"in the sum it has the integration's", func(e *Epic) { e.Epic.Integration.Sandbox = "strict" }, step("", true), "strict", nil},
		{"only there", func(e *Epic) { e.Epic.Integration.Sandbox = "strict" }, step("", false), "default", []string{"model"}},
		{"the integration may have none", func(e *Epic) { e.Epic.Integration.Sandbox = "none" }, step("", true), "", nil},
		{"a command reaches nothing", nil, gate("unit", false), "default", nil},
		{"but what its gate names", nil, gate("db", false), "default", []string{"db.example.com"}},
		{"a gate may have no sandbox", nil, gate("open", false), "", nil},
		{"a judge reaches its model", nil, gate("look", false), "default", []string{"model"}},
		{"no gate, no sandbox", nil, gate("gone", false), "", nil},
		{"in the sum a gate keeps its own", nil, gate("db", true), "default", []string{"db.example.com"}},
		{"the integration's network is instead", func(e *Epic) { e.Epic.Integration.Network = []string{"x.example"} }, gate("db", true), "default", []string{"x.example"}},
		{"but not a judge's", func(e *Epic) { e.Epic.Integration.Network = []string{"x.example"} }, gate("look", true), "default", []string{"model"}},
		{"nor a node's", func(e *Epic) { e.Epic.Integration.Network = []string{"x.example"} }, gate("unit", false), "default", nil},
		{"the integration's sandbox is instead", func(e *Epic) { e.Epic.Integration.Sandbox = "strict" }, gate("open", true), "strict", []string{"example.com"}},
		{"also if it is none", func(e *Epic) { e.Epic.Integration.Sandbox = "none" }, gate("unit", true), "", nil},
		{"setup has its own", nil, (*Epic).SetupConfined, "strict", []string{"packages.example.com"}},
		{"setup may have none", func(e *Epic) { e.Run.Worktree.Sandbox = "none" }, (*Epic).SetupConfined, "", nil},
	} {
		e := confinedEpic()
		if c.edit != nil {
			c.edit(e)
		}
		got := c.of(e)
		if got.Name != c.name || !slices.Equal(got.Network, c.net) || (got.Sandbox.Kind == "") != (c.name == "") {
			t.Errorf("%s: %+v, want %s %v", c.what, got, c.name, c.net)
		}
	}
}

func step(sandbox string, sum bool) func(*Epic) Confined {
	return func(e *Epic) Confined { return e.StepConfined(&Step{Sandbox: sandbox}, sum) }
}

func gate(name string, sum bool) func(*Epic) Confined {
	return func(e *Epic) Confined { return e.GateConfined(name, sum) }
}

// Neither hosts nor paths nor limits are what agents are told or what judges them: to
// add a wall re-runs nothing.
func TestAWallIsInNoDigest(t *testing.T) {
	e := sample()
	e.Sandboxes = nil
	e.Nodes[0].Steps[0].Sandbox = ""
	Seal(e)
	before, gate := e.Nodes[0].Digest, GateDigest(e, "g")
	box := Sandbox{
		Kind: "auto", Network: []string{"model"}, Cache: []string{"~/x"}, Read: []string{"/opt"}, Write: []string{"/srv"}, Hide: []string{"/opt/x"},
		Services: []string{"127.0.0.1:1"}, Limits: map[string]string{"memory": "4000000000"}, Nest: true, Accept: "landlock", Required: true,
	}
	e.Sandboxes = map[string]Sandbox{"default": box}
	e.Nodes[0].Steps[0].Sandbox = "default"
	g := e.Gates["g"]
	g.Sandbox, g.Network = "default", []string{"model"}
	e.Gates["g"] = g
	e.Run.Worktree.Sandbox, e.Run.Worktree.Network = "default", []string{"example.com"}
	e.Epic.Integration.Sandbox, e.Epic.Integration.Network = "default", []string{"example.com"}
	Seal(e)
	if e.Nodes[0].Digest != before || GateDigest(e, "g") != gate {
		t.Errorf("a sandbox changed %v to %v, the gate's %s to %s", before, e.Nodes[0].Digest, gate, GateDigest(e, "g"))
	}
}

func TestLimitsAreNumbers(t *testing.T) {
	s := Sandbox{Limits: map[string]string{"memory": "4000000000", "cpu": "2.5", "pids": "-1", "tmp": "4g"}}
	for name, want := range map[string]int64{"memory": 4_000_000_000, "cpu": 0, "pids": 0, "tmp": 0, "file": 0} {
		if got := s.Limit(name); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
}

// An epic says where each program runs by names that it has.
func TestSandboxesThatAreNotThereAreRefused(t *testing.T) {
	for at, edit := range map[string]func(e *Epic){
		"gates.g.sandbox":          func(e *Epic) { e.Gates["g"] = Gate{Kind: "command", Run: "true", Sandbox: "x"} },
		"run.worktree.sandbox":     func(e *Epic) { e.Run.Worktree.Sandbox = "x" },
		"epic.integration.sandbox": func(e *Epic) { e.Epic.Integration.Sandbox = "x" },
	} {
		e := sample()
		edit(e)
		if said := fmt.Sprint(e.Verify()); !strings.Contains(said, at+": ") {
			t.Errorf("%s is not refused: %s", at, said)
		}
	}
}
