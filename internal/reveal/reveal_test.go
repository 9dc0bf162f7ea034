package reveal

import (
	"strings"
	"testing"
)

func TestWhatDoesNotShowIsWritten(t *testing.T) {
	for name, c := range map[string]struct {
		in, want string
		hidden   int
	}{
		"text":                   {"naïve 日本語\t✔️\n", "naïve 日本語\t✔️\n", 0},
		"an escape sequence":     {"\x1b[2Jx", `\x1b[2Jx`, 1},
		"a bell, a return":       {"a\a\r", `a\x07\x0d`, 2},
		"a C1 control":           {"\u009b31m", `\u009b31m`, 1},
		"right to left":          {"a\u202eb\u2066c", `a\u202eb\u2066c`, 2},
		"no width":               {"ad\u200bmin\u2060\ufeff", `ad\u200bmin\u2060\ufeff`, 3},
		"tags":                   {"\U000E0041", `\U000e0041`, 1},
		"a filler":               {"x\u3164", `x\u3164`, 1},
		"a selector":             {"x\U000E0100", `x\U000e0100`, 1},
		"a separator of lines":   {"x\u2028y", `x\u2028y`, 1},
		"bytes that are no text": {"caf\xe9", `caf\xe9`, 1},
		"the replacement itself": {"\uFFFD", "\uFFFD", 0},
		"NUL":                    {"\x00", `\x00`, 1},
	} {
		if got, hidden := Text(c.in); got != c.want || hidden != c.hidden {
			t.Errorf("%s: %q, %d; want %q, %d", name, got, hidden, c.want, c.hidden)
		}
	}
}

func TestLinesAreHandedOnWhole(t *testing.T) {
	var got []string
	hid := 0
	l := &Lines{Each: func(line string, hidden int, goesOn bool) error {
		if hid += hidden; goesOn {
			line += "…"
		}
		got = append(got, line)
		return nil
	}}
	long := strings.Repeat("é", most) // each of two bytes
	for _, p := range []string{"a\r\nb", "c\x1b\n", "x" + long[:most+2], long[most+2:] + "\nend"} {
		if n, err := l.Write([]byte(p)); n != len(p) || err != nil {
			t.Fatal(n, err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if len(got) != 5 || got[0] != `a\x0d` || got[1] != `bc\x1b` || strings.TrimSuffix(got[2], "…")+got[3] != "x"+long || got[4] != "end" || hid != 1 {
		t.Errorf("%d lines, %d hidden: %.100q", len(got), hid, got)
	}
}
