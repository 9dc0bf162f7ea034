package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/ir"
)

// Whoever hides its ancestors does not decide while a run is at work on this machine.
func TestWhoCannotBeSeenDecidesNothing(t *testing.T) { // execution §5
	holder := journal.Owner{PID: 1 << 30, Host: "here", Boot: journal.BootID(), Space: process.Namespace()}
	elsewhere, other := holder, holder
	elsewhere.Space = "pid:[1]"
	other.Boot = "another machine"
	for name, c := range map[string]struct {
		holder journal.Owner
		held   bool
		want   string
	}{
		"beside the run":                                        {holder, true, ""},
		"in another pid namespace":                              {elsewhere, true, "another pid namespace"},
		"there, and no run is at work":                          {elsewhere, false, ""},
		"the run is on another machine, or boot_id was covered": {other, true, "on another machine"},
		"a lock of a release before":                            {journal.Owner{PID: 1 << 30, Boot: journal.BootID()}, true, ""},
	} {
		err := refuseAgents(c.holder, c.held)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

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
	r.run(exitWaiting)
	b, err := os.ReadFile(log)
	if err != nil || !strings.Contains(string(b), "this is for people") || !strings.Contains(string(b), "another pid namespace") || !strings.HasSuffix(string(b), "\n1\n") {
		t.Errorf("%v %s", err, b)
	}
	r.says("status", "waiting: approval")
}
