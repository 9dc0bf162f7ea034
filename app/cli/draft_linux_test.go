package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/executor/executortest"
)

const typedPlanner = `
runner "sh" {
  kind    = "command"
  run     = ["./planner.sh"]
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
`

const plannerScript = `#!/bin/sh
title="Do it"
grep -q "say more" && title="Do it well"
mkdir -p plans
cat >plans/x.md <<END
# A plan

## Phase 1: All

### Sprint 1.1: $title

**Owns**: BTREADME.mdBT

**Acceptance criteria**:

- done

**Verify**: BTtrueBT
END
`

// On a terminal a person is asked about the plan: a comment begins the next attempt, and
// what they approve is written. S2-09
func TestADraftAsksOnATerminal(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", executortest.Epic([]string{"1.1"}))
	s.write("ralph.hcl", typedPlanner)
	s.write("planner.sh", strings.ReplaceAll(plannerScript, "BT", "\\`"))
	if err := os.Chmod(filepath.Join(s.dir, "planner.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.git("add", "-A")
	s.git("commit", "-q", "-m", "policy")
	x := newTerminal(t, 120, 60)
	draft := x.run(s, "draft", "a plan", "-o", "plans/x.md")
	has := func(what string, n int) func() bool {
		return func() bool { text, _ := x.screen(); return strings.Count(text, what) == n }
	}
	s.until("it asks", has("Approve this plan?", 1))
	x.types("r\n\n")
	s.until("it asks for a comment", has("tell the planner what to change", 1))
	s.until("it asks once more", has("Approve this plan?", 2)) // what is typed before it asks is forgotten
	x.types("r\nsay more\n\n")
	s.until("it asks again", has("Approve this plan?", 3))
	if text, _ := x.screen(); !strings.Contains(text, "1.1  Do it well") || strings.Contains(text, "[1m") {
		t.Errorf("the comment was not heard, or escapes are text:\n%s", text)
	}
	x.types("a\n")
	if got := draft.wait(); got.code != exit.Done {
		text, _ := x.screen()
		t.Fatalf("exit %d\n%s", got.code, text)
	}
	if got := s.read("plans/x.md"); !strings.Contains(got, "Do it well") || !strings.Contains(got, "beads-ralph-epic") {
		t.Errorf("the plan:\n%s", got)
	}
}

// On a terminal a person is asked what the planner wants to know, and it goes on with the
// answer.
func TestADraftAsksForAnAnswerOnATerminal(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", executortest.Epic([]string{"1.1"}))
	s.write("ralph.hcl", typedPlanner)
	s.write("planner.sh", strings.Replace(strings.ReplaceAll(plannerScript, "BT", "\\`"), "#!/bin/sh\n", `#!/bin/sh
cat >"$RALPH_OUTCOME.in"
grep -q "the second" "$RALPH_OUTCOME.in" || {
  echo '{"result": "success", "next_action": "need_human", "summary": "which one?"}' >"$RALPH_OUTCOME"
  exit
}
exec <"$RALPH_OUTCOME.in"
`, 1))
	if err := os.Chmod(filepath.Join(s.dir, "planner.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.git("add", "-A")
	s.git("commit", "-q", "-m", "policy")
	x := newTerminal(t, 120, 60)
	draft := x.run(s, "draft", "a plan", "-o", "plans/x.md")
	has := func(what string) func() bool {
		return func() bool { text, _ := x.screen(); return strings.Contains(text, what) }
	}
	s.until("it asks", has("Your answer; end with an empty line (no text: later):"))
	x.types(strings.Repeat("x", 2500) + "\n\n")
	s.until("it says what is kept", has("2500 bytes; at most 2000 are kept"))
	x.types("It is\n\nthe second\nyes\na") // pasted: all of it is the answer, none an approval
	x.types("\n\n")
	s.until("it goes on", has("Approve this plan?"))
	x.types("a\n")
	if got := draft.wait(); got.code != exit.Done {
		text, _ := x.screen()
		t.Fatalf("exit %d\n%s", got.code, text)
	}
}
