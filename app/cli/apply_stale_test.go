//go:build unix

package cli

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/words"
)

func TestAPlanThatIsNewerThanItsEpicIsAWarning(t *testing.T) { // execution §2: a plan newer than epic.json is a warning
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string, age time.Duration) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	said := func(command string) string {
		t.Helper()
		out, err := exec.Command("ralph", command, filepath.Join(dir, "epic.json")).CombinedOutput()
		if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended { // apply's exit code is its sprint's
			t.Fatal(err)
		}
		return string(out)
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"config", "user.name", "t"}, {"config", "user.email", "t@example.org"}, {"commit", "-q", "--allow-empty", "-m", "first"}} {
		if b, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, b)
		}
	}
	write("plan.md", "# A plan\n\n## Phase 1: Work\n\n### Sprint 1.1: First\n\n**Goal**: one.\n", time.Hour)
	write("ralph.hcl", "runner \"sh\" {\n  kind = \"command\"\n  run  = [\"true\"]\n}\nagent \"dev\" {\n  runner       = runner.sh\n  capabilities = [\"implement\"]\n  access       = \"write\"\n}\npolicy \"default\" {\n  default = true\n  step \"implement\" {\n    agent = agent.dev\n    retry { attempts = 1 }\n  }\n}\n", time.Hour)
	var out, errOut bytes.Buffer
	if code := Main([]string{"compile", filepath.Join(dir, "plan.md"), "-o", filepath.Join(dir, "epic.json")}, strings.NewReader(""), &out, &errOut); code != exit.Done {
		t.Fatalf("compile: %d\n%s%s", code, &out, &errOut)
	}
	const newer = "is newer than"
	if got := said("plan"); strings.Contains(got, newer) {
		t.Errorf("just compiled, and it said\n%s", got)
	}
	b, err := os.ReadFile(filepath.Join(dir, "plan.md"))
	if err != nil {
		t.Fatal(err)
	}
	write("plan.md", string(b), -time.Hour)
	if got := said("plan"); strings.Contains(got, newer) {
		t.Errorf("only touched, and it said\n%s", got)
	}
	write("plan.md", strings.Replace(string(b), "one.", "two.", 1), -time.Hour)
	if got := said("plan"); !strings.Contains(got, "plan.md is newer than") || !strings.Contains(got, "To run it: ralph compile -o "+words.QuotePath(filepath.Join(dir, "epic.json"))+" plan.md") {
		t.Errorf("changed, and it said\n%s", got)
	}
	write("plan.md", strings.Replace(string(b), "**Goal**: one.", "**Depends on**: 9.9", 1), -time.Hour)
	if got := said("plan"); !strings.Contains(got, "cannot be compiled now") {
		t.Errorf("broken, and it said\n%s", got)
	}
	if got := said("apply"); !strings.Contains(got, "warning: plan.md is newer than") {
		t.Errorf("apply said\n%s", got)
	}
}
