package compiler_test

import (
	"testing"

	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
)

func TestAnItemIsFoundWhereItStandsNow(t *testing.T) { // S0-108, S0-109, S0-110, S0-111
	plan := diag.NewFile("plan.md", []byte("# Plan\n\n```\n### Sprint 9.9: Not me\n<!-- beads-ralph: bd-inacode -->\n```\n\n"+
		"## Phase 1: One\n\n### Sprint 1.3: Renumbered\n<!-- beads-ralph: bd-aaaaaa -->\n\n- [ ] a\n\n### Sprint 1.1: Bare\n\n- [ ] b\n\n### Sprint 1.2: Other\n<!-- beads-ralph: bd-bbbbbb -->\n\n- [ ] c\n"))
	for _, c := range []struct {
		id      ir.NodeID
		section string
		key     ir.Key
		want    int
	}{
		{"bd-aaaaaa", "", "1.2", 10},                                       // the annotation goes along
		{"bd-bbbbbb", "## Phase 1: One > ### Sprint 1.1: Bare", "1.1", 19}, // and is more than a section
		{"bd-cccccc", "## Phase 1: One > ### Sprint 1.1: Bare", "", 15},
		{"bd-cccccc", "", "1.1", 15},
		{"bd-cccccc", "## Phase 1: One > ### Sprint 1.2: Other", "1.2", 0}, // that is another's
		{"bd-inacode", "", "", 0},
		{"", "## Phase 1: One > ### Sprint 1.2: Other", "", 19},
	} {
		if got := compiler.Locate(plan, c.id, c.section, c.key); got != c.want {
			t.Errorf("%s %q %s: line %d, want %d", c.id, c.section, c.key, got, c.want)
		}
	}
}

func TestIdentitiesAreReadFromAPlanWithErrors(t *testing.T) {
	plan := diag.NewFile("plan.md", []byte("# Plan\n<!-- beads-ralph-epic: bd-epic00 -->\n\n### Sprint 1.1: Kept\n<!-- beads-ralph: bd-aaaaaa -->\n\n**Depends on**: 9.9\n\n"+
		"### Sprint 1.2: New\n\n### Sprint 1.3: Last\n<!-- beads-ralph: bd-bbbbbb -->\n"))
	epic, items := compiler.Identities(plan)
	if epic != "bd-epic00" || len(items) != 2 || items[0].Key != "1.1" || items[0].Title != "Kept" || items[1].ID != "bd-bbbbbb" {
		t.Errorf("%s %+v", epic, items)
	}
	if at := plan.Position(items[1].Range.Start).Line; at != 11 {
		t.Errorf("line %d", at)
	}
	if epic, items := compiler.Identities(diag.NewFile("plan.md", nil)); epic != "" || items != nil {
		t.Errorf("of nothing: %s %+v", epic, items)
	}
}
