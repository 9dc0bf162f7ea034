package compiler

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/policies"
)

// Plan language, near misses of every kind: what stands where a dialect's items stand
// and begins with nearly an id is an item, a group, or named by a diagnostic.

// lossForms writes an id and a name as the items of a dialect are written.
var lossForms = map[string]struct {
	ids   []string // of items; %d: a number, so that each is there once
	line  string   // %s: id, name
	head  string   // above all lines
	words []string // in front of the id
}{
	"sprint":    {[]string{"1.%d", "1.%db", "1.1%d"}, "### %s: %s\n\nText.\n", "## Phase 1: Core\n\n### Sprint 1.1: First\n\nText.\n", []string{"Sprint ", "SPRINT ", "Sprint-", "Sprint #"}},
	"task":      {[]string{"%d", "1.%d", "1.1%da"}, "### %s: %s\n\nText.\n", "## Phase 1: Core\n\n### Task 1.1: First\n\nText.\n", []string{"Task ", "Story ", "TASK-"}},
	"code":      {[]string{"FE-%d", "FE-%d-004", "FE-1.%d"}, "### %s: %s\n\nText.\n", "### FE-1: First\n\nText.\n", []string{""}},
	"integer":   {[]string{"%d", "%db", "1%d"}, "### %s: %s\n\nText.\n", "### Sprint 1: First\n\nText.\n", []string{"Sprint ", "Sprint #"}},
	"phase":     {[]string{"%d", "%db", "1%d"}, "## %s: %s\n\nText.\n", "## Phase 1: First\n\nText.\n", []string{"Phase ", "PHASE "}},
	"section":   {[]string{"1.%d", "2.%db", "1.1%d"}, "### %s %s\n\nText.\n", "### 1.1 First\n\nText.\n", []string{""}},
	"bold-task": {[]string{"P1.%d", "2.%db", "1%d"}, "**%s: %s**\n\nText.\n", "**Task P1.1: First**\n\nText.\n", []string{"Task ", "Story "}},
	"checklist": {[]string{"1.%d", "2.%db", "1.1%d"}, "- [ ] %s %s\n  - text\n", "- [ ] 1.1 First\n  - text\n", []string{""}},
	"spec-kit":  {[]string{"T00%d", "T00%db", "T01%d"}, "- [ ] %s %s\n", "## Phase 1: Core\n\n- [ ] T001 First\n", []string{""}},
	"todo":      {[]string{"#%d", "%d", "T%d"}, "- [ ] %s %s\n", "- [ ] First\n", []string{""}},
	"table":     {[]string{"T%d", "1.%db", "FE-1%d"}, "| %s | %s |\n", "| ID | Task |\n|----|------|\n| T1 | First |\n", []string{""}},
}

// nearIDs change an id a little.
var nearIDs = []func(string) string{
	func(s string) string { return s },
	strings.ToLower, strings.ToUpper,
	func(s string) string { return "[" + s + "]" },
	func(s string) string { return "(" + s + ")" },
	func(s string) string { return "{" + s + "}" },
	func(s string) string { return "<" + s + ">" },
	func(s string) string { return "#" + s },
	func(s string) string { return `"` + s + `"` },
	func(s string) string { return s + "*" },
	func(s string) string { return s + "!" },
	func(s string) string { return s + "?" },
	func(s string) string { return s + "," },
	func(s string) string { return s + ";" },
	func(s string) string { return s + "/" },
	func(s string) string { return s + "]" },
	func(s string) string { return s + "_" },
	func(s string) string { return s + "'" },
	func(s string) string { return s + "." },
	func(s string) string { return s + ".1.1" },
	func(s string) string { return s + "-1" },
	func(s string) string { return s + "_2" },
	func(s string) string { return s + "/9" },
	func(s string) string { return s + "X" },
	func(s string) string { return "0" + s },
	func(s string) string { return strings.ReplaceAll(s, ".", "-") },
	func(s string) string { return strings.ReplaceAll(s, ".", "_") },
	func(s string) string { return strings.ReplaceAll(s, ".", "..") },
	func(s string) string { return strings.ReplaceAll(s, "-", "_") },
	func(s string) string { return strings.ReplaceAll(s, "-", "") },
	func(s string) string { return strings.ReplaceAll(s, "1", "１") },
	func(s string) string { return strings.ReplaceAll(s, "T", "T-") },
	func(s string) string { return "[P] " + s },
	func(s string) string { return "(P) " + s },
	func(s string) string { return "✅ " + s },
	func(s string) string { return "~~" + s + "~~" },
	func(s string) string { return "**" + s + "**" },
	func(s string) string { return "*" + s + "*" },
}

// nearLines change a line a little.
var nearLines = []func(string) string{
	func(s string) string { return s },
	func(s string) string { return s },
	func(s string) string { return s },
	func(s string) string { return strings.Replace(s, "[ ]", "[]", 1) },
	func(s string) string { return strings.Replace(s, "[ ] ", "[ ]", 1) },
	func(s string) string { return strings.Replace(s, "[ ]", "[ x ]", 1) },
	func(s string) string { return strings.Replace(s, "[ ]", "[✓]", 1) },
	func(s string) string { return strings.Replace(s, "- [ ]", "* [x]", 1) },
	func(s string) string { return strings.Replace(s, "- [ ]", "- [ ]*", 1) },
	func(s string) string { return strings.Replace(s, "### ", "###", 1) },
	func(s string) string { return strings.Replace(s, "### ", "#### ", 1) },
	func(s string) string { return strings.Replace(s, "### ", "###\t", 1) },
	func(s string) string { return strings.Replace(s, "### ", "  ### ", 1) },
	func(s string) string { return strings.Replace(s, "- [ ] ", "- [ ]\t", 1) },
	func(s string) string { return strings.Replace(s, "- [ ]", "1) [ ]", 1) },
	func(s string) string { return strings.Replace(s, "- [ ]", "+ [X]", 1) },
	func(s string) string { return strings.Replace(s, "- [ ]", "- A group\n  - [ ]", 1) },
	func(s string) string { return strings.Replace(s, "- [ ]", "- A group\n\t- [ ]", 1) },
	func(s string) string { return strings.Replace(s, "- [ ]", "- A group\n\n  1. [ ]", 1) },
	func(s string) string { return strings.Replace(s, "| ", "|", 1) },
	func(s string) string { return strings.Replace(s, "### ", "## ", 1) },
	func(s string) string { return replaceStart(s, "**", "- **") },
	func(s string) string { return replaceStart(s, "**", "1. **") },
	func(s string) string { return strings.Replace(s, "\n", "  \n", 1) },
	func(s string) string { return strings.Replace(s, "\n", "\u00a0\n", 1) },
}

func replaceStart(s, from, to string) string {
	if rest, ok := strings.CutPrefix(s, from); ok {
		return to + rest
	}
	return s
}

// boxesWithoutID stand where items do and begin with no id at all.
var boxesWithoutID = []string{
	"- [ ] %s\n", "* [x] Do %s\n", "\n## More\n\n- [ ] %s\n\n", "\n### 7. More\n\n1. [ ] 5 %s\n\n", "- [] %s\n", "- [ ]%s\n", "\n-[ ] %s\n\n", "- [x ] %s\n",
	"\nText.\n\n- [ ] (later) %s\n", "- [ ] **%s**: it\n", "- [-] %s\n  - text\n",
}

// lossPlan writes a plan of a dialect; each name in it is a word of its own.
func lossPlan(r *rand.Rand, dialect string) (plan string, names []string) {
	f := lossForms[dialect]
	var b strings.Builder
	b.WriteString("# Plan\n\n" + f.head)
	for i := range 1 + r.IntN(6) {
		if bare := boxesWithoutID[r.IntN(len(boxesWithoutID))]; (dialect == "checklist" || dialect == "spec-kit") && r.IntN(4) == 0 {
			name := fmt.Sprintf("Zebra%dx", i)
			fmt.Fprintf(&b, bare, name)
			names = append(names, name)
			continue
		}
		id := nearIDs[r.IntN(len(nearIDs))](fmt.Sprintf(f.ids[r.IntN(len(f.ids))], i+2))
		name := fmt.Sprintf("Zebra%dx", i)
		line := fmt.Sprintf(f.line, f.words[r.IntN(len(f.words))]+id, name)
		if !strings.HasPrefix(id, "~~") { // struck through is cancelled, and text where it could be no item
			line = nearLines[r.IntN(len(nearLines))](line)
		}
		if slices.Contains([]string{"table", "checklist", "spec-kit", "todo"}, dialect) {
			b.WriteString(line)
		} else {
			b.WriteString("\n" + line)
		}
		names = append(names, name)
	}
	if r.IntN(4) == 0 {
		return strings.ReplaceAll(b.String(), "\n", "\r\n"), names
	}
	return b.String(), names
}

// silentLosses returns the names that are in no item or group, and whose lines no
// diagnostic shows.
func silentLosses(d syntax.Dialect, src string, names []string) (lost []string) {
	file := diag.NewFile("plan.md", []byte(src))
	plan, diags := syntax.Parse(file, syntax.Options{Dialect: d})
	var read strings.Builder
	for _, it := range plan.Items {
		read.WriteString(it.Title + "\n")
	}
	for _, ph := range plan.Phases {
		read.WriteString(ph.Name + "\n")
	}
	var shown []int // lines
	show := func(at diag.Range) {
		for l := file.Position(at.Start).Line; l <= file.Position(at.End).Line; l++ {
			shown = append(shown, l)
		}
	}
	for _, x := range diags {
		if x.Code == "unknown-label" || x.Code == "finished" || x.Code == "all-finished" {
			continue // these speak of other things
		}
		show(x.Range)
		for _, rel := range x.Related {
			show(rel.Range)
		}
	}
	for _, n := range names {
		line := file.Position(strings.Index(src, n)).Line
		if !strings.Contains(read.String(), n) && !slices.Contains(shown, line) {
			lost = append(lost, n)
		}
	}
	return lost
}

func TestNothingNearAnItemIsLostInSilence(t *testing.T) {
	const seed, plans = 12, 800
	set, _ := policies.Decode(policies.Input{})
	total := 0
	for _, d := range allDialects(set) {
		if _, ok := lossForms[d.Name]; !ok {
			if d.Name != "cursor" { // every entry is an item there
				t.Errorf("the test knows no items of the dialect %s", d.Name)
			}
			continue
		}
		r := rand.New(rand.NewPCG(seed, uint64(len(d.Name))))
		losses, shown := 0, map[string]bool{}
		for range plans {
			src, names := lossPlan(r, d.Name)
			for _, n := range silentLosses(d, src, names) {
				losses++
				line := src[:strings.Index(src, n)]
				line = line[strings.LastIndexByte(line, '\n')+1:]
				if len(shown) < 12 && !shown[line] {
					shown[line] = true
					t.Errorf("%s: nothing says that this is no item: %q\n%s", d.Name, line, src)
				}
			}
		}
		total += losses
	}
	if total > 0 {
		t.Errorf("%d silent losses (seed %d)", total, seed)
	}
}

// What begins with no id is text, and nobody is warned of it.
func TestWhatIsNoIDIsNoNearMiss(t *testing.T) {
	set, _ := policies.Decode(policies.Input{})
	for _, d := range allDialects(set) {
		f, ok := lossForms[d.Name]
		if !ok {
			continue
		}
		src := "# Plan\n\n" + f.head
		switch d.In {
		case "checkbox":
			src += "  - [ ] 5 verbs work\n  - [ ] 12 nouns\n  - [ ] 2026-02-08 release\n  - [ ] Tests for T-shirts\n  - [ ] [docs](a.md) say so\n  - [ ] `go test` passes\n  - [ ] (optional) retry\n"
		case "heading":
			src += "\n#### Files\n\n#### 1.1.1 Details\n\n#### utf-8 everywhere\n\n#### FE-1.x notes\n\n#### 2026 goals\n\n#### (optional) Later\n"
		case "bold":
			src += "\n**Why**: text\n\n**Tasks**:\n- 3 things\n\n**Step by step**\n\n**2 days**\n"
		case "table":
			src += "| - | none |\n| Total | 12 |\n\n| a | b |\n|---|---|\n| 1.x | y |\n"
		}
		_, diags := syntax.Parse(diag.NewFile("plan.md", []byte(src)), syntax.Options{Dialect: d})
		for _, x := range diags {
			if x.Code == "malformed-id" {
				t.Errorf("%s: %s: %q", d.Name, x.Summary, src[x.Range.Start:x.Range.End])
			}
		}
	}
}
