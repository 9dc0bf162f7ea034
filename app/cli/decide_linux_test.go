package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/ir"
)

func TestAnAgentThatHidesItsAncestorsDecidesNothing(t *testing.T) { // execution §5
	t.Parallel()
	if out, err := exec.Command("unshare", "-Urpf", "--mount-proc", "true").CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: unshare makes no pid namespace here, and nothing was tried: %v %s", err, out)
	}
	log := filepath.Join(t.TempDir(), "agent")
	e := humanEpic(func(e *ir.Epic) {
		e.Runners["sh"] = ir.Runner{
			Kind: "command", Prompt: "stdin", Env: []string{"PATH", "HOME"},
			Run: []string{"sh", "-c", `echo x > out.txt; env -i PATH="$PATH" HOME="$HOME" unshare -Urpf --mount-proc ralph skip 1.2 > ` + log + ` 2>&1; echo $? >> ` + log},
		}
	})
	r := newApplyRepo(t, e)
	r.run(exit.Waiting)
	b, err := os.ReadFile(log)
	if err != nil || !strings.Contains(string(b), "this is for people") || !strings.Contains(string(b), "another pid namespace") || !strings.HasSuffix(string(b), "\n1\n") {
		t.Errorf("%v %s", err, b)
	}
	r.says("status", "waiting: approval")
}
