package compiler

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
)

// K10, K11, S0-46, S0-47, S0-52: agents as plans name them.
func TestAgentsOfAPlan(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"name, model, note", "`dev` (sonnet) - build it", "dev|sonnet|build it|"},
		{"a path gives the name of its stem", ".claude/agents/backend-dev", "backend-dev|||.claude/agents/backend-dev.md"},
		{"two names", "`a`, `b`", "a|||; b|||"},
		{"two names with models", "a (Opus), b (haiku) and c", "a|Opus||; b|haiku||; c|||"},
		{"a note with commas", "dev - build, test, ship", "dev||build, test, ship|"},
		{"an em dash", "dev (opus) — design", "dev|opus|design|"},
		{"a note without a dash behind the model", "dev (opus) designs it", "dev|opus|designs it|"},
		{"a remark is no model", "dev (the new one)", "dev|||"},
		{"none is nobody", "None", ""},
		{"a colon", "dev: build it", "dev||build it|"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, p := range splitAgents(entry{text: c.in}) {
				if r, ok := agentRef(p.Value, diag.Range{}); ok {
					got = append(got, fmt.Sprintf("%s|%s|%s|%s", r.Name, r.Model, r.Note, r.Path))
				}
			}
			if s := strings.Join(got, "; "); s != c.want {
				t.Errorf("got %q, want %q", s, c.want)
			}
		})
	}
}

// S0-08: the canonical scale.
func TestPriority(t *testing.T) {
	for in, want := range map[string]int{"0": 0, "P0": 0, "p4": 4, "Critical": 0, "high": 1, "medium": 2, "LOW": 3, "minimal": 4} {
		if got, ok := priority(in); !ok || got != want {
			t.Errorf("priority(%q) = %d, %v, want %d", in, got, ok, want)
		}
	}
	for _, in := range []string{"", "5", "P5", "-1", "soon", "P"} {
		if got, ok := priority(in); ok {
			t.Errorf("priority(%q) = %d", in, got)
		}
	}
}

func TestBudget(t *testing.T) {
	for _, c := range []struct {
		in   string
		want ir.Budget
	}{
		{"$2.50", ir.Budget{USDMicro: 2_500_000}},
		{"200k tokens", ir.Budget{Tokens: 200_000}},
		{"$3, 1m tokens, 2 h", ir.Budget{USDMicro: 3_000_000, Tokens: 1_000_000, WallMS: 7_200_000}},
	} {
		if got, ok := budget(c.in); !ok || got != c.want {
			t.Errorf("budget(%q) = %+v, %v", c.in, got, ok)
		}
	}
	for _, in := range []string{"a lot", "-5", "k tokens", ""} {
		if got, ok := budget(in); ok {
			t.Errorf("budget(%q) = %+v", in, got)
		}
	}
}

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
		n, ok := parseNumber(c.key)
		if !ok || n.shape != c.shape || n.text() != c.text || n.letters() != c.letters {
			t.Errorf("%s: shape %q text %q letters %q ok %v", c.key, n.shape, n.text(), n.letters(), ok)
		}
	}
	if _, ok := parseNumber("1.99999999999999999999"); ok {
		t.Error("a number too large is taken")
	}
}

func TestPlainSpelling(t *testing.T) {
	for in, want := range map[string]string{"１.2": "1.2", "1.02": "1.2", "10.0": "10.0", "1.2а": "1.2a", "٣.1": "3.1", "1․2": "1.2", "0.1": "0.1", "00.1": "0.1"} {
		if got := spelling(in, true); got != want {
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
