package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

func TestGatesUseOneWorktreeInTurn(t *testing.T) { overLayouts(t, testGatesUseOneWorktreeInTurn) } // execution §5, preflight

func testGatesUseOneWorktreeInTurn(t *testing.T) {
	r := newRepo(t, executortest.Epic(two, func(e *ir.Epic) { e.Run.Worktree.Setup = []string{"echo dep >> dep.txt"} }))
	before := r.git("for-each-ref")
	e := r.gate(executor.Integration, r.head(), "base", true)
	dir := r.opened(e)
	for turn := range 3 {
		r.write(dir+"/report.xml", "x")
		r.write(dir+"/build.log", "ignored\n")
		r.write(dir+"/README.md", "changed\n")
		r.git("-C", dir, "checkout", "-q", "--detach", "HEAD")
		r.git("-C", dir, "-c", "core.hooksPath=/dev/null", "commit", "-q", "-am", "by a gate")
		e.Stay = true
		if got := r.closed(e); len(got.Changed) == 0 {
			t.Errorf("turn %d: nothing is said of what it changed: %+v", turn, got)
		}
		if got := r.git("-C", dir, "rev-parse", "HEAD") + r.git("-C", dir, "status", "--porcelain"); strings.TrimSpace(strings.TrimSuffix(got, "?? dep.txt")) != e.Commit {
			t.Errorf("turn %d: it is not put back: %s", turn, got)
		}
		if b, err := os.ReadFile(filepath.Join(dir, "dep.txt")); err != nil || string(b) != "dep\n" {
			t.Errorf("turn %d: what setup made is %q, %v", turn, b, err)
		}
	}
	e.Stay = false
	r.closed(e)
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
	if after := r.git("for-each-ref"); after != before {
		t.Errorf("refs\n%s\nwere\n%s", after, before)
	}
}

func TestTheSetupDigestIsOfWhatIsCopied(t *testing.T) { // execution §5, preflight
	r := newRepo(t, executortest.Epic(two, func(e *ir.Epic) { e.Run.Worktree.Copy = []string{"local", "not-there"} }))
	digest := func() string {
		t.Helper()
		d, err := r.space.Checkout.SetupDigest()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	seen := map[string]bool{digest(): true}
	for _, text := range []string{"one", "two"} {
		r.write("local/a.txt", text)
		if d := digest(); seen[d] {
			t.Errorf("with %s the digest is that of before", text)
		} else if seen[d] = true; d != digest() {
			t.Error("it differs each time")
		}
	}
}

func TestWhatACommitLacks(t *testing.T) { // execution §5, preflight
	r := newRepo(t, executortest.Epic(two))
	r.write("tools/x.sh", "exit 0\n")
	if err := os.Symlink("tools", filepath.Join(r.space.Top(), "link")); err != nil {
		t.Fatal(err)
	}
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "tools")
	r.write("new.sh", "exit 0\n")
	lacks, err := r.space.Files.Lacks(t.Context(), r.head(), []string{"README.md", "new.sh", "tools/x.sh", "tools/y.sh", "link/x.sh", "*.md"})
	if got := strings.Join(lacks, " "); err != nil || got != "new.sh tools/y.sh *.md" {
		t.Errorf("it lacks %q, %v", got, err)
	}
	ignored, err := r.space.Files.Ignored(t.Context(), []string{"README.md", "a.log", "new.sh"})
	if got := strings.Join(ignored, " "); err != nil || got != "a.log" {
		t.Errorf("ignored: %q, %v", got, err)
	}
}
