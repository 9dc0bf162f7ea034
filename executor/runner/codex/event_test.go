package codex

import (
	"slices"
	"strings"
	"testing"
)

func TestCommandsAreShownWithoutTheShellAroundThem(t *testing.T) {
	t.Parallel()
	for cmd, want := range map[string]string{
		`/bin/bash -lc 'cat AGENTS.md'`:                "cat AGENTS.md",
		`/bin/bash -lc ls`:                             "ls",
		"/bin/bash -lc 'cat > a <<'\"'EOF'\nit\nEOF\"": "cat > a <<'EOF'\nit\nEOF",
		`/bin/zsh -lc "echo \"a\" \$b"`:                `echo "a" $b`,
		`make test`:                                    `make test`,
		`ssh host 'bash -lc x'`:                        `ssh host 'bash -lc x'`,
		`/bin/bash -lc two words`:                      `/bin/bash -lc two words`,
	} {
		if got := bare(cmd); got != want {
			t.Errorf("%s: got %s, want %s", cmd, got, want)
		}
	}
}

func TestLinesAreCutWhereverThePiecesAre(t *testing.T) {
	t.Parallel()
	const text = "one\r\n\n  two  \nthree"
	for size := 1; size <= len(text); size++ {
		var got []string
		l := &lines{line: func(b []byte) { got = append(got, string(b)) }}
		for at := 0; at < len(text); at += size {
			l.feed([]byte(text[at:min(at+size, len(text))]))
		}
		l.end()
		if want := []string{"one", "two", "three"}; !slices.Equal(got, want) {
			t.Errorf("in pieces of %d bytes: got %q, want %q", size, got, want)
		}
	}
	n := 0
	l := &lines{line: func(b []byte) { n = len(b) }}
	for range 3 {
		l.feed([]byte(strings.Repeat("x", maxLine/2)))
	}
	if l.feed([]byte("\n")); n != maxLine {
		t.Errorf("a line of %d bytes is kept, want %d", n, maxLine)
	}
}
