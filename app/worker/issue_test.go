package worker

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/ir"
	bdcodec "github.com/ralph-compiler/ralph/ir/codec/bd"
)

// A worker reads an issue as `ralph import --as bd` does: with its design and notes, and
// with the keys kept that ralph does not know. What says where the work stands is no
// part of it, so that the same issue is the same epic before and after a run.
// S4-110, S0-12
func TestAnIssueIsReadAsAnImportReadsIt(t *testing.T) {
	t.Parallel()
	const said = `"id":"bd-a","title":" Make  it\nblue ","description":"As asked.\r\nToday.","design":"with paint","notes":"not the door","acceptance_criteria":"- [ ] it is blue",
"priority":1,"issue_type":"bug","estimated_minutes":90,"spec_id":"s-1","surprise":{"big":9007199254740993},"labels":["api","phase:implement","human:approved","needs:human_approval"]`
	read := func(more string) string {
		var i bd.Issue
		row := []byte("{" + said + more + "}")
		if err := json.Unmarshal(row, &i); err != nil {
			t.Fatal(err)
		}
		i.Raw = row
		in, err := issueDraft(i, "implement", bdcodec.LabelsOf(ir.Run{}))
		if err != nil || in.Draft == nil || len(in.Draft.Nodes) != 1 {
			t.Fatalf("%v, %v", err, in.Diags)
		}
		n := in.Draft.Nodes[0]
		if n.ID != "bd-a" || n.Key != "bd-a" || n.Title != "Make it blue" || in.Draft.Title != n.Title || n.Goal != "As asked.\nToday." || !slices.Equal(n.Text, []string{"with paint", "not the door"}) ||
			!slices.Equal(n.Acceptance, []string{"it is blue"}) || n.Priority.Value != "1" || n.Type.Value != "bug" || n.Estimate.Value != "90m" || !slices.Equal(n.Labels, []string{"api"}) ||
			n.Start.Value != "implement" || n.Done || len(n.Edges) != 0 {
			t.Errorf("%+v", n)
		}
		if ext := string(n.Ext["bd"]); !strings.Contains(ext, `"spec_id":"s-1"`) || !strings.Contains(ext, "9007199254740993") || strings.Contains(ext, "token") {
			t.Errorf("kept: %s", ext)
		}
		return string(in.Sources[0].Bytes) + string(n.Ext["bd"])
	}
	fresh := read(`,"status":"open","updated_at":"2026-01-01T00:00:00Z","metadata":{"theirs":1}`)
	again := read(`,"status":"in_progress","assignee":"ralph","updated_at":"2026-01-02T00:00:00Z","revision":7,"metadata":{"theirs":1,"ralph_worker":"token"},"dependency_count":1,
"dependencies":[{"issue_id":"bd-a","depends_on_id":"bd-z","type":"blocks"}]`)
	if fresh != again {
		t.Errorf("while it runs it reads\n%s\nbefore\n%s", again, fresh)
	}
}
