package gsd

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
)

// decoded is the draft of the files of an archive, and what is said of them: codes, each
// with how often.
func decoded(archive string) (d *ir.Draft, codes string, list diag.List) {
	d, list = Decode(filesOf(txtar.Parse([]byte(archive))))
	for _, x := range list {
		codes += " " + string(x.Code)
	}
	return d, codes, list
}

// inShort is what runs, after what: "01-02<01-01"; done work is in parentheses, and work of a
// person has a star.
func inShort(archive string) string {
	d, codes, _ := decoded(archive)
	out := ""
	if d != nil {
		for _, n := range d.Nodes {
			s := string(n.Key)
			if n.Kind == ir.Manual {
				s += "*"
			}
			if n.Done {
				s = "(" + s + ")"
			}
			for i, e := range n.Edges {
				s += "<,"[min(i, 1):][:1] + string(e.Key)
			}
			out += " " + s
		}
	}
	return strings.TrimSpace(out + codes)
}

// needing is a plan file whose depends_on are these.
func needing(name, needs string) string {
	return fmt.Sprintf("-- p/%s-PLAN.md --\n---\ndepends_on: [%s]\n---\n", name, needs)
}

// What depends_on may name, and what waits for what.
func TestWhatDependsOnNames(t *testing.T) {
	plan := func(name string) string { return needing(name, "") }
	for _, c := range []struct{ files, want string }{
		{plan("1/01-02") + plan("1/01-01"), "01-01 01-02"},
		{plan("1/01-01") + needing("1/01-02", `01-01, "01-01", "x/01-01-PLAN.md", "01"`), "01-01 01-02<01-01"},
		{plan("1/01-01") + needing("1/01-02", `"", none, nothing, "null", "'[]'"`), "01-01 01-02"},
		{plan("1/01-01") + needing("1/01-02", `something else`), "01-01 01-02 gsd-prose"},
		{plan("1/01-01") + needing("2/02-01", `01-09`), "unknown-dependency"},
		{plan("1/01-01") + needing("2/02-01", `Phase 2`), "unknown-dependency"},
		{plan("1/01-01") + needing("2/02-01", `Phase 7`), "01-01 02-01<01-01 gsd-outside"},
		{plan("1/01-01") + plan("2/02-01") + needing("3/03-01", `Phase 1`), "01-01 02-01<01-01 03-01<01-01,02-01"},
		{plan("1/01-01") + plan("2/02-01") + needing("3/03-01", `01-base-01`), "01-01 02-01<01-01 03-01<01-01,02-01"},
		{plan("1/01-01") + plan("1/01-02") + needing("2/02-01", `01-base`), "01-01 01-02 02-01<01-01,01-02"},
		{plan("01-base/01-01") + needing("01-base/01-02", `01-base`), "01-01 01-02<01-01"},
		{plan("1-a/01") + plan("2-b/02") + needing("3-c/03", `01`), "01-01 02-02<01-01 03-03<01-01,02-02"}, // a plan each
		{plan("1-a/01") + needing("2-b/02", `02`), "self-dependency"},
		{plan("1-a/01") + needing("2-b/02", `01`) + plan("2-b/03"), "unknown-dependency"},
		{plan("3-a/03") + needing("2-b/01", `03`), "unknown-dependency"},
		{plan("1/01-01") + strings.Replace(needing("2/02-02", `01`), "depends", "phase: 02\ndepends", 1) + plan("2/02-01"), "01-01 02-01<01-01 02-02<02-01"},
		{strings.Replace(plan("1/01-01"), "depends", "phase: \"01\"\ndepends", 1) + needing("2/02-02", `01`) + plan("2/02-01"), "01-01 02-01<01-01 02-02<02-01"},
		{plan("1/01-01") + plan("quick/003-x/003") + needing("quick/004-x/004", `003`), "01-01 quick-03 quick-04<quick-03"},
		{"-- p/x.md --\n---\nphase: 02-b\nplan: 03\n---\n", "02-03"},
		{"-- p/x.md --\n---\nphase: quick\nplan: 3\n---\n", "quick-03"},
		{"-- p/2-x/003-PLAN.md --\n---\nphase: quick\n---\n", "quick-03"},
		{"-- p/x.md --\n---\nphase: 02-b\n---\n", "gsd-id"},
		{"-- p/x.md --\n---\nplan: 2\n---\n-- ROADMAP.md --\n### Phase 1: A\n", "gsd-id"},
		{"-- p/1-a/01-02.md --\n", "01-02"},
		{"-- p/1/01-01-PLAN.md --\n---\nwave: -1\n---\n", "gsd-front-matter"},
		{"-- p/1/01-01-PLAN.md --\n---\nwave: 10000\n---\n", "01-01"},
		{"-- p/1/01-01-PLAN.md --\n---\nwave: 10001\n---\n", "gsd-front-matter"},
		{"-- p/x.md --\n\xff\n", "gsd-front-matter"},
		{"-- p/1/01-01-PLAN.md --\n\xff\n-- p/1/01-02-PLAN.md --\n", "gsd-front-matter"},
	} {
		if got := inShort(c.files); got != c.want {
			t.Errorf("%s is\n%s\nwant\n%s", c.files, got, c.want)
		}
	}
}

// A phase has its goal, and what is true at its end: a list with what goes on below it.
func TestTheGoalOfAPhase(t *testing.T) {
	const end = "At its end this is true: "
	for roadmap, want := range map[string]string{
		"**Goal**: a\n- b\n  c\n":                                       "a",
		"**Success Criteria**:\n  b\n1. c\n   d\n  \n2. e\nf\n":         end + "c d|" + end + "e",
		"**Success Criteria** (what is true):\n- a\n**Plans**:\n- b\n":  end + "a",
		"**Goal**: a\n**Success Criteria**:\n\n- b\n  c\n**x**: y\n  z": "a|" + end + "b c",
	} {
		d, codes, _ := decoded("-- p/1/01-01-PLAN.md --\n-- ROADMAP.md --\n### Phase 1: A\n" + roadmap)
		if d == nil {
			t.Errorf("%s: %s", roadmap, codes)
		} else if got := strings.ReplaceAll(d.Phases[0].Goal, "\n", "|"); got != want {
			t.Errorf("%s is %q, want %q", roadmap, got, want)
		}
	}
}

// A file is read up to its bound.
func TestLargeFiles(t *testing.T) {
	big := diag.NewFile("p/01-01-PLAN.md", make([]byte, maxBytes+1))
	if d, l := Decode([]*diag.File{big}); d != nil || len(l) != 1 || !strings.Contains(l[0].Detail, "4 MB") {
		t.Errorf("a large file is %v", l)
	}
	big.Bytes = []byte("\xff")
	if d, l := Decode([]*diag.File{big}); d != nil || len(l) != 1 || !strings.Contains(l[0].Detail, "UTF-8") {
		t.Errorf("what is no text is %v", l)
	}
	big.Bytes = []byte(strings.Repeat(" ", maxBytes))
	if d, l := Decode([]*diag.File{big}); d == nil {
		t.Errorf("a file as large as it may be is %v", l)
	}
}

// What the roadmap says of phases and plans: what they wait for, and what is finished.
func TestWhatARoadmapSays(t *testing.T) {
	const four = "-- p/1/01-01-PLAN.md --\n-- p/2/02-01-PLAN.md --\n-- p/4/04-01-PLAN.md --\n-- p/ROADMAP.md --\n"
	for _, c := range []struct{ roadmap, want string }{
		{"", "01-01 02-01<01-01 04-01<02-01"},
		{"### Phase 4: D\n**Depends on**: None\n", "01-01 02-01<01-01 04-01"},
		{"### Phase 4: D\n**Depends on**: Phase 1\n", "01-01 02-01<01-01 04-01<01-01"},
		{"### Phase 4: D\n**Depends on**:\n- Phase 1 (a reason)\nPhase 2\n", "01-01 02-01<01-01 04-01<01-01"},
		{"### Phase 4: D\n**Depends on**:\n**Goal**: g\n- Phase 1\n", "01-01 02-01<01-01 04-01<02-01"},
		{"### Phase 4: D\n**Depends on**: Phases 1-4\n", "01-01 02-01<01-01 04-01<01-01,02-01"},
		{"### Phase 4: D\n**Depends on**: Phases 2-3\n", "01-01 02-01<01-01 04-01<02-01"},
		{"### Phase 4: D\n**Depends on**: Phase 1, Phase 2, Phase 1\n", "01-01 02-01<01-01 04-01<01-01,02-01"},
		{"### Phase 4: D\n**Depends on**: Phase 9\n", "01-01 02-01<01-01 04-01 gsd-outside"},
		{"### Phase 4: D\n**Depends on**: what came before\n", "01-01 02-01<01-01 04-01<02-01 gsd-prose"},
		{"### Phase 4: D\n**Depends on**: Phase 3\n### Phase 3: C\n**Depends on**: Phase 1, Phase 3\n", "01-01 02-01<01-01 04-01<01-01 gsd-unplanned"},
		{"### Phase 4: D\n## Notes\n**Depends on**: Nothing\n", "01-01 02-01<01-01 04-01<02-01"},
		{"### Phase 4: D\n### Notes\n**Depends on**: Nothing\n", "01-01 02-01<01-01 04-01<02-01"},
		{"### Phase 4: D\n# Notes\n**Depends on**: Nothing\n", "01-01 02-01<01-01 04-01<02-01"},
		{"```\n### Phase 4: D\n**Depends on**: Nothing\n```\n### Phase 2: B\n**Depends on**: Nothing\n", "01-01 02-01 04-01<02-01"},
		{strings.Repeat(" ", maxLine) + "- [x] 01-01\n", "01-01 02-01<01-01 04-01<02-01"},
		{"### Phase 2: B\n**Status**: ✅ Complete (2026)\n", "01-01 (02-01)<01-01 04-01<02-01"},
		{"### Phase 2: B\n**Status**: In progress\n", "01-01 02-01<01-01 04-01<02-01"},
		{"- [x] **Phase 2: B** - b\n", "01-01 (02-01)<01-01 04-01<02-01"},
		{"- [x] 02-01-PLAN.md — b\n", "01-01 (02-01)<01-01 04-01<02-01"},
		{"- [x] **Phase 2: B**\n- [ ] 02-01-PLAN.md\n- [ ] 02-02-PLAN.md\n", "01-01 (02-01)<01-01 04-01<02-01 gsd-done"},
		{"- [x] **Phase 2: B**\n- [ ] 02-01-PLAN.md\n-- p/2/02-01-SUMMARY.md --\n", "01-01 (02-01)<01-01 04-01<02-01"},
		{"- [ ] 02-01\n- [x] 02-02\n- [ ] 02-03\n", "01-01 02-01<01-01 04-01<02-01 gsd-unplanned"},
		{"- [x] 02-02\n", "01-01 02-01<01-01 04-01<02-01"},
		{"- [ ] 05-01-PLAN.md\n", "01-01 02-01<01-01 04-01<02-01"}, // a phase that it does not have
		{"### Phase 5: E\n- [x] **Phase 5: E**\n", "01-01 02-01<01-01 04-01<02-01"},
		{"| 2. B | 1/1 | Complete | - |\n", "01-01 (02-01)<01-01 04-01<02-01"},
		{"| 2. B | 1/1 | ✅ Done | - |\n| 1. A | completed |\n| 4. D | Not done |\n", "(01-01) (02-01)<01-01 04-01<02-01"},
		{"- ✅ **v1.0** - Phases 1-2 (shipped 2026)\n", "(01-01) (02-01)<01-01 04-01<02-01"},
	} {
		if got := inShort(four + c.roadmap); got != c.want {
			t.Errorf("%s is\n%s\nwant\n%s", c.roadmap, got, c.want)
		}
	}
	if _, _, list := decoded(four + "### Phase 7: G\n### Phase 5: E\n### Phase 6: F\n"); len(list) != 1 || !strings.Contains(list[0].Detail, "phase 5, 6, 7 ") {
		t.Errorf("the phases without plans are %v", list)
	}
	if n := len(numbersBetween("1", "500")); n != 101 {
		t.Errorf("%d phases were shipped", n)
	}
}

// What an epic and its phases are called.
func TestWhatTheyAreCalled(t *testing.T) {
	for _, c := range []struct{ files, want string }{
		{"-- p/ROADMAP.md --\n-- p/1/01-01-PLAN.md --\n", "p/1/01-01-PLAN.md 01-01 GSD plans: Phase 1 > 01-01: Plan 01-01"},
		{"-- p/ROADMAP.md --\n# Roadmap: A  b\n# C\n- [ ] **Phase 1: One (INSERTED)** - x\n-- p/1/01-01-PLAN.md --\n-- p/1/01-02-PLAN.md --\n", "p/ROADMAP.md phase-1-one A b: Phase 1: One > 01-01: Plan 01-01"},
		{"-- p/ROADMAP.md --\n### Phase 1: **One**\n- [ ] **Phase 1: Two**\n-- p/1/01-01-PLAN.md --\n-- p/2/02-01-PLAN.md --\n", "p/ROADMAP.md planning GSD plans: Phase 1: One > 01-01: Plan 01-01"},
		{"-- p/1/01-01-PLAN.md --\n---\nphase: 01-one-more\nname: A  b\n---\n# C\n", "p/1/01-01-PLAN.md 01-01 GSD plans: Phase 1: one more > 01-01: A b"},
		{"-- p/1/01-01-PLAN.md --\n---\ntitle: A\n---\n# C\n", "p/1/01-01-PLAN.md 01-01 GSD plans: Phase 1 > 01-01: A"},
		{"-- p/1/01-01-PLAN.md --\n# C\n# D\n", "p/1/01-01-PLAN.md 01-01 GSD plans: Phase 1 > 01-01: C # D"},
		{"-- p/1/01-01-PLAN.md --\n<objective>\nDo a. Then b.\nc\n</objective>\n", "p/1/01-01-PLAN.md 01-01 GSD plans: Phase 1 > 01-01: Do a"},
		{"-- p/1/01-01-PLAN.md --\n<objective>\n. Do a.\n</objective>\n", "p/1/01-01-PLAN.md 01-01 GSD plans: Phase 1 > 01-01: . Do a"},
	} {
		d, codes, _ := decoded(c.files)
		if d == nil {
			t.Errorf("%s: %s", c.files, codes)
			continue
		}
		n := d.Nodes[0]
		got := fmt.Sprintf("%s %s %s: %s", d.Plan, d.Slug, d.Title, n.Section) + " " + strings.Join(n.Text, " ")
		if got = strings.TrimSpace(got); got != c.want {
			t.Errorf("%s is\n%s\nwant\n%s", c.files, got, c.want)
		}
	}
}
