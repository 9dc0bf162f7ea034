package bead_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/bead"
	"github.com/ralph-compiler/ralph/ir/irtest"
)

// What nothing was run of has no sessions, no executions and no pull request, and
// says so. S0-94, S0-20, S0-115..117
func TestMetadataOfANodeThatNeverRan(t *testing.T) {
	e := irtest.Rich()
	h := &ir.History{Top: "/home/dev/shop"}
	for i := range e.Nodes {
		n := &e.Nodes[i]
		m, err := bead.Metadata(e, n, h)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatal(err)
		}
		for key, want := range map[string]any{
			"attempt_count": 0.0, "scrum_master_session_id": nil, "dev_agent_session_id": nil, "pr_url": nil, "pr_number": nil, "scrum_result": nil,
		} {
			if v, there := got[key]; !there || v != want {
				t.Errorf("%s: %s is %v, want %v", n.Key, key, v, want)
			}
		}
		for _, key := range []string{"dev_agent_executions", "qa_agent_executions"} {
			if v, ok := got[key].([]any); !ok || len(v) != 0 {
				t.Errorf("%s: %s is %v, want []", n.Key, key, got[key])
			}
		}
		if _, there := got["branches_to_merge"]; there != (len(n.Merges) > 1 || n.Kind == ir.Merge) {
			t.Errorf("%s: branches_to_merge is there: %v", n.Key, there)
		}
		if want := "/home/dev/shop-worktrees/"; len(got["worktree_path"].(string)) <= len(want) || got["worktree_path"].(string)[:len(want)] != want {
			t.Errorf("%s: the worktree is %v", n.Key, got["worktree_path"])
		}
		if want := []string{"1", "2", "3", "4", "5", "6"}; !slices.Contains(want, n.Phase[:1]) || got["phase"] != n.Phase || got["sprint"] != string(n.Key) {
			t.Errorf("%s: phase %v, sprint %v", n.Key, got["phase"], got["sprint"])
		}
	}
}
