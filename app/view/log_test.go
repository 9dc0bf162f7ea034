//go:build unix

package view

import (
	"os"
	"path/filepath"
	"testing"
)

func TestTheLastLinesOfAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for text, want := range map[string][]int64{ // where the last 0, 1, 2 and 9 lines begin
		"":              {0, 0, 0, 0},
		"a\nbb\nccc\n":  {9, 5, 2, 0},
		"a\nbb\nccc\nd": {9, 5, 2, 0},
		"no end":        {0, 0, 0, 0},
		"\n\n":          {2, 1, 0, 0},
		"a\r\nb\r\n":    {6, 3, 0, 0},
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		for i, n := range []int{0, 1, 2, 9} {
			if got := lastLines(path, int64(len(text)), n, tailRead, false); got != want[i] {
				t.Errorf("the last %d lines of %q begin at %d, want %d", n, text, got, want[i])
			}
		}
	}
}

func TestTheLastLinesThatAreLong(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for _, c := range []struct {
		text string
		n    int
		over bool
		want string // what is printed, of the last 8 bytes
	}{
		{"no line break at all", 10, true, "k at all"},
		{"one long line\n", 10, true, "ng line\n"},
		{"a long line\nb\nc\n", 10, true, "b\nc\n"},
		{"a long line\nb\nc\n", 1, true, "c\n"},
		{"one long line\nno", 10, false, " line\nno"},
		{"ééééééé", 10, true, "éééé"},
		{"éééééééx", 10, true, "éééx"},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := c.text[lastLines(path, int64(len(c.text)), c.n, 8, c.over):]; got != c.want {
			t.Errorf("the last %d lines of %q are %q, want %q", c.n, c.text, got, c.want)
		}
	}
}
