//go:build unix

package cli

import (
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
)

// A worker that is told one issue works on that, at the step that it is told, and
// ends; of one that it does not take it says why. S4-29
func TestAWorkerWorksOnOneIssue(t *testing.T) {
	t.Parallel()
	d := faultDatabase(t, `echo "$RALPH_NODE" > "out-$RALPH_NODE.txt"`, `
policy "p" {
  default = true
  step "plan" { capabilities = ["plan"] }
  step "implement" { capabilities = ["implement"] }
}
`)
	d.put(`{"id":"bd-a","priority":0}`, `{"id":"bd-b","priority":3,"labels":["phase:plan"]}`, `{"id":"bd-c","needs":["bd-a"]}`, `{"id":"bd-x","labels":["ashep:excluded"]}`,
		`{"id":"bd-h","assignee":"ada"}`, `{"id":"bd-t","title":""}`)
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"nodir"}, exit.Usage, "there is no directory nodir; to work on one issue: ralph worker --issue nodir"},
		{[]string{"--step", "implement"}, exit.Usage, "name the issue with --issue"},
		{[]string{"--issue", "bd-none"}, exit.Input, "there is no issue bd-none"},
		{[]string{"--issue", "bd-c"}, exit.Input, "bd-c is not taken: it is not ready in bd"},
		{[]string{"--issue", "bd-x"}, exit.Input, "it has the label ashep:excluded"},
		{[]string{"--issue", "bd-h"}, exit.Input, "it is assigned to ada"},
		{[]string{"--issue", "bd-t"}, exit.Input, "it has no title"},
		{[]string{"--issue", "bd-b", "--step", "implemnt"}, exit.Input, `there is no step "implemnt"`},
		{[]string{"--issue", "bd-b", "--step", "implement"}, exit.Done, "bd-b  closed: done by ralph"},
	} {
		got := d.worker(c.code, c.args...)
		if !strings.Contains(got.all(), c.want) {
			t.Errorf("ralph worker %s: want %q in\n%s", strings.Join(c.args, " "), c.want, got.all())
		}
	}
	if log := strings.Fields(d.read("../log/agents")); strings.Join(log, " ") != "bd-b.implement-1" {
		t.Errorf("these agents ran: %q", log)
	}
	if i := d.bead("bd-a"); i.Status != "open" || i.Assignee != "" {
		t.Errorf("bd-a, which was ready and not named, is %s of %q", i.Status, i.Assignee)
	}
	if c := d.comments("bd-b") + d.comments("bd-t"); strings.Contains(c, "does not run this") {
		t.Errorf("a mistake on the command line is told in bd:\n%s", c)
	}
}
