package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// The message of a commit, and the names in a directory, can be as large as a file.
func TestACommitThatIsAsLargeAsAFileCounts(t *testing.T) { // execution §3: a commit may add at most max_commit
	overLayouts(t, testACommitThatIsAsLargeAsAFileCounts)
}

func testACommitThatIsAsLargeAsAFileCounts(t *testing.T) {
	r := newRepo(t, executortest.Epic(two, func(e *ir.Epic) { e.Run.Worktree.MaxCommit = 2_000_000 }))
	base := r.head()
	r.prepare("bd-1-1", 1, base)
	dir := r.space.Dir("bd-1-1")
	r.in("bd-1-1", "a.txt", "a")
	message := filepath.Join(t.TempDir(), "message")
	r.must(os.WriteFile(message, []byte(strings.Repeat("a line of the message\n", 150_000)), 0o600))
	r.git("-C", dir, "add", "-A")
	r.git("-C", dir, "commit", "-q", "-F", message)
	c := r.collect("bd-1-1", 1, base)
	if got := strings.Join(c.Problems, "\n"); !strings.Contains(got, "worktree.max_commit allows") || !strings.Contains(got, "the message of ") {
		t.Errorf("problems: %.500q", got)
	}
	if got := r.git("log", "--format=%h", base+".."+c.Result.Commit); strings.Contains(got, "\n") {
		t.Errorf("its commits are taken: %s", got)
	}
}

// An object is read as far as fits into memory, and the next answer is its own.
func TestALargeObjectIsReadInPart(t *testing.T) {
	r := newRepo(t, executortest.Epic(two))
	file := filepath.Join(t.TempDir(), "large")
	r.must(os.WriteFile(file, nil, 0o600))
	r.must(os.Truncate(file, maxContents+10))
	oid := r.git("hash-object", "-w", file)
	if _, kind, data, err := r.space.git.ask(t.Context(), "contents", oid); kind != "blob" || len(data) != maxContents || err != nil {
		t.Errorf("%s of %d bytes, %v", kind, len(data), err)
	}
	if h, err := r.space.git.commitHeader(t.Context(), "HEAD"); err != nil || h.tree == "" {
		t.Errorf("the next answer: %+v, %v", h, err)
	}
}
