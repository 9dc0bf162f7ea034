package journal

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// Whatever is on record about a node makes its id known, also a letter that nobody
// has read. execution §2
func TestKnownNodes(t *testing.T) {
	dir := t.TempDir()
	if ids, err := Known(t.Context(), dir, "bd-epic"); ids != nil || err != nil {
		t.Fatalf("without a journal: %v, %v", ids, err)
	}
	l := reopened(t, dir)
	if err := l.Append(t.Context(), []executor.Event{
		{Seq: 1, Body: executor.RunStarted{}},
		{Seq: 2, Node: "bd-1", Body: executor.Decided{Decision: executor.Decision{ID: "x", Verb: executor.Skip}}},
		{Seq: 3, Node: "bd-1", Body: executor.NodeStarted{Key: "1.1"}},
		{Seq: 7, Body: executor.TailLost{After: 3, Found: []executor.Orphan{{Node: "bd-2"}, {Node: "bd-3"}}}},
	}); err != nil {
		t.Fatal(err)
	}
	if err := Send(t.Context(), dir, "bd-epic", executor.Letter{Node: "bd-4", Decision: executor.Decision{ID: "y", Verb: executor.Skip}}); err != nil {
		t.Fatal(err)
	}
	ids, err := Known(t.Context(), dir, "bd-epic")
	slices.Sort(ids)
	if want := []ir.NodeID{"bd-1", "bd-2", "bd-3", "bd-4"}; err != nil || !slices.Equal(slices.Compact(ids), want) {
		t.Errorf("known: %v, %v; want %v", ids, err, want)
	}
	if _, err := Known(t.Context(), dir, "bd-other"); err == nil {
		t.Error("the journal of another epic was read")
	}
	for _, ending := range []string{"", "-wal", "-shm"} {
		if err := os.WriteFile(filepath.Join(dir, File+ending), []byte("no database"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if ids, err := Known(t.Context(), dir, "bd-epic"); err == nil {
		t.Errorf("a file that is no journal: %v", ids)
	}
}
