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
