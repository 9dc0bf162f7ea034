package judge

import (
	"fmt"
	"testing"
	"testing/fstest"
)

// Where a project has more files than are read, no path is said to be missing.
func TestMoreFilesThanScopesAreHeldAgainst(t *testing.T) {
	project := fstest.MapFS{".git/HEAD": {}, "a.go": {}, "b/c.go": {}}
	for most, want := range map[int]string{1: "[a.go] true", 2: "[a.go b/c.go] false", 3: "[a.go b/c.go] false"} {
		paths, partial := pathsIn(project, most)
		if got := fmt.Sprint(paths, partial); got != want {
			t.Errorf("at most %d: %s, want %s", most, got, want)
		}
	}
}
