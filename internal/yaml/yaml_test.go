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
		t.Errorf("title stands at %q", got)
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
