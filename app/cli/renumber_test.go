//go:build unix

package cli

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
)

// A sprint that is renumbered keeps its bead, and the bead learns its new number.
func TestARenumberedSprintKeepsItsBead(t *testing.T) { // S0-102, S0-103, S0-108, S0-110, K18; execution §1
	t.Parallel()
	b := fakeBeads(t)
	r, ids := planRepo(t)
	r.write("ralph.hcl", "tracker \"bd\" {}\n")
	b.do(r.dir, "init", "--prefix", "bd")
	type issue struct {
		ID, Title string
		Type      string `json:"issue_type"`
		Metadata  struct {
			Sprint  string `json:"plan_sprint_id"`
			Section string `json:"plan_section"`
		}
	}
	look := func() map[string]issue {
		t.Helper()
		var list []issue
		if err := json.Unmarshal(b.do(r.dir, "list", "--all", "--limit", "0"), &list); err != nil {
			t.Fatal(err)
		}
		out := map[string]issue{}
		for _, i := range list {
			if i.Type != "event" { // bd's own record of a changed mode
				out[i.ID] = i
			}
		}
		return out
	}
	b.ralph(t, r, exit.Done, "compile", "docs/plan.md", "--push")
	before := look()
	if len(before) != 3 || before[ids[1]].Metadata.Sprint != "1.2" {
		t.Fatalf("pushed: %+v", before)
	}
	r.write("docs/plan.md", strings.Replace(r.read("docs/plan.md"), "### Sprint 1.2: Second", "### Sprint 1.4: Second, renamed", 1))
	b.ralph(t, r, exit.Done, "compile", "docs/plan.md", "--push")
	after := look()
	if got := after[ids[1]]; len(after) != 3 || got.Metadata.Sprint != "1.4" || !strings.Contains(got.Title, "Second, renamed") || !strings.Contains(got.Metadata.Section, "Sprint 1.4") {
		t.Errorf("after: %+v", after)
	}
	if got := after[ids[0]]; got != before[ids[0]] {
		t.Errorf("the other one was %+v and is %+v", before[ids[0]], got)
	}
	if out, _ := b.ralph(t, r, exit.Done, "show", ids[1]); !strings.HasPrefix(out, "1.4  Second, renamed") {
		t.Errorf("show says\n%s", out)
	}
	annotated := r.read("docs/plan.md") // compiling again changes no byte of it
	b.ralph(t, r, exit.Done, "compile", "docs/plan.md")
	if r.read("docs/plan.md") != annotated || strings.Count(annotated, "<!-- beads-ralph: ") != 2 {
		t.Errorf("the plan is\n%s", r.read("docs/plan.md"))
	}
	// By hand, as beads' own documents say: from the bead with jq, from the plan with grep.
	cmd := exec.Command("grep", "-A1", "^### Sprint 1.4:", "docs/plan.md")
	cmd.Dir = r.dir
	if out, err := cmd.Output(); err != nil || !strings.Contains(string(out), "<!-- beads-ralph: "+ids[1]+" -->") {
		t.Errorf("grep finds %q, %v", out, err)
	}
}
