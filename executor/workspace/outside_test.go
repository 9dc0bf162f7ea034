package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// A directory of the worktree that became a link leads ralph nowhere: what lies outside
// under the name of a tracked file is neither read, weighed nor moved.
func TestALinkInTheWorktreeLeadsRalphNowhere(t *testing.T) {
	overLayouts(t, testALinkInTheWorktreeLeadsRalphNowhere)
}

func testALinkInTheWorktreeLeadsRalphNowhere(t *testing.T) {
	r := newRepo(t, executortest.Epic(two, func(e *ir.Epic) { e.Run.Worktree.MaxCommit = 2_000_000 }))
	base := r.head()
	r.prepare("bd-1-1", 1, base)
	outside := t.TempDir()
	mine := filepath.Join(outside, "precious.bin")
	r.must(os.WriteFile(mine, []byte(strings.Repeat("x", 3_000_000)), 0o600))
	r.sh("bd-1-1", `
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=/dev/null
mkdir home; echo x > home/precious.bin; git add home; git commit -qm home
rm -rf home; ln -s `+outside+` home
head -c 3000000 /dev/zero > junk.log; echo a > a.txt`)
	c := r.collect("bd-1-1", 1, base)
	if st, err := os.Stat(mine); err != nil || st.Size() != 3_000_000 {
		t.Errorf("a file outside was moved: %v", err)
	}
	if got := strings.Join(c.Problems, "\n"); strings.Contains(got, "precious") {
		t.Errorf("problems %q", got)
	}
	if got := r.git("ls-tree", "-r", c.Result.Commit, "home"); !strings.HasPrefix(got, "120000 ") {
		t.Errorf("collected %q", got)
	}
}
