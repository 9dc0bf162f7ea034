package yaml

import (
	"errors"
	"strings"
	"testing"
)

func TestParseKnowsPlaces(t *testing.T) {
	src := "title: Über \"x\"\nlabels: [a, 'b c']\nralph: 1\nempty:\n"
	n, err := Parse([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	at := func(n *Node) string { return src[n.Start:n.End] }
	if got := at(n.Get("title")); got != `Über "x"` {
		t.Errorf("title is at %q", got)
	}
	l := n.Get("labels")
	if l.Kind != Sequence || at(l.Values[0]) != "a" || at(l.Values[1]) != "'b c'" || l.Values[1].Value != "b c" {
		t.Errorf("labels: %+v", l)
	}
	if r := n.Get("ralph"); r.Tag != "!!int" || r.Value != "1" {
		t.Errorf("ralph: %+v", r)
	}
	if e := n.Get("empty"); e.Kind != Null {
		t.Errorf("empty: %+v", e)
	}
}

// A quoted value ends at its own quote, not at the last one of the line.
func TestQuotedValuesOfOneLineHavePlacesOfTheirOwn(t *testing.T) {
	src := `a: ["01", 'it''s', "say \"x\"", "y"]`
	n, err := Parse([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{`"01"`, `'it''s'`, `"say \"x\""`, `"y"`} {
		if v := n.Get("a").Values[i]; src[v.Start:v.End] != want {
			t.Errorf("value %d is at %q, want %q", i, src[v.Start:v.End], want)
		}
	}
}

func TestParseRefusesWithALine(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		line int
	}{
		"a colon inside a plain scalar": {"a: 1\ndescription: Examples: <x> user: 'y'\n", 2},
		"an alias":                      {"a: &x 1\nb: *x\n", 2},
		"deep nesting":                  {strings.Repeat("[", 200) + strings.Repeat("]", 200), 1},
		"a tab as indentation":          {"a:\n\t- b\n", 2},
	} {
		_, err := Parse([]byte(c.in))
		var se *SyntaxError
		if !errors.As(err, &se) {
			t.Errorf("%s: got %v, want a SyntaxError", name, err)
			continue
		}
		if se.Line != c.line {
			t.Errorf("%s: line %d (%s), want %d", name, se.Line, se.Message, c.line)
		}
	}
}

// S4-90: what cannot be read is shown where it stands, with what to write instead.
func TestSyntaxErrorsSayWhereAndWhat(t *testing.T) {
	for _, c := range []struct {
		in           string
		line, column int
		fix          string
	}{
		{"a: b: c\n", 1, 5, `Quote the value: "b: c".`},
		{"a:\n\t- b\n", 2, 1, "Indent with spaces"},
		{"a: 1\nb: @x\n", 2, 4, "Quote the value"},
		{"a: [1, 2\nb: 1\n", 1, 4, "Close the bracket"},
		{"x:\n  - name: y\n    list: [coding\n  z: 1\n", 3, 11, "Close the bracket"},
		{"a: 1\nb: \"x\nc: 1\n", 2, 4, "Close the quote"},
		{"a:\n  - b\n - c\n", 3, 2, "Indent this line"},
		{"- a\nb: 1\n", 2, 1, "Indent this line"},
		{"a: 'it's'\n", 1, 4, "written twice"},
		{"ü: *x\n", 1, 4, "Write the value out"},
		{"policies\n  simple: 1\n", 2, 3, "above"},
	} {
		_, err := Parse([]byte(c.in))
		var e *SyntaxError
		if !errors.As(err, &e) {
			t.Errorf("%q: %v", c.in, err)
			continue
		}
		if e.Line != c.line || e.Column != c.column || !strings.Contains(e.Fix, c.fix) {
			t.Errorf("%q: %d:%d %q (%s), want %d:%d %q", c.in, e.Line, e.Column, e.Fix, e.Message, c.line, c.column, c.fix)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("a: [1, 'x']\n")
	f.Add("- é: \"\n")
	f.Fuzz(func(t *testing.T, s string) {
		n, err := Parse([]byte(s))
		if err == nil && (n.Start < 0 || n.End > len(s)) {
			t.Errorf("place %d..%d outside of %d bytes", n.Start, n.End, len(s))
		}
	})
}
