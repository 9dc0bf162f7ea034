package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor/executortest"
)

// A submodule that the agent initialised, or made up, has settings of the agent's.
func TestSettingsOfASubmoduleAreNotFollowed(t *testing.T) {
	overLayouts(t, testSettingsOfASubmoduleAreNotFollowed)
} // facts: reliability §3.2

func testSettingsOfASubmoduleAreNotFollowed(t *testing.T) {
	r := newRepo(t, executortest.Epic(two))
	r.git("update-index", "--add", "--cacheinfo", "160000,"+r.head()+",a sub")
	r.git("commit", "-q", "-m", "with a submodule")
	base := r.head()
	r.prepare("bd-1-1", 1, base)
	sub := filepath.Join(r.space.Dir("bd-1-1"), "a sub")
	pwned := filepath.Join(r.dir, "../pwned")
	commit := func(text string) string {
		r.write(sub+"/x", text)
		r.git("-C", sub, "add", "-A")
		r.git("-C", sub, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "-m", text)
		return r.git("-C", sub, "rev-parse", "HEAD")
	}
	r.git("init", "-q", sub)
	r.write(sub+"/.gitattributes", "* filter=e\n")
	tip := commit("one")
	poison := func() {
		r.git("-C", sub, "config", "filter.e.clean", "touch '"+pwned+"'; cat")
		r.git("-C", sub, "config", "core.fsmonitor", "touch '"+pwned+"'")
		r.write(sub+"/x", "changed\n")
	}
	poison()
	r.in("bd-1-1", "a.txt", "a\n")
	c := r.collect("bd-1-1", 1, base)
	if got := strings.Join(c.Changed, " "); got != "a sub a.txt" || len(c.Problems) > 0 {
		t.Errorf("collected %+v", c)
	}
	if got := r.git("rev-parse", c.Result.Commit+":a sub"); got != tip {
		t.Errorf("it points at %s, want %s", got, tip)
	}
	r.in("bd-1-1", "a.txt", "b\n")
	r.prepare("bd-1-1", 2, base)
	if _, err := os.Lstat(pwned); err == nil {
		t.Error("ralph ran a program that the agent named")
	}
}
