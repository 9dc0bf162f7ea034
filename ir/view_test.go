package ir_test

import (
	"maps"
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
		{"the list item above", "2", "## Tasks > - 2. Hashing > - 2.1 Hash in blocks", "2. Hashing"},
		{"one that names the item", "3", "## Tasks > - 3. As 3a.1 says > - 3a.1 Hash", "3. As 3a.1 says"},
		{"one without a heading above", "2", "- 2. Hashing > - 2.1 Hash in blocks", "2. Hashing"},
		{"one with the separator in it", "2", "## Tasks > - 2. A > B > - 2.1 C", "2. A > B"},
		{"a heading above a list", "1", "## 1. Schema > - 1.1 Table", "1. Schema"},
		{"the item that leads its group", "3a.1", "## Tasks > - 3a.1 Hashing", "3a.1 Hashing"},
		{"no phase", "", "### Sprint 4.1: A", ""},
		{"nothing", "7", "", "Phase 7"},
	} {
		n := ir.Node{Key: "3a.1", Phase: c.phase, Section: c.section}
		if got := n.PhaseTitle(); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestPhaseTitlesTellPhasesApart(t *testing.T) {
	e := &ir.Epic{Nodes: []ir.Node{
		{Key: "0", Section: "## Tasks > - 0 Begin"},
		{Key: "1.1", Phase: "1", Section: "## Tasks > - 1.1 A"},
		{Key: "2.1", Phase: "2", Section: "## Tasks > - 2.1 B"},
		{Key: "3.1", Phase: "3", Section: "## Tasks > - 3. C > - 3.1 D"},
	}}
	want := map[string]string{"": "", "1": "Tasks · 1", "2": "Tasks · 2", "3": "3. C"}
	if got := e.PhaseTitles(); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
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
