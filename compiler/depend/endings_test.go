package depend

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/diag"
)

// Plan language, rules 9a, 16 and 21: a group without items is passed through.
func TestDependEmptyGroups(t *testing.T) {
	none := sprintRules()
	none.groups = "none"
	for _, c := range []struct {
		name, plan string
		rules      Rules
		want       string
		codes      string
	}{
		{"a label names a group that waits by its number", "# 1\n1.1\n# 2\n# 3 <Phase 2\n3.1\n# 4\n4.1", sprintRules(), "1.1[] 3.1[1.1!] 4.1[3.1]", ""},
		{"a label names a group that has a label", "# 1\n1.1\n# 2\n2.1\n# 3 <Phase 1\n# 4 <Phase 3\n4.1", sprintRules(), "1.1[] 2.1[1.1] 4.1[1.1!]", ""},
		{"a chain of them", "# 1\n1.1\n# 2 <Phase 1\n# 3 <Phase 2\n# 4 <Phase 3\n4.1\n# 5\n5.1", sprintRules(), "1.1[] 4.1[1.1!] 5.1[4.1]", ""},
		{"one that waits for nothing", "# 1\n1.1\n# 2 <none\n# 3 <Phase 2\n3.1", sprintRules(), "1.1[] 3.1[]", ""},
		{"one behind roots waits for all before it", "# 1\n1.1\n# 2 <none\n2.1\n# 3\n# 4 <Phase 3\n4.1", sprintRules(), "1.1[] 2.1[] 4.1[1.1! 2.1!]", ""},
		{"one behind tracks", "# 1\n1.1\n# 2a\n2a.1\n# 2b\n2b.1\n# 3\n# 4 <Phase 3\n4.1", sprintRules(), "1.1[] 2a.1[1.1] 2b.1[1.1] 4.1[2a.1! 2b.1!]", ""},
		{"every item of one", "# 1\n1.1\n# 2\n# 3 <Phase 2 complete\n3.1", sprintRules(), "1.1[] 3.1[1.1!]", ""},
		{"an item names one", "# 1\n1.1\n# 2\n# 3\n3.1 <none\n3.2 <Phase 2", sprintRules(), "1.1[] 3.1[] 3.2[1.1!]", ""},
		{"an item blocks one", "# 1\n1.1 >Phase 2\n1.2 <none\n# 2 <none\n# 3 <Phase 2\n3.1", sprintRules(), "1.1[] 1.2[] 3.1[1.1!]", ""},
		{"it is in the file behind what waits for it", "# 3 <Phase 2\n3.1\n# 1\n1.1\n# 2", sprintRules(), "3.1[1.1!] 1.1[]", ""},
		{"two of them wait for each other", "# 1\n1.1\n# 2 <Phase 3\n# 3 <Phase 2\n# 4 <Phase 3\n4.1", sprintRules(), "1.1[] 4.1[]", ""},
		{"through one a group waits for itself", "# 1\n1.1\n# 2 <Phase 3\n# 3 <Phase 2\n3.1\n3.2", sprintRules(), "1.1[] 3.1[3.2!] 3.2[3.1]", "dependency-cycle"},
		{"both of a circle end with what either waits for", "# 1\n1.1a\n1.1b\n# 2 <Phase 3, 1.1a\n# 3 <Phase 2, 1.1b\n# 4 <Phase 2\n4.1\n# 5 <Phase 3\n5.1", sprintRules(), "1.1a[] 1.1b[] 4.1[1.1a! 1.1b!] 5.1[1.1a! 1.1b!]", ""},
		{"two circles that share a group are one", "# 1\n1.1a\n1.1b\n1.1c\n# 2 <Phase 3, 1.1a\n# 3 <Phase 2, Phase 4, 1.1b\n# 4 <Phase 3, 1.1c\n# 5 <Phase 4\n5.1\n# 6 <Phase 2\n6.1", sprintRules(), "1.1a[] 1.1b[] 1.1c[] 5.1[1.1a! 1.1b! 1.1c!] 6.1[1.1a! 1.1b! 1.1c!]", ""},
		{"what only waits for a circle is none of it", "# 1\n1.1a\n1.1b\n# 2 <Phase 3, 1.1a\n# 3 <Phase 2\n# 4 <Phase 3, 1.1b\n# 5 <Phase 4\n5.1\n# 6 <Phase 2\n6.1", sprintRules(), "1.1a[] 1.1b[] 5.1[1.1a! 1.1b!] 6.1[1.1a!]", ""},
		{"numbers are off", "# 1\n1.1\n# 2\n# 3 <Phase 2\n3.1\n3.2 <3.1", taskRules(), "1.1[] 3.1[] 3.2[3.1!]", "dependency-roots"},
		{"no edges between groups", "# 1\n1.1\n# 2\n# 3 <Phase 2\n3.1", none, "1.1[] 3.1[]", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, l := plan(t, c.rules, c.plan), diag.List{}
			if got := show(in, Build(in, &l)); got != c.want || codes(l) != c.codes {
				t.Errorf("got  %s\nwant %s\ncodes %q, want %q", got, c.want, codes(l), c.codes)
			}
		})
	}
}

// A long chain of groups without items is followed once.
func TestDependManyEmptyGroups(t *testing.T) {
	var b strings.Builder
	b.WriteString("# 1\n1.1\n")
	for i := 2; i < 20_000; i++ {
		fmt.Fprintf(&b, "# %d <Phase %d\n", i, i-1)
	}
	b.WriteString("# 20000 <Phase 19999\n20000.1")
	in, l := plan(t, sprintRules(), b.String()), diag.List{}
	if got, want := show(in, Build(in, &l)), "1.1[] 20000.1[1.1!]"; got != want || codes(l) != "" {
		t.Errorf("got %s (%s), want %s", got, codes(l), want)
	}
}

// Ranges of groups are found by search, and what they name together is bounded.
func TestDependManyRangesOfGroups(t *testing.T) {
	const groups = 20_000
	for _, c := range []struct{ name, say, codes string }{
		{"narrow", "Phases 1-2", "dependency-cycle"},
		{"wide", fmt.Sprintf("Phases 1-%d", groups), "too-many-edges"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b strings.Builder
			for i := range groups {
				fmt.Fprintf(&b, "# %d <%s\n", i+1, c.say)
				if i < 5_000 {
					fmt.Fprintf(&b, "%d.1\n", i+1)
				}
			}
			in, l := plan(t, sprintRules(), b.String()), diag.List{}
			start := time.Now()
			Build(in, &l)
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("%d groups took %v", groups, took)
			}
			if !strings.Contains(codes(l), c.codes) {
				t.Errorf("got %.60s, want %s", codes(l), c.codes)
			}
		})
	}
}
