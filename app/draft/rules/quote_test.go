package rules

import (
	"strings"
	"testing"
)

// Whatever a text holds, it does not end the fence around it, and nothing in it is
// hidden.
func FuzzQuoted(f *testing.F) {
	for _, s := range []string{"", "a\nb", "```", "````\r\n```", strings.Repeat("`", 200), "\x1b[0m\u202e", "~~~\n`"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lines := quoted(text, "")
		fence := lines[0]
		if len(lines) < 3 || strings.Trim(fence, "`") != "" || lines[len(lines)-1] != fence || len(fence) > maxRun+1 {
			t.Fatalf("no fence: %q", lines)
		}
		for _, l := range lines[1 : len(lines)-1] {
			if strings.Contains(l, fence) || strings.ContainsAny(l, "\n\r\x1b\u202e") {
				t.Fatalf("%q in the fence %s", l, fence)
			}
		}
	})
}
