package workspace

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ralph-compiler/ralph/executor/executortest"
)

// Of many objects, far more than a pipe has room for, those that are not there are told, in
// order; also if the git that is kept was killed before.
func TestManyObjectsAreAskedForAtOnce(t *testing.T) {
	r := newRepo(t, executortest.Epic([]string{"1.1"}))
	var all, want []string
	for i := range 20_000 {
		oid := fmt.Sprintf("%040x", i)
		all, want = append(all, oid), append(want, oid)
		if i%1000 == 0 {
			all = append(all, r.head())
		}
	}
	for range 2 {
		got, err := r.space.git.lacks(t.Context(), all)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%d of %d are not there, %v", len(got), len(want), err)
		}
		r.must(r.space.git.batch.cmd.Process.Kill())
	}
	if got, err := r.space.git.lacks(t.Context(), nil); len(got) > 0 || err != nil {
		t.Errorf("of none: %q, %v", got, err)
	}
	// An answer in the middle that nobody understands ends the conversation, not the next one.
	all[15_000] = "HEAD\ncontents HEAD"
	if got, err := r.space.git.lacks(t.Context(), all); err == nil {
		t.Errorf("a broken question: %d of them are not there", len(got))
	}
	if oid, err := r.space.git.ref(t.Context(), "HEAD"); oid != r.head() || err != nil {
		t.Errorf("HEAD is %q, %v", oid, err)
	}
}
