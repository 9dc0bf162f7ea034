package effects

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/text"
)

// What others left is named as far as a prompt has room, what is said of a report that
// was cut first.
func TestLeftIsBounded(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	long := strings.Repeat("found ", 1000)
	b, _ := json.Marshal(map[string]string{"summary": long})
	write("agent-1.outcome.json", string(b))
	for i := range 3 * mostLeft {
		write(fmt.Sprintf("a%03d.md", i), "x")
	}
	said, files, err := leftIn(dir, "explore", text.Head(long, executor.MaxNote), false)
	if err != nil {
		t.Fatal(err)
	}
	lines := firstLeft(said, files)
	if len(lines) != mostLeft+1 || !strings.HasSuffix(lines[0], "above it is cut") || lines[mostLeft] != "- and 101 more there" {
		t.Errorf("%d lines: %q … %q", len(lines), lines[0], lines[len(lines)-1])
	}
}

// A report is cut where its file goes on with the same text, not where it says something
// else that is longer.
func TestSaysMore(t *testing.T) {
	long := strings.Repeat("it is so. ", 300)
	for name, c := range map[string]struct {
		field, text, summary string
		want                 bool
	}{
		"cut":            {"summary", long, text.Head(long, executor.MaxNote), true},
		"cut, and clean": {"summary", " \x1b[1m" + long, text.Head(executor.Clean("\x1b[1m"+long), executor.MaxNote), true},
		"whole":          {"summary", long[:600], long[:600], false},
		"another field":  {"notes", "else " + long, long[:600], false},
	} {
		path := filepath.Join(t.TempDir(), "agent-1.outcome.json")
		b, _ := json.Marshal(map[string]string{"summary": c.summary, c.field: c.text})
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := saysMore(path, strings.TrimSpace(c.summary)); got != c.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}
