package executortest_test

import (
	"testing"

	"github.com/ralph-compiler/ralph/executor/executortest"
)

func TestEpicsAreValid(t *testing.T) {
	for name, lines := range map[string][]string{
		"one":           {"1.1"},
		"a diamond":     {"1.1", "1.2a: 1.1", "1.2b: 1.1", "1.3: 1.2a 1.2b"},
		"two that join": {"1.1", "1.2", "1.3: 1.2 1.1"},
		"independent":   {"1.1", "1.2: 1.1", "2.1"},
	} {
		e := executortest.Epic(lines)
		for _, err := range e.Verify() {
			t.Errorf("%s: %v", name, err)
		}
		if e.Digest == "" {
			t.Errorf("%s: no digest", name)
		}
	}
}
