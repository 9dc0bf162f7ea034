//go:build unix

package cli

import (
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/tracker/bd/bdtest"
)

const trackedPlanner = `
runner "sh" {
  kind    = "command"
  run     = ["sh", "-c", "cat >/dev/null; mkdir -p plans; { echo '# Plan'; echo '## Phase 1: All'; echo '### Sprint 1.1: Do it'; echo; echo \"**Depends on**: $(test $RALPH_ATTEMPT = 2 && echo none || echo 1.9)\"; echo '**Owns**: ` + "`agent.sh`" + `'; echo; echo '**Acceptance criteria**:'; echo; echo '- done'; echo; echo '**Verify**: ` + "`true`" + `'; } >plans/x.md"]
  prompt  = "stdin"
  outcome = "optional"
}
agent "planner" {
  runner       = runner.sh
  capabilities = ["plan"]
  access       = "write"
}
worktree {
  min_free = "1MB"
}
tracker "bd" {
  poll = "10m"
}
`

// S2-02, S2-03, S2-09: in beads a draft is an epic with the label ralph, planned until
// its plan compiled and was approved; each attempt is a comment.
func TestADraftIsSeenInBeads(t *testing.T) {
	t.Parallel()
	r := newApplyRepo(t, executortest.Epic([]string{"1.1"}))
	r.write("ralph.hcl", trackedPlanner)
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "policy")
	f := bdtest.New(t)
	f.Init(r.dir)
	has := func(id string, want ...string) {
		t.Helper()
		got := string(f.Do(r.dir, "ann", "show", id)) + string(f.Do(r.dir, "ann", "comments", id))
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s lacks %q:\n%s", id, w, got)
			}
		}
	}
	out, code := r.withBd(f, "draft", "a plan", "-o", "plans/x.md")
	if code != exit.Waiting {
		t.Fatalf("exit %d\n%s", code, out)
	}
	has("draft-x", `"ralph"`, `"mode:planning"`)
	has("draft-x-1", "The plan does not compile: 1 error (unknown-dependency)", "plan #1", "plan #2", "ralph approve 1 --epic draft-x, ralph reject 1 -m")
	if out, code = r.withBd(f, "approve", "1", "--epic", "draft-x"); code != exit.Done {
		t.Fatalf("exit %d\n%s", code, out)
	}
	has("draft-x", `"mode:ready_for_build"`, `"status":"closed"`)
	if out, code = r.withBd(f, "compile", "plans/x.md", "-o", "plan.json", "--push"); code != exit.Done || !strings.Contains(out, "2 beads created") {
		t.Errorf("exit %d\n%s", code, out)
	}
}
