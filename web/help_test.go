package web_test

import (
	"os"
	"path/filepath"
	"testing"
)

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, file string) {
	t.Helper()
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
}

// policy adds to the policy of a night, and compiles its plan again.
func (n *night) policy(more string) {
	n.t.Helper()
	file := filepath.Join(n.dir, "ralph.hcl")
	b, err := os.ReadFile(file)
	if err != nil {
		n.t.Fatal(err)
	}
	write(n.t, file, string(b)+more)
	n.ralph(0, "compile", "plan.md")
	n.git("commit", "-q", "-a", "-m", "another policy")
}
