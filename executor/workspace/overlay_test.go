package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-compiler/ralph/executor/executortest"
)

// A plan that is changed is worked on as the checkout has it, and nothing of the
// user's moves: no branch, no index.
func TestAFileOfTheCheckoutIsLaidOverHEAD(t *testing.T) {
	r := newRepo(t, executortest.Epic([]string{"1.1"}))
	r.write("a.txt", "a\n")
	r.write("staged.txt", "s\n")
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "files")
	head := r.head()
	same, err := r.space.Files.Overlay(t.Context(), "a.txt", []byte("a\n"))
	if r.must(err); same != head {
		t.Errorf("a file that HEAD has gives %s, HEAD is %s", same, head)
	}
	r.write("staged.txt", "staged\n")
	r.git("add", "staged.txt")
	before := r.git("status", "--porcelain")
	for path, text := range map[string]string{"a.txt": "changed\n", "deep/new,er.md": "# new\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(r.dir, path)), 0o755); err != nil {
			t.Fatal(err)
		}
		r.write(path, "saved after it was read\n")
		c, err := r.space.Files.Overlay(t.Context(), path, []byte(text))
		r.must(err)
		if b, there, err := r.space.FileAt(t.Context(), c, path, 100); err != nil || !there || string(b) != text {
			t.Errorf("%s is %q there (%v)", path, b, err)
		}
		if got := r.git("diff", "--name-only", head, c); got != path {
			t.Errorf("the commit changes %q", got)
		}
		if got := r.git("rev-parse", c+"^"); got != head {
			t.Errorf("its parent is %s", got)
		}
		if again, err := r.space.Files.Overlay(t.Context(), path, []byte(text)); err != nil || again != c {
			t.Errorf("again it is %s, and was %s (%v)", again, c, err)
		}
	}
	if r.head() != head || before != "M  staged.txt" || r.git("diff", "--cached", "--name-only") != "staged.txt" {
		t.Error("the checkout's own HEAD or index moved")
	}
	if err := os.Symlink("a.txt", filepath.Join(r.dir, "link.md")); err != nil {
		t.Fatal(err)
	}
	var no *Refusal
	if _, err := r.space.Files.Overlay(t.Context(), "link.md", nil); !errors.As(err, &no) {
		t.Errorf("a link: %v", err)
	}
}
