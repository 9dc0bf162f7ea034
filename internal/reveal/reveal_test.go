package reveal

import (
	"bytes"
	"encoding/json"
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

func TestJoinersStayWhereTheyAreNeeded(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"an emoji":          {"👩\u200d🔬 ❤\ufe0f\u200d🔥", "👩\u200d🔬 ❤\ufe0f\u200d🔥"},
		"tags hide words":   {"🏴\U000E0067", "🏴" + `\U000e0067`},
		"Persian":           {"می\u200cخواهم", "می\u200cخواهم"},
		"between letters":   {"ad\u200dmin", `ad\u200dmin`},
		"two in a row":      {"می\u200c\u200cخ", `می` + "\u200c" + `\u200cخ`},
		"a tag of its own":  {"x\U000E0067", `x\U000e0067`},
		"a bidi, an accent": {"é\u202e", `é\u202e`},
	} {
		if got := Words(c.in); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestJSONKeepsItsValues(t *testing.T) {
	text := "a\u202eb\u009bc\u200bd\u3164e\U000E0041f\u200dg\x7f日本 \xff"
	raw := append([]byte{34}, text...)
	raw = append(raw, '"')
	var b bytes.Buffer
	w := JSONWriter(&b)
	for i := range raw { // a character comes in parts
		if n, err := w.Write(raw[i : i+1]); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	if !bytes.Equal(b.Bytes(), JSON(raw)) {
		t.Errorf("byte by byte: %q, at once: %q", b.Bytes(), JSON(raw))
	}
	var was, is string
	if json.Unmarshal(raw, &was) != nil || json.Unmarshal(b.Bytes(), &is) != nil || was != is {
		t.Errorf("%q became %q", was, is)
	}
	if bytes.ContainsFunc(b.Bytes(), func(r rune) bool { return r > 0x7f && Hides(r) }) {
		t.Errorf("%q", b.Bytes())
	}
}

func TestWordsMakeStrangersTextHarmless(t *testing.T) {
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
		if got := Words(c.in); got != c.want {
			t.Errorf("%s: Words(%q) = %q, want %q", name, c.in, got, c.want)
		}
	}
}
