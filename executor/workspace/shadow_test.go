package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ralph-compiler/ralph/executor/executortest"
)

func TestWhatGitTakesABranchFor(t *testing.T) {
	r := newRepo(t, executortest.Epic(two))
	r.git("branch", "x/y")
	if got := r.space.git.typed("x/y"); got != "x/y" {
		t.Errorf("nothing shadows it: %s", got)
	}
	for _, ref := range []string{"refs/heads/z/x/y", "refs/remotes/x/y"} { // neither comes before a branch
		r.git("update-ref", ref, "HEAD")
	}
	if got := r.space.Checkout.Shadows("x/y"); got != nil {
		t.Errorf("shadowed by %q", got)
	}
	r.git("tag", "x/y")
	r.git("update-ref", "refs/x/y", "HEAD")
	if err := os.MkdirAll(filepath.Join(r.space.git.common, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.space.git.common, "x/y"), []byte("no ref\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, want := r.space.Checkout.Shadows("x/y"), []string{"refs/x/y", "refs/tags/x/y"}; !slices.Equal(got, want) {
		t.Errorf("shadowed by %q, want %q", got, want)
	}
	if got := r.space.git.typed("x/y"); got != "refs/heads/x/y" {
		t.Errorf("it is typed as %s", got)
	}
}
