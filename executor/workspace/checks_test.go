package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

func TestChecksFindWhatAnAgentMustNotDo(t *testing.T) {
	overLayouts(t, testChecksFindWhatAnAgentMustNotDo)
}

func testChecksFindWhatAnAgentMustNotDo(t *testing.T) {
	owns := func(globs ...string) func(*ir.Epic) {
		return func(e *ir.Epic) { e.Nodes[0].Scope.Owns = globs }
	}
	protect := func(e *ir.Epic) { g := e.Gates["check"]; g.Protect = []string{"tests/**"}; e.Gates["check"] = g }
	for name, c := range map[string]struct {
		change func(*ir.Epic)
		do     func(r *repo, dir string)
		want   string // part of a problem; "" for none
	}{
		"a change inside the scope is fine": {owns("src/**"), func(r *repo, d string) { r.write(d+"/src/x/a.go", "a") }, ""},
		"a change outside the scope":        {owns("src/**"), func(r *repo, d string) { r.write(d+"/other.go", "a") }, "outside what the sprint owns (src/**): other.go"},
		"nothing was changed":               {nil, func(*repo, string) {}, "nothing changed"},
		"a protected file was changed":      {protect, func(r *repo, d string) { r.write(d+"/tests/a_test.sh", "exit 1") }, "gate check protects what was changed: tests/a_test.sh"},
		"a protected file was deleted": {protect, func(r *repo, d string) {
			if err := os.Remove(d + "/tests/a_test.sh"); err != nil {
				r.t.Fatal(err)
			}
		}, "gate check protects what was changed: tests/a_test.sh"},
		"a new test is allowed": {protect, func(r *repo, d string) { r.write(d+"/tests/b_test.sh", "exit 0") }, ""},
		"a new test is forbidden where protect_new is off": {func(e *ir.Epic) {
			protect(e)
			g := e.Gates["check"]
			g.ProtectNew = false
			e.Gates["check"] = g
		}, func(r *repo, d string) { r.write(d+"/tests/b_test.sh", "exit 0") }, "gate check protects"},
		"conflict markers":   {nil, func(r *repo, d string) { r.write(d+"/a.txt", "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n") }, "conflict marker at a.txt:1"},
		"it left its branch": {nil, func(r *repo, d string) { r.git("-C", d, "checkout", "-q", "-b", "elsewhere"); r.write(d+"/a.txt", "a") }, "left its branch"},
		"it rewrote history": {nil, func(r *repo, d string) {
			r.git("-C", d, "commit", "-q", "--amend", "-m", "mine")
			r.write(d+"/a.txt", "a")
		}, "rewrote history"},
		"an embedded git repository": {nil, func(r *repo, d string) {
			r.git("init", "-q", d+"/sub")
			r.write(d+"/sub/x", "x")
			r.git("-C", d+"/sub", "add", "-A")
			r.git("-C", d+"/sub", "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "-m", "x")
		}, "sub was a git repository of its own"},
		"an embedded git repository without a commit": {nil, func(r *repo, d string) {
			r.git("init", "-q", d+"/sub")
			r.write(d+"/sub/x", "x")
		}, "sub was a git repository of its own"},
		"an embedded git repository that it committed": {nil, func(r *repo, d string) {
			r.git("init", "-q", d+"/sub")
			r.git("-C", d+"/sub", "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "--allow-empty", "-m", "x")
			r.write(d+"/sub/x", "x")
			r.git("-C", d, "add", "-A")
			r.git("-C", d, "commit", "-q", "-m", "mine")
		}, "sub was a git repository of its own"},
		"a heading of seven signs is no conflict": {nil, func(r *repo, d string) { r.write(d+"/ä b.md", "Summary\n=======\n") }, ""},
		"a replaced .git file": {nil, func(r *repo, d string) {
			if err := os.RemoveAll(d + "/.git"); err != nil {
				r.t.Fatal(err)
			}
			r.git("init", "-q", d)
			r.write(d+"/.git/config", "[core]\n\tfsmonitor = touch "+r.dir+"/pwned\n")
			r.write(d+"/a.txt", "a")
		}, "was replaced"},
		"it deleted its worktree": {nil, func(r *repo, d string) {
			if err := os.RemoveAll(d); err != nil {
				r.t.Fatal(err)
			}
		}, "it deleted its worktree"},
		"it broke HEAD and the index": {nil, func(r *repo, d string) {
			admin := r.git("-C", d, "rev-parse", "--absolute-git-dir")
			r.write(admin+"/index", "garbage")
			r.write(admin+"/HEAD", "")
			r.write(d+"/a.txt", "a")
		}, "(.git, HEAD) was replaced"},
		"a broken index alone is no fault of the work": {nil, func(r *repo, d string) {
			r.write(r.git("-C", d, "rev-parse", "--absolute-git-dir")+"/index", "garbage")
			r.write(d+"/a.txt", "a")
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var change []func(*ir.Epic)
			if c.change != nil {
				change = append(change, c.change)
			}
			r := newRepo(t, executortest.Epic([]string{"1.1"}, change...))
			base := r.head()
			r.prepare("bd-1-1", 1, base)
			c.do(r, r.space.Dir("bd-1-1"))
			got := strings.Join(r.collect("bd-1-1", 1, base).Problems, "\n")
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("problems %q, want %q", got, c.want)
			}
			if _, err := os.Stat(filepath.Join(r.dir, "pwned")); err == nil {
				t.Error("what the agent wrote was run")
			}
			r.prepare("bd-1-1", 2, base) // and the next attempt can start
			if head := r.git("--git-dir="+r.dir+"/.git", "rev-parse", "ralph/x/1-1"); head != base {
				t.Errorf("the branch is at %s, want %s", head, base)
			}
		})
	}
}
