package term

import (
	"bytes"
	"testing"
)

func TestCleanMakesStrangersTextHarmless(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"plain text is left alone":           {"Sprint 1.2a: Über → x\n\ty", "Sprint 1.2a: Über → x\n\ty"},
		"an escape sequence becomes visible": {"a\x1b[2Jb", `a\x1b[2Jb`},
		"a carriage return":                  {"a\rb", `a\x0db`},
		"a C1 control":                       {"a\u009bb", `a\u009bb`},
		"a bidirectional override":           {"a\u202eb", `a\u202eb`},
		"a byte that is not UTF-8":           {"a\xffb", `a\xffb`},
		"the replacement character itself":   {"a\ufffdb", "a\ufffdb"},
		"what has no width":                  {"a\u200bb", `a\u200bb`},
	} {
		if got := Clean(c.in); got != c.want {
			t.Errorf("%s: Clean(%q) = %q, want %q", name, c.in, got, c.want)
		}
	}
}

func TestNoColourOutsideATerminal(t *testing.T) {
	if got := For(&bytes.Buffer{}).Paint(Bad, "x"); got != "x" {
		t.Errorf("Paint = %q, want plain text", got)
	}
	if got := (Style{on: true}).Paint(Bad, "x"); got == "x" {
		t.Error("a style that is on does not colour")
	}
}
