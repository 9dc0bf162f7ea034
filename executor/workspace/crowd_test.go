package workspace

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor/executortest"
)

// What commits change is counted by their trees: what stays where it was is not read.
func TestCommitsAreCountedByTheirTrees(t *testing.T) {
	r := newRepo(t, executortest.Epic(two))
	mktree := func(format, oid string) string {
		t.Helper()
		var list strings.Builder
		for i := range 10 {
			fmt.Fprintf(&list, format+"\n", oid, i)
		}
		out, err := r.space.git.run(t.Context(), place{}, list.String(), nil, "mktree")
		r.must(err)
		return strings.TrimSpace(string(out))
	}
	commit := func(tree string, parents ...string) string {
		args := []string{"commit-tree", "-m", "a", tree}
		for _, p := range parents {
			args = append(args, "-p", p)
		}
		return r.git(args...)
	}
	out, err := r.space.git.run(t.Context(), place{}, "a", nil, "hash-object", "-w", "--stdin")
	r.must(err)
	blob := strings.TrimSpace(string(out))
	bomb := mktree("100644 blob %s\tf%d", blob)
	for range 4 {
		bomb = mktree("040000 tree %s\td%d", bomb)
	}
	base := commit(bomb)
	large := mktree("040000 tree %s\td%d", bomb) // 1,111,111 in all
	merge := commit(bomb, base, commit(large))
	for _, c := range []struct {
		name, commit, want string
	}{
		{"a new tree", commit(large), "changes more than 1000000"},
		{"one tree of the base many times", commit(large, base), "changes more than 1000000"},
		{"the same files", commit(large, commit(large)), ""},
		{"files that go", commit(bomb, commit(large)), "changes more than 1000000"},
		{"a file", commit(mktree("100644 blob %s\tf%d", blob), base), ""},
		{"a merge of what others made", merge, ""},
		{"a merge of what is new as well", merge + " " + commit(large), "changes more than 1000000"},
		{"a merge that is itself new", commit(large, base, commit(bomb, base)), "changes more than 1000000"},
	} {
		got, err := r.space.crowded(t.Context(), strings.Fields(c.commit))
		r.must(err)
		if !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	got, err := r.space.crowded(t.Context(), slices.Repeat([]string{base}, 100))
	r.must(err)
	if !strings.Contains(got, "and others with it change more than 1000000") {
		t.Errorf("many commits: %q", got)
	}
}

// git takes the first tree of a commit, and the parents right behind it.
func TestACommitIsReadAsGitReadsIt(t *testing.T) {
	r := newRepo(t, executortest.Epic(two))
	head, tree := r.git("rev-parse", "HEAD"), r.git("rev-parse", "HEAD^{tree}")
	empty := r.git("hash-object", "-t", "tree", "-w", "/dev/null")
	text := fmt.Sprintf("tree %s\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\ntree %s\nparent %s\n\nforged\n", tree, empty, head)
	out, err := r.space.git.run(t.Context(), place{}, text, nil, "hash-object", "-t", "commit", "-w", "--stdin")
	r.must(err)
	commit := strings.TrimSpace(string(out))
	if got := r.git("rev-list", "--parents", commit); got != commit {
		t.Fatalf("git says: %s", got)
	}
	h, err := r.space.git.commitHeader(t.Context(), commit)
	r.must(err)
	if h.tree != tree || len(h.parents) > 0 {
		t.Errorf("tree %s, parents %v, want %s and none", h.tree, h.parents, tree)
	}
}
