package workspace

import (
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor/executortest"
)

// The user pops a stash while a sprint is at work in a clone, where nothing is stashed: a
// line that both wrote is no sign, a file that is the same is.
func TestAStashThatTheUserPops(t *testing.T) {
	for name, test := range map[string]struct{ file, writes, want string }{
		"a line is the same":   {"README.md", "other\n  return nil\n", ""},
		"the file is as it is": {"README.md", "hello\nreturn nil\n", "it took the user's stash"},
	} {
		t.Run("clone/"+name, func(t *testing.T) {
			r := newRepo(t, executortest.Epic(two))
			r.write("README.md", "hello\nreturn nil\n")
			r.git("stash", "-q")
			base := r.head()
			r.prepare("bd-1-1", 1, base)
			r.git("stash", "pop", "-q")
			r.in("bd-1-1", test.file, test.writes)
			c := r.collect("bd-1-1", 1, base)
			if got := strings.Join(c.Problems, "\n"); (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("problems: %q, want %q", got, test.want)
			}
		})
	}
}
