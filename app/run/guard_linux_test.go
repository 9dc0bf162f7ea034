package run

import (
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/internal/process"
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
		err := checkCaller(c.holder, c.held)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
