//go:build unix

package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
)

func TestPlanSaysWhatTheDiskMustHoldAndChangesNothing(t *testing.T) { // L0-11, S2-11, S2-12, S2-40
	r := newApplyRepo(t, diamondEpic())
	before := r.git("for-each-ref") + r.git("status", "--porcelain")
	var p record.PlanJSON
	if err := json.Unmarshal([]byte(r.ralph(exit.Done, "plan", "epic.json", "--json")), &p); err != nil {
		t.Fatal(err)
	}
	size := int64(0)
	for _, n := range strings.Fields(r.git("ls-tree", "-r", "--format=%(objectsize)", "HEAD")) {
		k, err := strconv.ParseInt(n, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		size += k
	}
	nodes := 0
	for _, n := range p.Nodes {
		if n.Key != "integration" {
			nodes++
		}
	}
	if works := int64(p.Disk.Trees); works != int64(len(p.Nodes)) || nodes != 4 || p.Disk.Need != size*works*6/5 {
		t.Errorf("%d worktrees need %d bytes; want %d (4 sprints and the sum) of %d, and a fifth more", p.Disk.Trees, p.Disk.Need, len(p.Nodes), size)
	}
	if after := r.git("for-each-ref") + r.git("status", "--porcelain"); after != before {
		t.Errorf("plan left\n%s\nwas\n%s", after, before)
	}
	if _, err := os.Stat(filepath.Join(r.dir, ".git/ralph")); err == nil {
		t.Error("plan made a state directory")
	}
	r.run(exit.Done)
	if err := json.Unmarshal([]byte(r.ralph(exit.Done, "plan", "epic.json", "--json")), &p); err != nil || p.Changes || p.Disk.Trees != 0 {
		t.Errorf("what remains when all is done: %+v, %v", p, err)
	}
}
