package web

import (
	"testing"

	"github.com/ralph-compiler/ralph/executor"
)

func TestNewProtectedFilesAreListedApart(t *testing.T) {
	t.Parallel()
	f := &finder{}
	f.event(executor.Event{Body: executor.Collected{Listed: []string{"new files that gate unit protects from now on: a_test.go", "gate unit protects what was changed: b_test.go"}, Fresh: 1}})
	f.event(executor.Event{Body: executor.Collected{Listed: []string{"new files: of an earlier release"}}})
	if len(f.fresh) != 1 || len(f.protected) != 2 || f.protected[0].Text != "gate unit protects what was changed: b_test.go" {
		t.Errorf("new: %+v\nelse: %+v", f.fresh, f.protected)
	}
	if c := check("fresh", "", "none", trustNone, f.fresh); c.State != trustGood {
		t.Errorf("new files are %s", c.State)
	}
}

func TestWhatSandboxesRefusedIsAddedUp(t *testing.T) {
	t.Parallel()
	f := &finder{}
	refused := func(name string, hosts ...executor.Refusal) *executor.Sandboxed {
		return &executor.Sandboxed{Name: name, Kind: "namespaces", Refused: hosts}
	}
	for _, b := range []executor.Body{
		executor.AgentEnded{Sandbox: refused("default", executor.Refusal{Host: "github.com:443", Times: 3}, executor.Refusal{Host: "a.example:80", Times: 1})},
		executor.AgentEnded{Sandbox: refused("default")},
		executor.AgentEnded{},
		executor.GateJudged{Gate: "check", Sandbox: refused("default", executor.Refusal{Host: "github.com:443", Times: 1})},
		executor.GateJudged{Gate: "images", Sandbox: refused("build", executor.Refusal{Host: "b.example:443", Times: 2})},
	} {
		f.event(executor.Event{Body: b})
	}
	got := f.refusals()
	want := []string{"refused: 2 × b.example:443 (sandbox build)", "refused: 4 × github.com:443, 1 × a.example:80 (sandbox default)"}
	if len(got) != 2 || got[0].Text != want[0] || got[1].Text != want[1] {
		t.Errorf("got %+v, want %q", got, want)
	}
}

func TestAnAttemptWithoutAChangeIsNoReasonForDistrust(t *testing.T) {
	t.Parallel()
	f := &finder{}
	f.event(executor.Event{Body: executor.Collected{Problems: []string{executor.NothingChanged}}})
	f.event(executor.Event{Body: executor.Collected{Problems: []string{"a.go is outside of what the sprint owns", executor.NothingChanged}}})
	if len(f.protected) != 1 || f.protected[0].Text != "refused: a.go is outside of what the sprint owns" {
		t.Errorf("%+v", f.protected)
	}
}
