//go:build unix

package cli

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
)

// A run that a person cancels gives its issue back: open, nobody's, without a label of
// the worker's, with a comment that says so. It is left alone until somebody changes
// it, and runs again then. S4-12, S4-58, S4-59
func TestACancelledRunReleasesItsIssue(t *testing.T) {
	t.Parallel()
	d := faultDatabase(t, untilGo, plainSteps)
	d.put(`{"id":"bd-a","labels":["api"]}`)
	w := d.start("worker", "--poll", "300ms", "--once")
	d.exists("../log/at-work")
	if got := d.ralph("cancel", "bd-a", "-m", "not now", "--epic", d.epics()[0]); got.code != exit.Done {
		t.Fatalf("cancel: %s", got.all())
	}
	got := w.wait()
	i, c := d.bead("bd-a"), d.comments("bd-a")
	if i.Status != "open" || i.Assignee != "" || !slices.Equal(i.Labels, []string{"api"}) || !strings.Contains(c, "open again: cancelled") || !strings.Contains(got.out, "bd-a  open again: cancelled") {
		t.Errorf("exit %d; it is %s of %q with %v\n%s\n%s", got.code, i.Status, i.Assignee, i.Labels, c, got.all())
	}
	if got.code != exit.Done || !strings.Contains(got.out, "ended: 1 open again") {
		t.Errorf("exit %d\n%s", got.code, got.all())
	}
	if got := d.worker(exit.Done, "--once"); !strings.Contains(got.out, "bd-a  left alone: it was released") || d.noted("agents", "bd-a.implement-1") != 1 {
		t.Errorf("it is taken again unchanged\n%s", got.all())
	}
	if err := os.WriteFile(d.file("../log/go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d.person("update", "bd-a", "--title", "Make it blue")
	d.worker(exit.Done, "--once")
	if i := d.bead("bd-a"); i.Status != "closed" {
		t.Errorf("changed, it is %s\n%s\n%s", i.Status, d.comments("bd-a"), d.outputs())
	}
}

const neverWhole = `
gate "whole" { run = "grep -q whole out.txt" }
policy "p" {
  default = true
  limits { attempts = 1 }
  step "implement" {
    capabilities = ["implement"]
    gates        = [gate.whole]
    iterations   = 2
  }
}
`

// What an agent leaves half done, and says so, is given back like that, not blocked: who
// goes on with it sees in a comment what it said. S4-58, S4-59, K3
func TestAPartialRunReleasesItsIssue(t *testing.T) {
	t.Parallel()
	d := faultDatabase(t, `echo half >> out.txt; echo '{"result":"partial","summary":"the first half is there"}' > "$RALPH_OUTCOME"`, neverWhole)
	d.put(`{"id":"bd-a"}`, `{"id":"bd-b","needs":["bd-a"]}`)
	got := d.worker(exit.Done, "--once")
	i, c := d.bead("bd-a"), d.comments("bd-a")
	if i.Status != "open" || i.Assignee != "" || len(i.Labels) != 0 || !strings.Contains(c, "open again: partly done") || !strings.Contains(c, "the first half is there") {
		t.Errorf("it is %s of %q with %v\n%s\n%s", i.Status, i.Assignee, i.Labels, c, got.all())
	}
	if n := strings.Count(d.read("../log/agents"), "\n"); n != 2 {
		t.Errorf("%d turns of agents, want both of the one attempt:\n%s", n, d.read("../log/agents"))
	}
	if i := d.bead("bd-b"); i.Status != "open" || i.Assignee != "" {
		t.Errorf("what waits for it is %s of %q", i.Status, i.Assignee)
	}
}

// Starting a worker is the approval of what it runs, unless the policy wants a person to
// look at each plan: then nothing starts before that, and the issue says what to type.
// execution §5
func TestAPlanIsApprovedWherePolicySaysSo(t *testing.T) {
	t.Parallel()
	d := faultDatabase(t, `echo x > a.txt`, plainSteps+"hitl { plan = \"required\" }\n")
	d.put(`{"id":"bd-a"}`)
	got := d.worker(exit.Waiting, "--once")
	i, c := d.bead("bd-a"), d.comments("bd-a")
	if i.Status != "blocked" || !slices.Contains(i.Labels, "needs:human_approval") || !slices.Contains(i.Labels, "phase:human_review") || d.read("../log/agents") != "" {
		t.Errorf("it is %s with %v; agents %q\n%s", i.Status, i.Labels, d.read("../log/agents"), got.all())
	}
	if !strings.Contains(c, "its plan waits for approval") || !strings.Contains(c, "ralph approve --epic bd-a") {
		t.Errorf("the comment:\n%s", c)
	}
	if got := d.worker(exit.Done, "--once"); !strings.Contains(got.out, "nothing was done") {
		t.Errorf("a second worker does not wait:\n%s", got.all())
	}
	if got := d.ralph("approve", "--epic", "bd-a"); got.code != exit.Done {
		t.Fatalf("approve: %s", got.all())
	}
	d.worker(exit.Done, "--once")
	if i := d.bead("bd-a"); i.Status != "closed" || slices.Contains(i.Labels, "needs:human_approval") {
		t.Errorf("approved, it is %s with %v\n%s", i.Status, i.Labels, d.outputs())
	}
}
