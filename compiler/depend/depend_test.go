package depend

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
)

// plan makes engine input of a small notation: one line per item or group.
//
//	# 3a        a group; "# 3a < 1.1" with a label
//	1.2a        an item; "1.2a < 1.1" depends, "> 1.3" blocks, "~ 1.1" related,
//	            "? 1.1" prose, "!" marked
func plan(t testing.TB, rules Rules, text string) *Input {
	t.Helper()
	in := &Input{File: "plan.md", Rules: rules}
	group, off := int32(-1), 0
	for line := range strings.SplitSeq(text, "\n") {
		at := off
		off += len(line) + 1
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		st := func(sign string) []Statement {
			_, v, ok := strings.Cut(line, sign)
			if !ok {
				return nil
			}
			v, _, _ = strings.Cut(v, " |")
			return []Statement{{Text: v, At: diag.Range{File: "plan.md", Start: at, End: at + len(v)}, typ: ir.Related}}
		}
		if rest, ok := strings.CutPrefix(line, "# "); ok {
			id, _, _ := strings.Cut(rest, " <")
			num, _ := ParseNumber(id)
			in.Groups = append(in.Groups, Group{ID: id, Number: num, At: diag.Range{File: "plan.md", Start: at, End: at + 1}, After: st(" <")})
			group = int32(len(in.Groups) - 1)
			continue
		}
		key, _, _ := strings.Cut(line, " ")
		num, _ := ParseNumber(key)
		it := Item{
			Key: ir.Key(key), Number: num, Group: group, At: diag.Range{File: "plan.md", Start: at, End: at + len(key)},
			After: st(" <"), Blocks: st(" >"), Soft: st(" ~"), Marked: strings.Contains(line, " !"),
		}
		for _, p := range st(" ?") {
			it.Prose = []Clause{{ids: strings.Fields(p.Text), ats: []diag.Range{p.At, p.At, p.At}}}
		}
		in.Items = append(in.Items, it)
	}
	return in
}

func sprintRules() Rules {
	return Rules{itemWords: []string{"Sprint"}, groupWords: []string{"Phase"}, numbers: "always", groups: "barrier"}
}

func taskRules() Rules {
	return Rules{itemWords: []string{"Task"}, groupWords: []string{"Phase"}, numbers: "unless_explicit", groups: "barrier"}
}

// show writes the result compactly: "1.2a[1.1]", explicit edges with "!".
func show(in *Input, out *Graph) string {
	var parts []string
	for i := range in.Items {
		var keys []string
		for _, e := range out.of(i) {
			k := string(in.Items[e.from].Key)
			if e.soft != 0 {
				k = "~" + k
			}
			if e.rule == byExplicit {
				k += "!"
			}
			if e.rule == byProse {
				k += "?"
			}
			keys = append(keys, k)
		}
		slices.Sort(keys)
		parts = append(parts, fmt.Sprintf("%s[%s]", in.Items[i].Key, strings.Join(keys, " ")))
	}
	return strings.Join(parts, " ")
}

func codes(l diag.List) string {
	var s []string
	for _, d := range l {
		s = append(s, string(d.Code))
	}
	slices.Sort(s)
	return strings.Join(slices.Compact(s), " ")
}

// S0-12, S0-34..38, S0-39, S0-40..45, L0-01, L0-02, K12: numbers
func TestDependByNumber(t *testing.T) {
	for _, c := range []struct{ name, plan, want, codes string }{
		{"the worked example of the schema", "1.1\n1.2a\n1.2b\n1.3", "1.1[] 1.2a[1.1] 1.2b[1.1] 1.3[1.2a 1.2b]", ""},
		{"numbers run in order", "1.1\n1.2\n1.3", "1.1[] 1.2[1.1] 1.3[1.2]", ""},
		{"ten comes after nine", "1.9\n1.10", "1.9[] 1.10[1.9]", ""},
		{"the order in the file does not matter", "1.2\n1.1", "1.2[1.1] 1.1[]", ""},
		{"two lettered numbers in a row wait all for all", "1.1a\n1.1b\n1.2a\n1.2b", "1.1a[] 1.1b[] 1.2a[1.1a 1.1b] 1.2b[1.1a 1.1b]", ""},
		{"a join waits for the tracks that it names", "1.2a\n1.2b\n1.2c\n1.2ab\n1.3", "1.2a[] 1.2b[] 1.2c[] 1.2ab[1.2a 1.2b] 1.3[1.2ab 1.2c]", ""},
		{"a join of a join waits for the larger one", "1.2a\n1.2b\n1.2c\n1.2ab\n1.2abc", "1.2a[] 1.2b[] 1.2c[] 1.2ab[1.2a 1.2b] 1.2abc[1.2ab 1.2c]", ""},
		{"a letter that names no track is an error", "1.2a\n1.2ac", "1.2a[] 1.2ac[]", "unknown-track"},
		{"a letter given twice is an error", "1.2a\n1.2aa", "1.2a[] 1.2aa[]", "unknown-track"},
		// Plan language, rule 3.
		{"a plain number comes before its letters", "1.1\n1.2\n1.2a\n1.2b\n1.3", "1.1[] 1.2[1.1] 1.2a[1.2] 1.2b[1.2] 1.3[1.2a 1.2b]", "plain-beside-lettered"},
		{"wherever it stands", "1.2b\n1.2\n1.2a\n1.3", "1.2b[1.2] 1.2[] 1.2a[1.2] 1.3[1.2a 1.2b]", "plain-beside-lettered"},
		{"letters are joined behind a plain number", "1.2\n1.2a\n1.2b\n1.2ab\n1.3", "1.2[] 1.2a[1.2] 1.2b[1.2] 1.2ab[1.2a 1.2b] 1.3[1.2ab]", "plain-beside-lettered"},
		{"a letter with a label of its own does not wait for the plain number", "1.1\n1.2\n1.2a < 1.1\n1.2b\n1.3", "1.1[] 1.2[1.1] 1.2a[1.1!] 1.2b[1.2] 1.3[1.2a 1.2b]", "plain-beside-lettered"},
		{"a split of phases", "# 2\n2.1\n2.2\n# 3a\n3a.1\n# 3b\n3b.1\n# 4\n4.1", "2.1[] 2.2[2.1] 3a.1[2.2] 3b.1[2.2] 4.1[3a.1 3b.1]", ""},
		{"a phase that ends in parallel sprints has several ends", "# 1\n1.1a\n1.1b\n# 2\n2.1", "1.1a[] 1.1b[] 2.1[1.1a 1.1b]", ""},
		{"tracks inside tracks", "# 3a\n3a.1\n3a.2a\n3a.2b\n# 3b\n3b.1\n# 4\n4.1", "3a.1[] 3a.2a[3a.1] 3a.2b[3a.1] 3b.1[] 4.1[3a.2a 3a.2b 3b.1]", ""},
		{"a phase joins tracks", "# 3a\n3a.1\n# 3b\n3b.1\n# 3ab\n3ab.1\n# 4\n4.1", "3a.1[] 3b.1[] 3ab.1[3a.1 3b.1] 4.1[3ab.1]", ""},
		{"a phase joins a track that is missing", "# 3a\n3a.1\n# 3ab\n3ab.1", "3a.1[] 3ab.1[]", "unknown-track"},
		{"a plain phase comes before its letters", "# 3\n3.1\n# 3a\n3a.1\n3a.2\n# 3b\n3b.1\n# 4\n4.1", "3.1[] 3a.1[3.1] 3a.2[3a.1] 3b.1[3.1] 4.1[3a.2 3b.1]", "plain-beside-lettered"},
		{"an empty phase is passed over", "# 1\n1.1\n# 2\n# 3\n3.1", "1.1[] 3.1[1.1]", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, l := plan(t, sprintRules(), c.plan), diag.List{}
			if got := show(in, Build(in, &l)); got != c.want || codes(l) != c.codes {
				t.Errorf("got  %s\nwant %s\ncodes %q, want %q", got, c.want, codes(l), c.codes)
			}
		})
	}
}

// K12, L0-17: explicit labels and the grammar of their values
func TestDependExplicit(t *testing.T) {
	five := "1.1\n1.2\n1.3\n1.4\n1.5 <"
	four := "1.1[] 1.2[1.1] 1.3[1.2] 1.4[1.3] 1.5"
	for _, c := range []struct{ name, plan, want, codes string }{
		{"one id replaces the number", five + "1.2", four + "[1.2!]", ""},
		{"none makes a root", five + "None", four + "[]", ""},
		{"none with a reason", five + "None (can be parallel)", four + "[]", ""},
		{"none with a dash and a reason", five + "None - can start at once", four + "[]", ""},
		{"a dash", five + "—", four + "[]", ""},
		{"an empty array", five + "[]", four + "[]", ""},
		{"nothing and a stop", five + "Nothing.", four + "[]", ""},
		{"a list with a comma", five + "1.1, 1.3", four + "[1.1! 1.3!]", "redundant-dependency"},
		{"an array", five + "[1.3]", four + "[1.3!]", ""},
		{"an array in quotes", five + `["1.3"]`, four + "[1.3!]", ""},
		{"the keyword shared", five + "Sprints 1.3, 1.4", four + "[1.3! 1.4!]", "redundant-dependency"},
		{"the keyword repeated", five + "Sprint 1.3 and Sprint 1.4.", four + "[1.3! 1.4!]", "redundant-dependency"},
		{"code spans and bold", five + "`1.3` & **1.4**", four + "[1.3! 1.4!]", "redundant-dependency"},
		{"plus", five + "1.3 + 1.4", four + "[1.3! 1.4!]", "redundant-dependency"},
		{"a reason in parentheses, commas and ids in it", five + "1.3 (needs 1.1, and more)", four + "[1.3!]", ""},
		{"a range with a dash", five + "1.2-1.4", four + "[1.2! 1.3! 1.4!]", ""},
		{"a range with through and keywords", five + "Sprints 1.2 through Sprint 1.4", four + "[1.2! 1.3! 1.4!]", ""},
		{"a range that leaves out the prefix", five + "1.2-4", four + "[1.2! 1.3! 1.4!]", ""},
		{"a range backwards", five + "1.4-1.2", four + "[]", "dependency-range"},
		{"all previous", five + "All previous sprints", four + "[1.1! 1.2! 1.3! 1.4!]", ""},
		{"a bare all", five + "all", four + "[1.1! 1.2! 1.3! 1.4!]", ""},
		{"all tasks complete", five + "All tasks complete", four + "[1.1! 1.2! 1.3! 1.4!]", ""},
		// Plan language, rule 22: words behind "all"
		{"all tools created is prose", five + "All tools created", four + "[1.4]", "dependency-near-miss"},
		{"words behind all are no names of groups", "# 1\n1.1\n# 2\n2.1 <All phases substantially complete", "1.1[] 2.1[1.1]", "dependency-near-miss"},
		{"not even those of a group", "# 1\n1.1\n# substantially\n2.1 <All tools of phases substantially complete", "1.1[] 2.1[1.1]", "dependency-near-miss"},
		{"a group in prose is a near miss", "# 1\n1.1\n# 2\n2.1 <Phase 1 is not needed", "1.1[] 2.1[1.1]", "dependency-near-miss"},
		{"an id after all that no group has", "# 1\n1.1\n# 2\n2.1 <All Phase 7 sprints", "1.1[] 2.1[]", "unknown-dependency"},
		{"all beside an item", five + "1.2, all tools created", four + "[1.2!]", "dependency-near-miss"},
		// Plan language, rule 10: reasons
		{"a reason behind a dash", five + "Sprint 1.2 - for the tests", four + "[1.2!]", ""},
		{"behind an en dash, an em dash, two dashes", five + "1.2 – its tests, 1.3 — its API, 1.4 -- its docs", four + "[1.2! 1.3! 1.4!]", "redundant-dependency"},
		{"ids in a reason make no edge", five + "1.2 - as 1.1 does", four + "[1.2!]", ""},
		{"a range with spaces is no reason", five + "1.2 - 1.4", four + "[1.2! 1.3! 1.4!]", ""},
		{"a range with a reason", five + "1.2 - 1.4 - for the tests", four + "[1.2! 1.3! 1.4!]", ""},
		{"a number in a reason", five + "1.2 - 3 files of it", four + "[1.2!]", ""},
		{"several dashes in a reason", five + "1.2 - tests - and docs - and more - and more", four + "[1.2!]", ""},
		{"all with a reason", five + "All previous sprints - it ships them", four + "[1.1! 1.2! 1.3! 1.4!]", ""},
		{"a group with a reason", "# 1\n1.1\n1.2\n# 2\n2.1 <Phase 1 - the schema", "1.1[] 1.2[1.1] 2.1[1.2!]", ""},
		{"a dash without spaces is none", five + "1.2 -for the tests", four + "[1.4]", "dependency-near-miss"},
		{"an unknown id with a reason", five + "1.7 - for the tests", four + "[]", "unknown-dependency"},
		{"words with a reason", five + "PostgreSQL 17 - for the tests", four + "[1.4]", "dependency-prose"},
		{"prose leaves the number", five + "a database", four + "[1.4]", "dependency-prose"},
		{"an id in prose is a near miss", five + "the API of 1.2", four + "[1.4]", "dependency-near-miss"},
		{"an id followed by merged", five + "1.2 merged", four + "[1.2!]", ""},
		{"an unknown id", five + "1.7", four + "[]", "unknown-dependency"},
		{"an unknown id in a list", five + "1.2, 1.9", four + "[1.2!]", "unknown-dependency"},
		{"itself", five + "1.5", four + "[]", "self-dependency"},
		{"a reverse label adds an edge", "1.1 >1.3\n1.2\n1.3", "1.1[] 1.2[1.1] 1.3[1.1! 1.2]", "redundant-dependency"},
		{"a soft label does not schedule", "1.1 ~1.2\n1.2", "1.1[~1.2!] 1.2[1.1]", ""},
		{"a phase means its ends", "# 1\n1.1\n1.2a\n1.2b\n# 2\n2.1\n# 3\n3.1 <Phase 1", "1.1[] 1.2a[1.1] 1.2b[1.1] 2.1[1.2a 1.2b] 3.1[1.2a! 1.2b!]", ""},
		{"a phase complete means all of it", "# 1\n1.1\n1.2\n# 2\n2.1 <Phase 1 complete", "1.1[] 1.2[1.1] 2.1[1.1! 1.2!]", ""},
		{"all sprints of a phase", "# 1\n1.1\n1.2\n# 2\n2.1 <all Phase 1 sprints", "1.1[] 1.2[1.1] 2.1[1.1! 1.2!]", ""},
		{"phases in a range", "# 1\n1.1\n# 2\n2.1\n# 3\n3.1 <Phases 1-2", "1.1[] 2.1[1.1] 3.1[1.1! 2.1!]", ""},
		{"an unknown phase", "# 1\n1.1\n1.2 <Phase 7", "1.1[] 1.2[]", "unknown-dependency"},
		{"a label below a phase replaces its barrier", "# 1\n1.1\n# 2\n2.1\n# 3 <Phase 1\n3.1\n3.2", "1.1[] 2.1[1.1] 3.1[1.1!] 3.2[3.1]", ""},
		{"none below a phase", "# 1\n1.1\n# 2 <none\n2.1", "1.1[] 2.1[]", ""},
		{"explicit labels move the ends", "1.1\n1.2a\n1.2b <1.2a\n1.3", "1.1[] 1.2a[1.1] 1.2b[1.2a!] 1.3[1.2b]", ""},
		{"explicit labels move the beginnings", "# 1\n1.1\n# 2\n2.1 <none\n2.2", "1.1[] 2.1[] 2.2[2.1]", ""},
		{"a cycle", "1.1 <1.3\n1.2\n1.3", "1.1[1.3!] 1.2[1.1] 1.3[1.2]", "dependency-cycle"},
		{"prose that agrees", "1.1\n1.2\n1.3 ?1.1", "1.1[] 1.2[1.1] 1.3[1.2]", ""},
		{"prose that disagrees", "1.1\n1.2a\n1.2b ?1.2a", "1.1[] 1.2a[1.1] 1.2b[1.1]", "prose-disagrees"},
		{"prose that only a soft edge bears out", "1.1\n1.2a\n1.2b ~1.2a | ?1.2a", "1.1[] 1.2a[1.1] 1.2b[1.1 ~1.2a!]", "prose-disagrees"},
		{"prose that names nothing known", "1.1\n1.2 ?1.9", "1.1[] 1.2[1.1]", "unknown-dependency"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, l := plan(t, sprintRules(), c.plan), diag.List{}
			if got := show(in, Build(in, &l)); got != c.want || codes(l) != c.codes {
				t.Errorf("got  %s\nwant %s\ncodes %q, want %q", got, c.want, codes(l), c.codes)
			}
		})
	}
}

func TestDependRulesOfDialects(t *testing.T) {
	chain := taskRules()
	chain.groups = "chain"
	chain.InDocument = true
	kit := Rules{itemWords: nil, groupWords: []string{"Phase"}, numbers: "always", groups: "barrier", sequence: true, InDocument: true}
	never := sprintRules()
	never.numbers = "never"
	add := sprintRules()
	add.add = true
	phases := Rules{itemWords: []string{"Phase"}, numbers: "unless_explicit", groups: "chain", InDocument: true}
	none := sprintRules()
	none.groups = "none"
	teams := Rules{itemWords: []string{"Task Group"}, numbers: "unless_explicit", groups: "chain", InDocument: true}
	for _, c := range []struct {
		name, plan  string
		rules       Rules
		want, codes string
	}{
		{"without labels tasks follow their numbers", "1\n2\n3", taskRules(), "1[] 2[1] 3[2]", ""},
		{"one label switches the numbers off", "1\n2\n3 <Task 1", taskRules(), "1[] 2[] 3[1!]", "dependency-roots"},
		{"none alone does not", "1 <None\n2\n3", taskRules(), "1[] 2[1] 3[2]", "dependency-names-nothing"},
		{"a chain follows the document", "2\n1\n3", chain, "2[] 1[2] 3[1]", ""},
		{"a chain goes through groups", "# 1\n1\n2\n# 2\n3", chain, "1[] 2[1] 3[2]", ""},
		{"marked items form one group", "# 1\nT1\nT2 !\nT3 !\nT4", kit, "T1[] T2[T1] T3[T1] T4[T2 T3]", ""},
		{"letters continue the sequence", "# 1\nT1\nT1B\nT2", kit, "T1[] T1B[T1] T2[T1B]", ""},
		{"marks do not reach over groups", "# 1\nT1 !\nT2 !\n# 2\nT3 !\nT4 !", kit, "T1[] T2[] T3[T1 T2] T4[T1 T2]", ""},
		{"never means only labels", "1.1\n1.2\n1.3 <1.1", never, "1.1[] 1.2[] 1.3[1.1!]", ""},
		{"prose makes edges where numbers make none", "1.1\n1.2 ?1.1", never, "1.1[] 1.2[1.1?]", ""},
		{"add keeps the numbers", "1.1\n1.2\n1.3 <1.1", add, "1.1[] 1.2[1.1] 1.3[1.1! 1.2]", "redundant-dependency"},
		{"no edges between groups", "# 1\n1.1\n# 2\n2.1", none, "1.1[] 2.1[]", ""},
		{"phases as items", "1 <Nothing (first phase)\n2 <Phase 1\n3 <All previous phases", phases, "1[] 2[1!] 3[1! 2!]", ""},
		{"ids with a prefix, a range over groups", "# 1\nP1.1\nP1.2\n# 2\nP2.1 <P1.1-P1.2", taskRules(), "P1.1[] P1.2[] P2.1[P1.1! P1.2!]", "dependency-roots"},
		{"a range whose right end leaves out the prefix", "BMP-001\nBMP-002\nBMP-003\nX-1 <BMP-001-003", taskRules(), "BMP-001[] BMP-002[] BMP-003[] X-1[BMP-001! BMP-002! BMP-003!]", "dependency-roots"},
		{"a range does not swallow ten", "2.1\n2.5\n2.10\n3 <2.1 through 2.5", taskRules(), "2.1[] 2.5[] 2.10[] 3[2.1! 2.5!]", "dependency-roots"},
		{"all items by a keyword of two words", "1\n2\n3 <All previous task groups (1-2)", teams, "1[] 2[] 3[1! 2!]", "dependency-roots"},
		{"all of them, too", "1\n2\n3 <All Task Groups complete", teams, "1[] 2[] 3[1! 2!]", "dependency-roots"},
		{"other words between are none", "1\n2\n3 <All previous task force groups", teams, "1[] 2[1] 3[2]", "dependency-names-nothing dependency-near-miss"},
		{"a trailing stop behind a range", "1\n2\n3 <Sprint 1-2.", Rules{itemWords: []string{"Sprint"}, numbers: "unless_explicit", groups: "chain", InDocument: true}, "1[] 2[] 3[1! 2!]", "dependency-roots"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, l := plan(t, c.rules, c.plan), diag.List{}
			if got := show(in, Build(in, &l)); got != c.want || codes(l) != c.codes {
				t.Errorf("got  %s\nwant %s\ncodes %q, want %q", got, c.want, codes(l), c.codes)
			}
		})
	}
}

// Plan language, rule 9a: statements about groups
func TestDependOnGroups(t *testing.T) {
	add, integer, none := taskRules(), taskRules(), taskRules()
	add.add = true
	integer.groups, integer.InDocument = "chain", true
	none.groups = "none"
	epics := "# 1\n1.1\n1.2\n# 2 <%s\n2.1\n2.2\n# 3 <%s\n3.1\n3.2\n# 4%s\n4.1\n4.2"
	one, two, three := "1.1[] 1.2[1.1]", " 2.1[1.2!] 2.2[2.1]", " 3.1[1.2!] 3.2[3.1]"
	for _, c := range []struct {
		name, plan  string
		rules       Rules
		want, codes string
	}{
		{"a statement replaces the barrier of its group only", fmt.Sprintf(epics, "Epic 1", "Epic 1", ""), taskRules(), one + two + three + " 4.1[2.2 3.2] 4.2[4.1]", ""},
		{"whatever explicit says", fmt.Sprintf(epics, "Epic 1", "Epic 1", ""), add, one + two + three + " 4.1[2.2 3.2] 4.2[4.1]", ""},
		{"also in the dialect whose numbers always count", fmt.Sprintf(epics, "Phase 1", "Phase 1", ""), sprintRules(), one + two + three + " 4.1[2.2 3.2] 4.2[4.1]", ""},
		{"where the document decides", fmt.Sprintf(epics, "Epic 1", "Epic 1", ""), integer, one + two + three + " 4.1[2.2 3.2] 4.2[4.1]", ""},
		{"without edges between groups there are none to replace", fmt.Sprintf(epics, "Epic 1", "Epic 1", ""), none, one + two + three + " 4.1[] 4.2[4.1]", ""},
		{"none makes a beginning, which the next one waits for", fmt.Sprintf(epics, "None", "Epic 1", ""), taskRules(), one + " 2.1[] 2.2[2.1]" + three + " 4.1[2.2 3.2] 4.2[4.1]", ""},
		{"none in a chain", fmt.Sprintf(epics, "None", "None", ""), integer, one + " 2.1[] 2.2[2.1] 3.1[] 3.2[3.1] 4.1[1.2 2.2 3.2] 4.2[4.1]", ""},
		{"all groups with statements", fmt.Sprintf(epics, "Epic 1", "Epic 1", " <Epic 3"), taskRules(), one + two + three + " 4.1[3.2!] 4.2[4.1]", ""},
		{
			"a label of an item switches numbers off", fmt.Sprintf(epics, "Epic 1", "Epic 1", "") + " <4.1", taskRules(),
			"1.1[] 1.2[] 2.1[1.1! 1.2!] 2.2[1.1! 1.2!] 3.1[1.1! 1.2!] 3.2[1.1! 1.2!] 4.1[] 4.2[4.1!]", "dependency-roots",
		},
		{"none at an item does not", fmt.Sprintf(epics, "Epic 1", "Epic 1", "") + " <None", taskRules(), one + two + three + " 4.1[2.2 3.2] 4.2[]", "dependency-names-nothing"},
		{"prose below a group is no statement", "# 1\n1.1\n# 2 <a signed contract\n2.1", taskRules(), "1.1[] 2.1[1.1]", "dependency-prose"},
		{"an item is named", "# 1\n1.1\n1.2\n# 2 <Story 1.1\n2.1\n# 3\n3.1", taskRules(), "1.1[] 1.2[1.1] 2.1[1.1!] 3.1[1.2 2.1]", ""},
		{"a group that nobody waits for is a sink", "# 1\n1.1\n# 2 <none\n2.1\n# 3 <Epic 2\n3.1\n# 4\n4.1\n# 5\n5.1", taskRules(), "1.1[] 2.1[] 3.1[2.1!] 4.1[1.1 3.1] 5.1[4.1]", ""},
		{"tracks of one number stand side by side", "# 1\n1.1\n# 2 <none\n2.1\n# 3a\n3a.1\n# 3b\n3b.1\n# 4\n4.1", sprintRules(), "1.1[] 2.1[] 3a.1[1.1 2.1] 3b.1[1.1 2.1] 4.1[3a.1 3b.1]", ""},
		{"a later group", "# 1\n1.1\n# 2 <Epic 3\n2.1\n# 3 <Epic 1\n3.1", taskRules(), "1.1[] 2.1[3.1!] 3.1[1.1!]", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, l := plan(t, c.rules, c.plan), diag.List{}
			in.Rules.groupWords = append(in.Rules.groupWords, "Epic")
			if got := show(in, Build(in, &l)); got != c.want || codes(l) != c.codes {
				t.Errorf("got  %s\nwant %s\ncodes %q, want %q", got, c.want, codes(l), c.codes)
			}
		})
	}
}

// Plan language, rule 9a: the sinks of all groups are found in one walk.
func TestManyStatementsAboutGroupsAreLinear(t *testing.T) {
	var b strings.Builder
	const groups = 20_000
	for g := 1; g <= groups; g++ {
		say := []string{"", " <none", fmt.Sprintf(" <Phase %d", max(g-3, 1))}[g%3]
		fmt.Fprintf(&b, "# %d%s\n%d.1\n", g, say, g)
	}
	in, l := plan(t, sprintRules(), b.String()), diag.List{}
	start := time.Now()
	out := Build(in, &l)
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("%d groups took %v", groups, took)
	}
	if len(out.edges) > 3*groups {
		t.Errorf("%d edges", len(out.edges))
	}
}

func TestTheCycleIsShownWithItsWholePath(t *testing.T) { // S2-13
	in, l := plan(t, sprintRules(), "1.1 <1.3\n1.2\n1.3"), diag.List{}
	Build(in, &l)
	if want := "1.1 → 1.3 → 1.2 → 1.1"; len(l) != 1 || !strings.Contains(l[0].Detail, want) || len(l[0].Related) != 3 {
		t.Errorf("want one cycle %q with three places, got %+v", want, l)
	}
}

func TestWideGroupsSideBySideAreBounded(t *testing.T) {
	var b strings.Builder
	for phase := 1; phase <= 2; phase++ {
		fmt.Fprintf(&b, "# %d\n", phase)
		for i := range 2000 {
			fmt.Fprintf(&b, "T%d !\n", phase*10000+i)
		}
	}
	rules := Rules{numbers: "always", groups: "barrier", sequence: true, InDocument: true, MaxEdges: 100_000}
	in, l := plan(t, rules, b.String()), diag.List{}
	out := Build(in, &l)
	if codes(l) != "too-many-edges" || len(out.edges) > rules.MaxEdges {
		t.Errorf("got %d edges, %s", len(out.edges), codes(l))
	}
}

func FuzzStatement(f *testing.F) {
	for _, s := range []string{"1.1, 1.2", "Phase 1 complete", "all Phase 1 sprints", "1.1-1.2", "None (", "[1.1", "１.2–a", "1.1 through", "1.1 - for 1.2", "1.1 - 1.2a - – — -- x", "all phases substantially complete", "every - all"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		in := plan(t, sprintRules(), "# 1\n1.1\n1.2a\n1.2b\n# 2\n2.1")
		in.Items[3].After = []Statement{{Text: s, At: diag.Range{File: "plan.md", End: len(s)}}}
		var l diag.List
		out := Build(in, &l)
		for _, d := range l {
			if d.Range.Start < 0 || d.Range.Start > d.Range.End {
				t.Errorf("range %v", d.Range)
			}
		}
		for i := range in.Items {
			for _, e := range out.of(i) {
				if int(e.to) != i || e.from == e.to {
					t.Errorf("edge %+v", e)
				}
			}
		}
	})
}
