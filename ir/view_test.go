package ir_test

import (
	"testing"

	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/irtest"
)

func TestPhaseTitle(t *testing.T) {
	for _, c := range []struct{ name, phase, section, want string }{
		{"the heading above the sprint", "1", "## Phase 1: Schema > ### Sprint 1.2: B", "Phase 1: Schema"},
		{"the nearest heading that names the phase", "2", "## All phases > ### Phase 2: Core > ### Tasks > - T1", "Phase 2: Core"},
		{"a title with the separator in it", "3a", "## Phase 3a: Shop > ### Sprint 3a.1: A > B", "Phase 3a: Shop"},
		{"no heading that names it", "4", "## Work > ### Sprint 4.1: A", "Work"},
		{"an implicit phase", "4", "### Sprint 4.1: A", "Phase 4"},
		{"no phase", "", "### Sprint 4.1: A", ""},
		{"nothing", "7", "", "Phase 7"},
	} {
		n := ir.Node{Key: "3a.1", Phase: c.phase, Section: c.section}
		if got := n.PhaseTitle(); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestHumanGates(t *testing.T) {
	e := irtest.Rich()
	if got := e.HumanGates(at(e, "2.3")); len(got) != 1 || got[0] != "lead-approves" {
		t.Errorf("got %v", got)
	}
	if got := e.HumanGates(at(e, "1.1")); got != nil {
		t.Errorf("got %v", got)
	}
}
