package workspace

import (
	"os"
	"path/filepath"
	"testing"
)

// The files say what git says, for a checkout, a linked worktree, a submodule and a
// link to one of them.
func TestCommonDirIsWhatGitSays(t *testing.T) {
	r := newRepo(t, nil)
	parent := filepath.Dir(r.dir)
	r.git("worktree", "add", "-q", "--detach", filepath.Join(parent, "linked"))
	r.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", r.dir, "sub")
	if err := os.Symlink(r.dir, filepath.Join(parent, "link")); err != nil {
		t.Fatal(err)
	}
	for _, top := range []string{r.dir, filepath.Join(parent, "linked"), filepath.Join(r.dir, "sub"), filepath.Join(parent, "link")} {
		g, err := findGit(top)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.locate(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := CommonDir(top); got != g.common {
			t.Errorf("%s: %q, git says %q", top, got, g.common)
		}
	}
	if got := CommonDir(parent); got != "" {
		t.Errorf("outside of a repository: %q", got)
	}
	if err := os.WriteFile(filepath.Join(parent, ".git"), []byte("nonsense"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := CommonDir(parent); got != "" {
		t.Errorf("a .git file that says nothing: %q", got)
	}
}
