package policies

import (
	"strings"
	"testing"
	"time"
)

// S2-46..50, S2-55, S2-56, K13
func TestMatchComplexity(t *testing.T) {
	s, _ := Decode(Input{})
	for _, x := range []struct {
		name, title, goal, task, want string
	}{
		{"a typo is trivial", "Fix typo in the README", "", "", "trivial typo"},
		{"a migration of auth is critical", "add auth migration", "", "", "critical auth"},
		{"nothing matches", "Build the parser", "", "", "standard "},
		{"the author is not auth", "Show the author of a page", "", "", "standard "},
		{"the form counts", "Authorize payments", "", "", "critical authorize"},
		{"the highest rank wins", "Fix typo in the payment page", "", "", "critical payment"},
		{"critical is looked for in the goal", "Fix typo", "rotate the credentials", "", "critical credentials"},
		{"critical is looked for in the tasks", "Small things", "", "write the migration", "critical migration"},
		{"trivial is not looked for in the goal", "Build the parser", "mind the whitespace", "", "standard "},
		{"simple is not looked for in the tasks", "Build the parser", "", "add a button", "standard "},
		{"a phrase is several words", "Remove  unused imports", "", "", "simple remove unused"},
		{"a part of a phrase is not enough", "Remove the unused", "", "", "standard "},
		{"a code span does not count", "Rename-free `auth` helper", "", "see ``x ` auth``", "trivial rename"},
		{"a backtick that is never closed is text", "The ` auth ticket", "", "", "critical auth"},
		{"punctuation ends a word", "Payments/security: (stage 1)", "", "", "critical payments"},
		{"case does not count", "SECURITY", "", "", "critical security"},
	} {
		level, word := s.MatchComplexity(x.title, x.goal, []string{x.task})
		if got := level + " " + word; got != x.want {
			t.Errorf("%s: got %q, want %q", x.name, got, x.want)
		}
	}
}

func TestMatchComplexityOfAUsersLevel(t *testing.T) {
	s := decodeText(t, `complexity "huge" {
  rank     = 9
  keywords = ["rewrite"]
  in       = ["title", "goal"]
}
complexity "plain" {
  rank    = 8
  default = true
}`)
	if level, word := s.MatchComplexity("x", "rewrite auth", nil); level != "huge" || word != "rewrite" {
		t.Errorf("got %s %s", level, word)
	}
	if level, _ := s.MatchComplexity("x", "", nil); level != "plain" {
		t.Errorf("default is %s", level)
	}
}

func TestMatchComplexityIsLinear(t *testing.T) {
	s, _ := Decode(Input{})
	long := strings.Repeat("` `` remove ", 100_000)
	start := time.Now()
	s.MatchComplexity(long, long, []string{long})
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("3.6 MB take %s", d)
	}
}
