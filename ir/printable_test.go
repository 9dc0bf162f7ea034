package ir_test

import (
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/ir"
)

func TestPrintableShowsWhatWouldActOnATerminal(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                "plain",
		"Zürich 日本 👩‍💻":        "Zürich 日本 👩‍💻",
		"\x1b[31mred":          `\u{1b}[31mred`,
		"\u009b31m":            `\u{9b}31m`,
		"a\tb\nc\r":            "a b c ",
		"\u202eevil":           `\u{202e}evil`,
		"\u2066x\u2069":        `\u{2066}x\u{2069}`,
		"a\xffb\uFFFD":         `a\x{ff}b` + "\uFFFD",
		"\xff\u200d":           `\x{ff}\u{200d}`,
		"\u2028\x7f\x00\ufeff": `\u{2028}\u{7f}\u{0}\u{feff}`,
	} {
		if got := ir.Printable(in); got != want {
			t.Errorf("Printable(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzPrintable(f *testing.F) {
	f.Add("\x1b]0;x\x07\xff\u202e")
	f.Fuzz(func(t *testing.T, s string) {
		got := ir.Printable(s)
		if strings.ContainsAny(got, "\x00\x07\x1b\n\r\t\u009b\u202e\u2028") || ir.Printable(got) != got {
			t.Errorf("Printable(%q) = %q", s, got)
		}
	})
}
