package bd_test

import (
	"slices"
	"testing"

	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/bd"
)

// The tracker's names of labels count before those of hitl, and both before Agent
// Shepherd's; a manual sprint's bead is excluded by the same name.
func TestLabelsHaveTheNamesOfThePolicy(t *testing.T) { // S4-16, S4-97..99
	e := imported(t, line("bd-a", `,"labels":["ashep:excluded"]`))
	e.Run.HITL.Labels = map[string]string{"approved": "fine", "exclude": "mine"}
	e.Run.Tracker = &ir.Tracker{Labels: map[string]string{"approved": "ok", "exclude": "hands-off"}}
	if got, want := bd.LabelsOf(e.Run), (bd.Labels{"needs:human_approval", "ok", "human:changes_requested", "hands-off"}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	rows, err := bd.Rows(e, nil)
	if err != nil || len(rows) != 2 || !slices.Contains(rows[1].Labels, "hands-off") {
		t.Errorf("%+v, %v", rows, err)
	}
}
