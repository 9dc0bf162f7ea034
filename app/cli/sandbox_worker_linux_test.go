package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
)

// A worker passes on what a person takes on this machine in place of the policy's sandbox.
func TestAWorkerWorksInLandlock(t *testing.T) {
	t.Parallel()
	if !hasLandlock() {
		t.Skip("SKIPPED: there is no landlock here")
	}
	d := faultDatabase(t, `if cat "$TOP/home/private" > /dev/null 2>&1; then echo read; else echo hidden; fi > "out-$RALPH_NODE.txt"`, plainSteps)
	d.write("ralph.hcl", d.read("ralph.hcl")+fmt.Sprintf(`
sandbox "default" {
  kind    = "auto"
  network = []
  write   = [%q]
}
`, d.top+"/log"))
	d.git("commit", "-q", "-a", "-m", "a sandbox")
	d.write("../home/private", "mine")
	d.put(`{"id":"bd-a"}`, `{"id":"bd-b"}`)
	for id, c := range map[string]struct {
		flags     []string
		show, saw string
	}{
		"bd-a": {[]string{"--sandbox", "landlock"}, "sandbox: default (landlock", "hidden"},
		"bd-b": {[]string{"--sandbox", "none"}, "sandbox: none (--sandbox none)", "read"},
	} {
		if got := d.worker(exit.Done, append([]string{"--issue", id}, c.flags...)...); !strings.Contains(got.all(), id+"  closed: done by ralph") {
			t.Errorf("%s:\n%s\n%s", id, got.all(), d.outputs())
		}
		if got := d.program(exit.Done, "show", id, "--epic", id); !strings.Contains(got.out, c.show) {
			t.Errorf("show %s says\n%s", id, got.all())
		}
		if got := d.git("log", "--all", "--format=", "-p", "--", "out-"+id+".txt"); !strings.Contains(got, "\n+"+c.saw) {
			t.Errorf("%s saw %q, want %q", id, got, c.saw)
		}
	}
}
