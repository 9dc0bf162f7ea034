//go:build unix

package cli

import (
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
)

// A pull request becomes the external reference of its issue, unless a person wrote
// one: that stays, and a comment has the pull request.
func TestAPullRequestOfAnIssueIsItsReference(t *testing.T) { // S0-16
	t.Parallel()
	d := faultDatabase(t, `echo x > "$RALPH_NODE.txt"`, strings.Replace(plainSteps, "default = true", "default = true\n  integration { pr = \"node\" }", 1))
	d.forge()
	d.put(`{"id":"bd-a"}`, `{"id":"bd-b","external_ref":"https://tickets.example/7"}`)
	got := d.worker(exit.Done, "--once")
	a, b := d.bead("bd-a"), d.bead("bd-b")
	if a.Status != "closed" || !strings.Contains(a.ExternalRef, "/pull/") || strings.Contains(d.comments("bd-a"), "[pull request]") {
		t.Errorf("%s, %q\n%s\n%s\n%s", a.Status, a.ExternalRef, d.comments("bd-a"), got.all(), d.outputs())
	}
	if b.Status != "closed" || b.ExternalRef != "https://tickets.example/7" || strings.Count(d.comments("bd-b"), "[pull request] [task:bd-b] http") != 1 || !strings.Contains(got.out, "which ralph did not write") {
		t.Errorf("%s, %q\n%s\n%s", b.Status, b.ExternalRef, d.comments("bd-b"), got.all())
	}
}
