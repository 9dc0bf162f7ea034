//go:build unix

package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/internal/temptest"
)

// bdDrafter plans what others do: first with a sprint that is not there.
const bdDrafter = `runner "sh" {
  kind    = "command"
  run     = ["sh", "agent.sh"]
  prompt  = "stdin"
  outcome = "required"
}

agent "someone" {
  runner       = runner.sh
  capabilities = "all"
  access       = "write"
}

hitl {
  plan      = "required"
  approvers = ["ann"]
}

worktree {
  min_free = "1MB"
}

tracker "bd" {
  poll = "1s"
}
`

const bdDrafterScript = `set -eu
cat >/dev/null
case $RALPH_STEP in
plan)
  mkdir -p plans
  cp greeting.txt plans/greeting.md
  [ "$RALPH_ATTEMPT" = 1 ] || sed -i 's/1[.]11$/1.1/' plans/greeting.md
  echo '<promise>PLAN_READY</promise>'
  ;;
*) sh worker.sh ;;
esac
echo '{"result": "success", "summary": "two sprints"}' >"$RALPH_OUTCOME"
`

// A draft in a real beads database: an epic with the label ralph that is planned until
// its plan was approved, a comment for each attempt, and the plan's own beads with what
// waits for what.
func TestBdADraftIsPlannedThereAndItsPlanPushed(t *testing.T) { // S2-02, S2-03, S2-05, S2-06, S2-07, S2-09
	t.Parallel()
	temptest.Share(t, 2)
	project := t.TempDir()
	for name, text := range map[string]string{
		"ralph.hcl": bdDrafter, "agent.sh": bdDrafterScript, "worker.sh": workerScript, "greet.sh": "echo hi\n",
		"greeting.txt": fmt.Sprintf(greetingPlan, "1.11"), "brief.md": "# Greet\n\nREQ-001: words.\nREQ-002: the world.\n",
	} {
		if err := os.WriteFile(filepath.Join(project, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := newBdSite(t, project)
	s.run("git", "add", "-A")
	s.run("git", "commit", "-q", "-m", "first")
	before := s.as("looker", "show", "bd-other") + s.as("looker", "comments", "bd-other")
	ralph, err := exec.LookPath("ralph")
	if err != nil {
		t.Fatal(err)
	}

	draft := s.command(ralph, "draft", "--from", "brief.md", "-o", "plans/greeting.md")
	said, err := draft.CombinedOutput()
	if draft.ProcessState.ExitCode() != exit.Waiting {
		t.Fatalf("draft: %v\n%s", err, said)
	}
	if strings.Contains(string(said), "prefix") {
		t.Errorf("the ids of drafts are as they are, and it says\n%s", said)
	}
	one := func(id string) bdBead {
		t.Helper()
		got := s.beads("show", id, "--include-comments")
		if len(got) != 1 {
			t.Fatalf("bd show %s: %+v\n%s", id, got, said)
		}
		return got[0]
	}
	if e := one("draft-greeting"); e.Type != "epic" || !slices.Contains(e.Labels, "ralph") || !slices.Contains(e.Labels, "mode:planning") || e.Status == "closed" {
		t.Errorf("the draft is %+v\n%s", e, said)
	}
	has := func(id string, want ...string) {
		t.Helper()
		var all strings.Builder
		for _, c := range one(id).Comments {
			all.WriteString(c.Text + "\n")
		}
		for _, w := range want {
			if !strings.Contains(all.String(), w) {
				t.Errorf("the comments of %s lack %q:\n%s", id, w, all.String())
			}
		}
	}
	has("draft-greeting", "[mode] planning: a plan is drafted: plans/greeting.md")
	has("draft-greeting-1", "[iter:1] [task:draft-greeting-1] [tests:skip] [commits:1] plan #1 failed: gate compiles failed: The plan does not compile: 1 error (unknown-dependency).",
		"gate approval", "ralph approve 1 --epic draft-greeting")

	said = []byte(s.run(ralph, "approve", "1", "--as", "ann", "--epic", "draft-greeting"))
	if e := one("draft-greeting"); !slices.Contains(e.Labels, "mode:ready_for_build") || slices.Contains(e.Labels, "mode:planning") || e.Status != "closed" {
		t.Errorf("the approved draft is %+v\n%s", e, said)
	}
	if n := one("draft-greeting-1"); n.Status != "closed" {
		t.Errorf("the plan is approved, and its bead is %+v", n)
	}
	has("draft-greeting", "[mode] ready_for_build: the plan compiled and was approved: plans/greeting.md")
	has("draft-greeting-1", "[decided] [task:draft-greeting-1] ann approved gate approval", "[iter:2] [task:draft-greeting-1] [tests:skip] [commits:1] plan #2 passed")

	s.run(ralph, "compile", "plans/greeting.md", "-o", "epic.json", "--push")
	var epic struct {
		Epic  struct{ ID string }
		Nodes []struct{ ID, Key string }
	}
	b, err := os.ReadFile(filepath.Join(s.dir, "epic.json"))
	if err == nil {
		err = json.Unmarshal(b, &epic)
	}
	if err != nil || len(epic.Nodes) != 2 {
		t.Fatalf("epic.json: %v\n%s", err, b)
	}
	if e := one(epic.Epic.ID); e.Type != "epic" || !slices.Contains(e.Labels, "ralph") {
		t.Errorf("the plan is %+v", e)
	}
	if ready := s.beads("ready", "--parent", epic.Epic.ID); len(ready) != 1 || ready[0].ID != epic.Nodes[0].ID {
		t.Errorf("ready below %s is %+v, want %s alone, which the other waits for", epic.Epic.ID, ready, epic.Nodes[0].ID)
	}
	if out := s.run(ralph, "apply", "epic.json"); !strings.Contains(out, "2 of 2 sprints done") {
		t.Errorf("apply:\n%s", out)
	}
	for _, n := range epic.Nodes {
		if b := one(n.ID); b.Status != "closed" {
			t.Errorf("%s is done, and its bead is %+v", n.Key, b)
		}
	}
	if after := s.as("looker", "show", "bd-other") + s.as("looker", "comments", "bd-other"); after != before {
		t.Errorf("a bead of others changed:\n%s\nwas\n%s", after, before)
	}
}
