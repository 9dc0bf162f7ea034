//go:build unix

package cli

import (
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
)

// A bead that was being worked on when ralph was killed goes on where it stood,
// and what was done is not done again. S3-19, S3-20, S3-35, L0-12
func TestABeadGoesOnAfterKill9(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("real git and real agents")
	}
	r := newCornerRepo(t, &cornerCase{
		agent: `echo "$RALPH_ATTEMPT" >> "$TOP/tries"
echo work > out
if test ! -e "$TOP/go"; then touch "$TOP/at-work"; while :; do sleep 0.1; done; fi`,
	})
	r.write("bead.json", `{"id": "gt-1", "intent": "Work", "dod": {"verifiers": [{"name": "It is there", "command": "grep work out"}]}, "constraints": {"time_budget_minutes": 5}}`)
	first := r.command("ralph", "apply", "bead.json")
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	r.wait("../at-work")
	r.has(r.ralph(exit.Done, "status", "bead.json"), "gt-1", "running")
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := first.Wait(); err == nil {
		t.Fatal("it ended by itself")
	}
	r.write("../go", "")
	r.has(r.ralph(exit.Done, "apply", "bead.json"), "resuming from its journal", "gate gt-1/it-is-there: pass", "1 of 1 sprint done")
	if got := strings.Fields(r.read("../tries")); strings.Join(got, " ") != "1 1" {
		t.Errorf("attempts %v were made, want the first one twice", got)
	}
	if n := r.git("rev-list", "--count", "main..ralph/gt-1/integration"); n != "1" {
		t.Errorf("%s commits, want 1", n)
	}
	r.hasNot(r.ralph(exit.Done, "apply", "bead.json"), "▶")
}

// A bead that changed is a plan that changed: other limits run nothing, another
// way to judge judges what is there, and what the agent is told to reach is worked
// on, on top of nothing but the base.
func TestAChangedBeadRunsWhatItHasTo(t *testing.T) { // S3-10, L0-12
	t.Parallel()
	if testing.Short() {
		t.Skip("real git and real agents")
	}
	r := newCornerRepo(t, &cornerCase{agent: `echo x >> out; echo ran >> "$TOP/tries"`})
	write := func(intent, more, evidence, attempts string) {
		r.write("bead.json", `{"id": "gt-1", "intent": "`+intent+`", "dod": {"verifiers": [{"name": "It is there", "command": "test -s out"}`+more+
			`], "evidence_required": `+evidence+`}, "constraints": {"max_iterations": `+attempts+`}}`)
	}
	runs := func(want int) {
		t.Helper()
		if got := strings.Count(r.read("../tries"), "ran"); got != want {
			t.Errorf("the agent ran %d times, want %d", got, want)
		}
	}
	write("Work", "", "false", "3")
	r.ralph(exit.Done, "apply", "bead.json")
	runs(1)
	write("Work", "", "false", "7")
	r.hasNot(r.ralph(exit.Done, "apply", "bead.json"), "▶")
	write("Work", "", "true", "7")
	r.has(r.ralph(exit.Done, "apply", "bead.json"), "gate gt-1/it-is-there: pass")
	runs(1)
	second := `, {"name": "A second try", "command": "test -r out"}`
	write("Work", second, "true", "7")
	r.has(r.ralph(exit.Done, "apply", "bead.json"), "gate gt-1/a-second-try: pass")
	runs(2)
	write("Other work", second, "true", "7")
	r.ralph(exit.Done, "apply", "bead.json")
	runs(3)
	if got := r.git("show", "ralph/gt-1/integration:out"); got != "x" {
		t.Errorf("the result is %q, want one x", got)
	}
}
