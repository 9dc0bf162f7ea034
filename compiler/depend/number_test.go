package depend

import (
	"strings"
	"testing"
)

// S0-29..32, S0-146, S0-147, L0-02: how keys are taken apart.
func TestNumbersAreTakenApart(t *testing.T) {
	for _, c := range []struct{ key, shape, text, letters string }{
		{"1.1", "#.#", "1.1", ""},
		{"3a.2b", "#.#", "3a.2b", "b"},
		{"12.5c", "#.#", "12.5c", "c"},
		{"1.01", "#.#", "1.1", ""},
		{"T046B", "t#", "t46b", "b"},
		{"FE-03-004", "fe-#-#", "fe-3-4", ""},
		{"S1-T1", "s#-t#", "s1-t1", ""},
		{"P1T2", "p#t#", "p1t2", ""},
		{"US-1.1", "us-#.#", "us-1.1", ""},
		{"setup", "setup", "setup", ""},
	} {
		n, ok := ParseNumber(c.key)
		if !ok || n.Shape != c.shape || n.Text() != c.text || n.Letters() != c.letters {
			t.Errorf("%s: shape %q text %q letters %q ok %v", c.key, n.Shape, n.Text(), n.Letters(), ok)
		}
	}
	if _, ok := ParseNumber("1.99999999999999999999"); ok {
		t.Error("a number too large is taken")
	}
}

func TestPlainSpelling(t *testing.T) {
	for in, want := range map[string]string{"１.2": "1.2", "1.02": "1.2", "10.0": "10.0", "1.2а": "1.2a", "٣.1": "3.1", "1․2": "1.2", "0.1": "0.1", "00.1": "0.1"} {
		if got := PlainID(in, true); got != want {
			t.Errorf("spelling(%q) = %q, want %q", in, got, want)
		}
	}
}

// (after … merged): the known forms and what is none.
func TestClauses(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"after 1.1 merged", "1.1"},
		{"after 1.2a and 1.2b merged", "1.2a 1.2b"},
		{"after Sprint 1.1, 1.2 are merged", "1.1 1.2"},
		{"After 1.1", "1.1"},
		{"after the release", ""},
		{"before 1.1", ""},
		{"after 1.1 is reviewed by QA", ""},
	} {
		got, ok := clause(c.in, 0, "plan.md")
		if s := strings.Join(got.ids, " "); s != c.want || ok != (c.want != "") {
			t.Errorf("%q: %q %v, want %q", c.in, s, ok, c.want)
		}
	}
}
