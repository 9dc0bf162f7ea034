package ir_test

import (
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/irtest"
)

// S0-95, S0-97: a condition that is removed or lets more pass makes a gate weaker; one
// that lets less pass, or is new, does not.
func TestAConditionThatLetsMorePassIsWeaker(t *testing.T) {
	for _, c := range []struct{ old, now, want string }{
		{">= 80", ">= 80", ""},
		{">= 80", ">= 80.0", ""},
		{">= 80", "> 85", ""},
		{"", ">= 80", ""},
		{">= 80", "", "gate blind-review: no longer requires coverage >= 80"},
		{">= 80", ">= 70", "gate blind-review: requires coverage >= 70, no longer >= 80"},
		{">= 80", "<= 80", "gate blind-review: requires coverage <= 80, no longer >= 80"},
		{">= 80", `== "much"`, `gate blind-review: requires coverage == "much", no longer >= 80`},
	} {
		epic := func(condition string) *ir.Epic {
			e := irtest.Rich()
			g := e.Gates["blind-review"]
			if condition != "" {
				g.Require = map[string]string{"coverage": condition}
			}
			e.Gates["blind-review"] = g
			ir.Seal(e)
			return e
		}
		var got []string
		for _, w := range ir.Diff(epic(c.old), epic(c.now)).Weaker {
			got = append(got, w.Rule+": "+w.Message)
		}
		want := c.want
		if want != "" {
			want = "gate-loosened: " + want
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%q → %q: %q, want %q", c.old, c.now, got, want)
		}
	}
}

// S0-95
func TestOnlyThoseWhoAnswerMeetConditions(t *testing.T) {
	for gate, want := range map[string]string{
		"blind-review":  "",
		"unit":          "gates.unit.require: a gate of kind command has no answer with fields",
		"lead-approves": "gates.lead-approves.require: a gate of kind human has no answer with fields",
	} {
		e := irtest.Rich()
		g := e.Gates[gate]
		g.Require = map[string]string{"coverage": ">= 80"}
		e.Gates[gate] = g
		if got := breaches(e); got != want {
			t.Errorf("%s: %q, want %q", gate, got, want)
		}
	}
	e := irtest.Rich()
	g := e.Gates["blind-review"]
	g.Require = map[string]string{"coverage": "80"}
	e.Gates["blind-review"] = g
	if got := breaches(e); !strings.Contains(got, "the condition has no operator") {
		t.Error(got)
	}
}

func breaches(e *ir.Epic) string {
	ir.Seal(e)
	var out []string
	for _, err := range e.Verify() {
		out = append(out, err.Error())
	}
	return strings.Join(out, "; ")
}
