package syntax

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/ralph-compiler/ralph/diag"
)

// FuzzParse holds what is true of every input: no panic, a tree, ranges inside
// the file; the text may be cut into pieces or not; an annotation that is written
// where the tree says is read as that item's.
func FuzzParse(f *testing.F) {
	names := []string{"sprint", "task", "code", "integer", "phase", "section", "bold-task", "checklist", "spec-kit", "table", "todo", "cursor"}
	cases, _ := filepath.Glob("testdata/*.txtar")
	for _, c := range cases {
		b, err := os.ReadFile(c)
		if err != nil {
			f.Fatal(err)
		}
		plan := file(txtar.Parse(b), "plan.md")
		for i, n := range names {
			if i == 0 || strings.Contains(string(b), "dialect: "+n) {
				f.Add([]byte(plan), uint8(i))
			}
		}
	}
	for _, s := range slices.Concat(nasty(), nastyHeadings()) {
		for i := range names {
			f.Add([]byte(s), uint8(i))
		}
	}
	dialects := builtinDialects()
	f.Fuzz(func(t *testing.T, b []byte, which uint8) {
		d := dialects[names[int(which)%len(names)]]
		plan := checkPlan(t, b, d)
		if plan == nil || len(plan.Items) == 0 {
			return
		}
		checkSlot(t, plan, d, 0)
		checkSlot(t, plan, d, len(plan.Items)-1)
	})
}

// nasty lists plans that have broken parsers before.
func nasty() []string {
	return []string{
		"", "\n", "#", "# ", "---", "---\n", "---\n---", "---\n---\n", "\uFEFF", "\uFEFF---\na: b\n---\n### Sprint 1.1", "### Sprint", "### Sprint 1.1", "###\tSprint\t1.1:\tx",
		"### Sprint 1.1:\x00", "**", "****", "**:**", "**a**:", "- **Depends on**:", "- [ ]", "- [ ] ", "- [x]1.1", "[ ]", "|", "|-|", "||\n|-|\n||", "| a |\n|--|\n|", "<!--", "<!-- -->",
		"<!-- ralph: -->", "<!-- ralph: =\"-->", "<!-- beads-ralph: -->", "```", "```hcl ralph", "~~~\n```\n~~~", "- ```\n# a\n```", "> ### Sprint 1.1", "1. 1. 1. x", "- - - x", "* * *",
		"### ~~Sprint 1.1~~", "### ~~Sprint~~ 1.1", "# Phase 1\n## Sprint 1.1 (parallel, merge) [x] {#a} ✅ DONE (2026-01-01)", "### Sprint 99999999999999999999.1", "### Sprint 1.1\r\n<!-- beads-ralph: a -->\r\n",
		"### Sprint 1.1\n\n| Depends on | 1 |\n|--|--|\n", "a\n===\n\nSprint 1.1\n---", "\t\t### x", "&amp;&", "\\", "\\*", "`", "``` `", "[[[[[[", "](((((", "**a** **b**: c", "- - [ ] 1.1 x",
		"### Sprint 1.1: " + strings.Repeat("[x] ", 200), "### Sprint 1.1: " + strings.Repeat("(", 600) + strings.Repeat(")", 600), strings.Repeat("> ", 70) + "x",
		"### Sprint ١.٢: Arabic", "### Sprint 𝟏.𝟐: mathematical", "### Sprint 1.1\n#### Tasks\n- a\n#### Tasks: b\n", "### Sprint 1.1\n- [x] \n  - [ ]\n",
		"### Sprint 1.1\n- a\n  - b\n**Tasks**:\n  - c\n\n  d\n- e\n **Owns**: f\n", "### Sprint 1.1\n10. a\n  **Goal**: b\n\n> a\n**Goal**: b\n", "- [ ] 1.1 a\n  - b\n**Owns**: c\n- [ ] 1.2 d",
		"- [ ]\n  - [ ] a\n- [x] b\n  - [ ]\n- c\n  - [ ] ~~d~~\n", "# A\n- [ ] #1 a\n# ~~B~~\n- [ ] #1\n# ✅\n- [ ] ✅ (depends on #1)", "- - [ ] a\n  - [ ]\n    b",
		"---\ntodos:\n- {id: a, content: \"b\\x07\\n\\nc\", status: DONE, dependencies: [a, [], b, ]}\n- id: a\n- id: é\n  content: |\n    ✅\n  status: cancelled\n---\n# P\n<!-- beads-ralph: a -->", "---\ntodos: []\n---\n", "---\ntodos:\n  - id: a\n    content: a\n    dependencies: a, a\n---",
		"### Sprint 1.1\n- Depends on: 1.1|Blocks:1.1\n- **a**: b | After: \\| `|` | Related:\n  - 1.1\n- Dependencies:\n  - 1.1\n  - - 1.1\n    - Parent: 1.1 |\n", "- **Task 1: a** | After: 1 | `|\n  - Blocks：1\n- [ ] 1. | Depends on: 1 <!-- beads-ralph: a -->\n**Tasks**:\n- x | Blocks: 1",
		"| ID | Task |\n|--|--|\n| [1] | a |\n| **[ 2 ]** b | [c] |\n| [x] | |\n| [] 3 | |\n| `[4]` x ✅ | |\n",
		"- [ ] 1. a\n  - b\n  _Requirements: 1_\n  - [ ]* 1.1 (P) c\n- [ ] 1.2* d\n- [x]* 2*. e", "- [ ] 1. a\n\n# b\n- [ ] 1.1 c\n- - - [ ] 1.1.1 d", "- [ ] [P] [T001] a\n- [] t002\n-[ ] T3\n- [✓]T4, 5\n- [ ] 1-1\n- [ ] 5) b",
		"- [x] **Phase 1: A** – b\n  - [X] Phase 2\n# Phase 1: A\n# Phase 2: Done (2 days, PR #1)", "### Sprint [[[[[P] 1.1\n###Sprint 1..1\n### [✅ Sprint 1.2]", "- [ ] 1. " + strings.Repeat("[P] ", 100) + "a\n- [ ] " + strings.Repeat("[", 400), "| ID | Task |\n|--|--|\n| [T1] | a |\n| T 2 | b |\n| ~~T3~~ | c |",
		"## Woche 1\n## Woche-2: x\n## WOCHE #3\n# ✅ 週 1.\n## 4 5", "### Sprint 1.1\n# A\n- [ ] 1. a\n- [ ] 2. b\n**Task 1: c**\n\n|ID|\n|-|\n|1|\n|2|\n|3|\n",
		"<details>\n### Sprint 1.1\n</details>\n\n### Sprint 1.2", "<pre>\n\n# Phase 1\n</pre>\n## Sprint 1.1",
	}
}

// namesKeys reads values that are the id of an item and nothing else.
func namesKeys(items, _ []Named) func(string) Reading {
	return func(value string) Reading {
		if slices.ContainsFunc(items, func(n Named) bool { return n.ID == value }) {
			return Reading{NamesItems, len(value)}
		}
		return Reading{NamesUnknown, len(value) / 2}
	}
}

// tried are dialects that are looked for in every plan, one for each place of items.
var tried = func() (all []Dialect) {
	dialects := builtinDialects()
	for _, name := range []string{"sprint", "checklist", "bold-task", "table", "todo", "cursor"} {
		all = append(all, dialects[name])
	}
	return all
}()

func checkPlan(t *testing.T, b []byte, d Dialect) *Plan {
	t.Helper()
	src := slices.Clone(b)
	plan, diags := Parse(diag.NewFile("p.md", b), Options{Dialect: d, Dialects: tried, Names: namesKeys})
	if plan == nil {
		t.Fatal("no tree")
	}
	if !slices.Equal(src, b) {
		t.Fatal("the input was changed")
	}
	for _, x := range diags {
		if err := inside(x.Range, len(b)); err != nil {
			t.Fatalf("%s: %v", x.Code, err)
		}
		if n := len([]rune(x.Summary)); n > 60 || n == 0 || x.Detail == "" {
			t.Fatalf("summary %q has %d characters, detail %q", x.Summary, n, x.Detail)
		}
		if hasControl(x.Summary) || hasControl(x.Detail) {
			t.Fatalf("control character in %q %q", x.Summary, x.Detail)
		}
	}
	walkRanges(t, reflect.ValueOf(*plan), len(b))
	for _, o := range plan.Others {
		if o.Items < o.Outside || o.Outside < TooFew*len(plan.Items) || o.Dialect == d.Name {
			t.Fatalf("%d items, and others %+v", len(plan.Items), o)
		}
	}
	checkChunks(t, b)
	return plan
}

func inside(r diag.Range, n int) error {
	if r.Start < 0 || r.End < r.Start || r.End > n {
		return fmt.Errorf("range %d to %d of %d bytes", r.Start, r.End, n)
	}
	return nil
}

var rangeType = reflect.TypeFor[diag.Range]()

func walkRanges(t *testing.T, v reflect.Value, n int) {
	t.Helper()
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == rangeType {
			r := diag.Range{Start: int(v.Field(1).Int()), End: int(v.Field(2).Int())}
			if err := inside(r, n); err != nil {
				t.Fatal(err)
			}
			return
		}
		if v.Type() == reflect.TypeFor[Text]() {
			x := v.Interface().(Text)
			for i := range len(x.Value) {
				if err := inside(x.Sub(i, i+1), n); err != nil {
					t.Fatalf("%q[%d]: %v", x.Value, i, err)
				}
			}
		}
		if v.Type() == reflect.TypeFor[Slot]() {
			if o := v.Field(0).Int(); o < 0 || o > int64(n) {
				t.Fatalf("slot at %d of %d", o, n)
			}
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				walkRanges(t, v.Field(i), n)
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		for i := range v.Len() {
			walkRanges(t, v.Index(i), n)
		}
	}
}

// checkChunks compares the blocks of the text in pieces, cut wherever that is
// allowed, with those of the whole text.
func checkChunks(t *testing.T, b []byte) {
	t.Helper()
	p := newParser(diag.NewFile("p.md", b), Options{})
	p.src = string(b)
	c := chunksOf(p.src, 0, p.limits, 1)
	cuts := c.cuts
	if c.tooDeep >= 0 || len(cuts) < 2 && len(c.blanks) == 0 {
		return
	}
	md := newMarkdown()
	whole := appendBlocks(nil, md, p.src, b, 0)
	var pieces []block
	for i, at := range cuts {
		end := len(b)
		if i+1 < len(cuts) {
			end = cuts[i+1]
		}
		pieces = appendBlocks(pieces, md, p.src, c.joined(b, at, end), at)
	}
	if !reflect.DeepEqual(whole, pieces) {
		t.Fatalf("pieces at %v differ\nwhole:  %+v\npieces: %+v", cuts, whole, pieces)
	}
}

// checkSlot writes an annotation where the tree says and reads the plan again.
func checkSlot(t *testing.T, plan *Plan, d Dialect, i int) {
	t.Helper()
	if plan.Items[i].Slot.Form == 0 { // of the front matter: nothing is written there
		return
	}
	it := &plan.Items[i]
	if it.Annotation.Set() {
		return
	}
	s := it.Slot
	b := plan.File.Bytes
	with := slices.Concat(b[:s.Offset], []byte(s.Prefix+"<!-- beads-ralph: bd-new1 -->"+s.Suffix), b[s.Offset:])
	again, _ := Parse(diag.NewFile("p.md", with), Options{Dialect: d})
	for k := range again.Items {
		if again.Items[k].ID == it.ID && again.Items[k].Annotation.ID == "bd-new1" {
			if len(again.Items) != len(plan.Items) || again.Items[k].Title != it.Title {
				t.Fatalf("the annotation changed the plan: %d items, %q\n%q", len(again.Items), again.Items[k].Title, with)
			}
			return
		}
	}
	t.Fatalf("annotation of %s not found in %q", it.ID, with)
}

// Hostile plans must be read in time that grows with their size: each of these
// took minutes, or the machine's memory, with a naive reading of one rule.
func TestHostilePlansAreReadInLinearTime(t *testing.T) {
	many := func(s string) string { return strings.Repeat(s, 50_000/len(s)) }
	var deep strings.Builder
	for i := range 60 {
		deep.WriteString(strings.Repeat("  ", i) + "- a\n")
	}
	for _, s := range []string{
		many("> "), many("# \n"), many("## Phase 1\n### Sprint 1.1\n"), many("a\n===\n"), many("```\n"), many("<div>\n"), many("[a]: b\n"), many("\r"),
		"### Sprint 1.1: " + many("[a]("), "### Sprint 1.1: " + many("**a_b*c "), "### Sprint 1.1: " + many("`a``b```c"), "### Sprint 1.1: " + many("DONE "),
		"### Sprint 1.1: " + many("(x) "), "### Sprint 1.1 " + many("{#a}"), "### Sprint 1.1\n\n" + many("<!-- "), "### Sprint 1.1\n" + many("**Timeout**: 1\n"),
		"### Sprint 1.1\n" + many("- [ ] a\n\npara\n\n"), "### Sprint 1.1\n" + many("<!-- beads-ralph: bd-1 -->\n"), "### Sprint 1.1\n<!-- ralph: " + many("a=b ") + "-->",
		"### Sprint 1.1\n" + deep.String() + many("\n"), "### Sprint 1.1\n" + deep.String() + many(" \r\n") + "- b\n", "### Sprint 1.1\n\n" + many("|a") + "\n" + many("|-") + "\n",
		"### Sprint 1.1\n# a\n" + many("## dependency\n### dependency\n1.1\n"), many("- [ ] 1.1 a\n  - [ ] 1.2\n"), many("**Task 1: a**\n"),
		many("- [ ] 1. a\n  - b\n  - [ ] 1.1 c\n"), "- [ ] 1. a\n" + many("  - b\n") + "  - [ ] 1.1 c\n", many("- [x] Sprint 1.1\n") + "### Sprint 1.1: a\n", many("- [ ] t001 a\n") + "- [ ] T1 b", "- [ ] " + many("[P] "), many("###Sprint 1..1\n"),
		many("- a\n**Task 1: a**\n"), "- a\n" + many("**Task 1: a**\n"),
		"### Sprint 1.1\n" + many("- a\n**Owns**: b\n"), "### Sprint 1.1\n- a\n" + many("**Owns**: b\n"), "### Sprint 1.1\n- a\n" + many("b\n"), "### Sprint 1.1\n" + deep.String() + "**Owns**:\n" + many("- b\n"),
		"### Sprint 1.1\n> a\n" + many("**Owns**: b\n> c\n"), "### Sprint 1.1\n" + many(strings.TrimSuffix(deep.String(), "\n")+"\n**Tasks**:\n"),
	} {
		for _, d := range []string{"sprint", "checklist", "bold-task", "table"} {
			plan, diags := Parse(diag.NewFile("p.md", []byte(s)), Options{Dialect: builtinDialects()[d]})
			if plan == nil || len(diags) > maxDiagnostics+1 {
				t.Errorf("%d diagnostics for %.40q…", len(diags), s)
			}
		}
		checkChunks(t, []byte(s))
	}
}
