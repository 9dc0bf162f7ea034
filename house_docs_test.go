package ralph_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTheArchitectureNamesFilesThatExist: whoever looks there finds what it says.
func TestTheArchitectureNamesFilesThatExist(t *testing.T) {
	b, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`([a-z]+(?:/[a-z_*]+)+(?:\\.go)?)`").FindAllStringSubmatch(string(b), -1)
	if len(named) < 40 {
		t.Fatalf("it names %d places only", len(named))
	}
	for _, n := range named {
		if strings.HasPrefix(n[1], "refs/") || strings.HasPrefix(n[1], "ralph/") {
			continue // in a repository of the user's
		}
		if found, err := filepath.Glob(n[1]); err != nil || len(found) == 0 {
			t.Errorf("docs/architecture.md names %s, which is not there", n[1])
		}
	}
}
