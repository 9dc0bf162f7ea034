package record

import (
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/ir"
)

func TestSprintsAreNamedByKeyOrID(t *testing.T) {
	epic := &ir.Epic{Nodes: []ir.Node{{ID: "bd-a", Key: "1.1"}, {ID: "bd-b", Key: "1.2"}}}
	if ids, err := NodeIDs(epic, []string{"1.2", "bd-a"}); err != nil || !slices.Equal(ids, []ir.NodeID{"bd-b", "bd-a"}) {
		t.Errorf("got %v, %v", ids, err)
	}
	for key, words := range map[string]string{"1.3": "there is no sprint 1.3", "integration": "is not a sprint"} {
		if _, err := NodeIDs(epic, []string{key}); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: got %v", key, err)
		}
	}
}
