package compiler

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

// linesOf reads a list of words that people really use.
func linesOf(t *testing.T, name string, atLeast int) []string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	if len(lines) < atLeast {
		t.Fatalf("%s has %d lines, want at least %d", name, len(lines), atLeast)
	}
	return lines
}

const typoPolicy = `
hitl { approvers = ["ada"] }

policy "default" {
  default = true
  step "implement" {}
}

policy "strict" {
  step "careful" {}
}
`

func compilePlan(dialect, text string) Output {
	return Compile(Input{
		Plans: []Source{{Path: "plan.md", Bytes: []byte(text)}}, Project: fstest.MapFS{},
		Policy: []Source{{Path: "ralph.hcl", Bytes: []byte(typoPolicy)}}, Options: Options{Dialect: dialect},
	})
}

func nearMisses(out Output) (found []string) {
	for _, d := range out.Diags {
		if strings.HasPrefix(string(d.Code), "near-miss") || d.Code == "control-value" {
			found = append(found, fmt.Sprintf("%s: %s%s", d.Code, d.Summary, place(out, d.Range, " at ")))
		}
	}
	return found
}

// Bold labels that people really use make no error, as lines and as list items.
func TestRealLabelsAreNoNearMisses(t *testing.T) {
	labels := linesOf(t, "real_labels.txt", 500)
	var b strings.Builder
	b.WriteString("# Plan\n\n## Phase 1: All\n\n**Goal**: one\n\n")
	for i, l := range labels {
		fmt.Fprintf(&b, "### Sprint 1.%d: X\n\n**Verify**: `make`\n\n**%s**: as the team agreed\n\n- **%s:** as the team agreed\n- [ ] **%s**: as the team agreed\n\n", i+1, l, l, l)
	}
	out := compilePlan("", b.String())
	for _, n := range nearMisses(out) {
		t.Error(n)
	}
	for _, d := range out.Diags {
		if d.Severity == diag.Error {
			t.Errorf("%s: %s%s", d.Code, d.Summary, place(out, d.Range, " at "))
		}
	}
}

// Bold names that people really use begin sentences, and stand in quotations: no warning
// says that they are labels in another form.
func TestRealLabelsInProseAreNoLabels(t *testing.T) {
	labels := linesOf(t, "real_labels.txt", 500)
	var b strings.Builder
	b.WriteString("# Plan\n\n## Phase 1: All\n\n")
	for i, l := range labels {
		fmt.Fprintf(&b, "### Sprint 1.%d: X\n\n**Verify**: `make`\n\n**%s** as the team agreed\n\n- **%s** of the module is cached.\n- [ ] **%s** is 5m today\n\n> **%s**: as the team agreed\n\n<b>%s</b>: as the team agreed\n\n- [ ] write it\n  **%s**: as the team agreed\n\n  - **%s**: yes\n\nIt says **%s**: as agreed\n\n    **%s**: as agreed\n\n| **%s** | as agreed |\n\n### %s\n\nAs the team agreed.\n\n",
			i+1, l, l, l, l, l, l, l, l, l, l, l)
	}
	out := compilePlan("", b.String())
	for _, d := range out.Diags {
		if d.Severity == diag.Error || d.Code == "label-form" {
			t.Errorf("%s: %s%s", d.Code, d.Summary, place(out, d.Range, " at "))
		}
	}
}

// Headings that people really use are titles of items without a doubt about a marker.
func TestRealHeadingsAreTitles(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Plan\n\n## Phase 1: All\n\n")
	for i, h := range linesOf(t, "real_headings.txt", 200) {
		fmt.Fprintf(&b, "### Sprint 1.%d: %s\n\n**Verify**: `make`\n\n", i+1, h)
	}
	for _, n := range nearMisses(compilePlan("", b.String())) {
		t.Error(n)
	}
}

// Headings that people really use make no error, at any level, in any dialect.
func TestRealHeadingsAreNoNearMisses(t *testing.T) {
	headings := linesOf(t, "real_headings.txt", 200)
	items := map[string]string{
		"sprint": "## Phase 90: A\n\n### Sprint 90.1: A\n\n", "task": "## Phase 90: A\n\n### Task 90.1: A\n\n", "code": "### FE-1: A\n\n",
		"integer": "## Sprint 90: A\n\n", "phase": "## Phase 90: A\n\n", "section": "### 90.1 A\n\n", "bold-task": "**Task P90.1: A**\n\n",
		"checklist": "- [ ] 90.1 A\n\n", "spec-kit": "## Phase 90: A\n\n- [ ] T900 A\n\n", "table": "| ID | Task |\n|---|---|\n| M-1 | A |\n\n",
	}
	for dialect, item := range items {
		for _, level := range []string{"##", "###", "####"} {
			var b strings.Builder
			b.WriteString("# Plan\n\n" + item)
			for _, h := range headings {
				fmt.Fprintf(&b, "%s %s\n\nAs the team agreed.\n\n", level, h)
			}
			out := compilePlan(dialect, b.String())
			for _, n := range nearMisses(out) {
				t.Errorf("%s %s: %s", dialect, level, n)
			}
		}
	}
}

// edits returns every word that is one typing mistake away from w: what is
// inserted and put in place of a character comes from a keyboard, or only looks
// like a letter.
func edits(w string) []string {
	const alphabet = "abcdefghijklmnopqrstuvwxyz 0-.,;:éаеос\u200b"
	seen := map[string]bool{w: true}
	var out []string
	add := func(s string) {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	r := []rune(w)
	for i := 0; i <= len(r); i++ {
		for _, c := range alphabet {
			add(string(r[:i]) + string(c) + string(r[i:]))
			if i < len(r) {
				add(string(r[:i]) + string(c) + string(r[i+1:]))
			}
		}
		if i < len(r) {
			add(string(r[:i]) + string(r[i+1:]))
		}
		if i+1 < len(r) {
			add(string(r[:i]) + string(r[i+1]) + string(r[i]) + string(r[i+2:]))
		}
	}
	return out
}

// typo is one way to write a control in a plan.
type typo struct {
	dialect string
	base    string // what stands before; "" is a sprint 1.1
	word    string
	section func(word string, n int) string // of item 1.n, with its heading
	always  bool                            // any edit counts, not only near misses
	kind    syntax.NearKind                 // whose exceptions count; "" is labels
	kept    func(e *ir.Epic) bool
}

// counts reports whether an edit is a near miss by the rule of the language.
func (c *typo) counts(s string, known []string) bool {
	if c.always {
		return true
	}
	if strings.HasPrefix(s, " ") && c.dialect == "bold-task" { // "** Task" is not bold
		return false
	}
	s = strings.TrimRight(strings.TrimSpace(s), " :")
	first, _ := utf8.DecodeRuneInString(strings.ToLower(s))
	want, _ := utf8.DecodeRuneInString(strings.ToLower(c.word))
	letters := 0
	for _, r := range s {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	if _, is := syntax.KnownWord(s, known); is {
		return false
	}
	return first == want && letters >= 4 && !syntax.Exempt(cmp.Or(c.kind, syntax.NearLabels), s)
}

// on looks at the item that carries the control.
func on(key ir.Key, look func(n *ir.Node, e *ir.Epic) bool) func(*ir.Epic) bool {
	return func(e *ir.Epic) bool {
		i := slices.IndexFunc(e.Nodes, func(n ir.Node) bool { return n.Key == key })
		return i >= 0 && look(&e.Nodes[i], e)
	}
}

func edgeTo(key, from ir.Key, typ ir.EdgeType) func(*ir.Epic) bool {
	return on(from, func(n *ir.Node, _ *ir.Epic) bool {
		return slices.ContainsFunc(n.After, func(a ir.Edge) bool { return a.Key == key && a.From == "explicit" && a.Type == typ })
	})
}

func typos() []typo {
	item := func(n int, body string) string { return fmt.Sprintf("### Sprint 1.%d: X\n\n%s\n\n", n, body) }
	label := func(value string) func(string, int) string {
		return func(w string, n int) string { return item(n, "**"+w+"**: "+value) }
	}
	value := func(name string) func(string, int) string {
		return func(w string, n int) string { return item(n, "**"+name+"**: "+w) }
	}
	marker := func(w string, n int) string {
		return fmt.Sprintf("### Sprint 1.%d: X (%s)\n\n**Verify**: `make`\n\n", n, w)
	}
	group := func(w string, n int) string {
		return fmt.Sprintf("## Phase %d: X\n\n**%s**: 1.1\n\n### Sprint %d.1: X\n\n", n, w, n)
	}
	gate := func(kind string) func(*ir.Epic) bool {
		return on("1.2", func(n *ir.Node, e *ir.Epic) bool {
			return slices.ContainsFunc(n.Steps, func(s ir.Step) bool {
				return slices.ContainsFunc(s.Gates, func(g string) bool { return e.Gates[g].Kind == kind })
			})
		})
	}
	kind := func(k ir.Kind) func(*ir.Epic) bool {
		return on("1.2", func(n *ir.Node, _ *ir.Epic) bool { return n.Kind == k })
	}
	first := func(look func(s *ir.Step) bool) func(*ir.Epic) bool {
		return on("1.2", func(n *ir.Node, _ *ir.Epic) bool { return look(&n.Steps[0]) })
	}
	dev := first(func(s *ir.Step) bool { return s.Agent == "dev" })
	read := first(func(s *ir.Step) bool { return s.Access == "read" })
	careful := first(func(s *ir.Step) bool { return s.Name == "careful" })
	review := first(func(s *ir.Step) bool { return slices.Contains(s.Capabilities, "review") })
	critical := on("1.2", func(n *ir.Node, _ *ir.Epic) bool { return n.Complexity.Level == "critical" })
	owns := on("1.2", func(n *ir.Node, _ *ir.Epic) bool { return len(n.Scope.Owns) > 0 })
	root := on("1.2", func(n *ir.Node, _ *ir.Epic) bool { return len(n.After) == 0 })
	exists := on("1.2", func(*ir.Node, *ir.Epic) bool { return true })
	out := []typo{
		{word: "Approval", section: label("required from @ada"), kept: gate("human")},
		{word: "Approvals", section: label("required from @ada"), kept: gate("human")},
		{word: "Verify", section: label("`make`"), kept: gate("command")},
		{word: "Tests", section: label("`make`"), kept: gate("command")},
		{word: "QA Agents", section: label("`judge`"), kept: gate("agent")},
		{word: "Dev Agents", section: label("`dev`"), kept: dev},
		{word: "Agent", section: label("`dev`"), kept: dev},
		{word: "Manual", section: label("yes"), kept: kind(ir.Manual)},
		{word: "Owns", section: label("`src/**`"), kept: owns},
		{word: "Complexity", section: label("critical"), kept: critical},
		{word: "Policy", section: label("strict"), kept: careful},
		{word: "Access", section: label("read"), kept: read},
		{word: "Labels", section: label("ashep:excluded"), kept: on("1.2", func(n *ir.Node, _ *ir.Epic) bool { return slices.Contains(n.Labels, "ashep:excluded") })},
		{word: "Capability", section: label("review"), kept: review},
		{word: "Capabilities", section: label("review"), kept: review},
		{word: "Blocks", section: label("99.1"), kept: edgeTo("1.2", "99.1", ir.Blocks)},
		{word: "Unblocks", section: label("99.1"), kept: edgeTo("1.2", "99.1", ir.Blocks)},
		{word: "Unlocks", section: label("99.1"), kept: edgeTo("1.2", "99.1", ir.Blocks)},
		{word: "Related", section: label("1.1"), kept: edgeTo("1.1", "1.2", ir.Related)},
		{word: "Parent", section: label("1.1"), kept: edgeTo("1.1", "1.2", ir.ParentChild)},
		{word: "Discovered from", section: label("1.1"), kept: edgeTo("1.1", "1.2", ir.DiscoveredFrom)},

		{word: "critical", section: value("Complexity"), kind: syntax.NearValues, kept: critical},
		{word: "read", section: value("Access"), kind: syntax.NearValues, kept: read},
		{word: "strict", section: value("Policy"), kind: syntax.NearValues, kept: careful, always: true},
		{word: "yes", section: value("Manual"), kind: syntax.NearValues, kept: kind(ir.Manual), always: true},
		{word: "true", section: value("Manual"), kind: syntax.NearValues, kept: kind(ir.Manual), always: true},
		{word: "required from @ada within 48h", section: value("Approval"), kind: syntax.NearValues, kept: gate("human"), always: true},
		{word: "required", section: value("Approval"), kind: syntax.NearValues, kept: gate("human"), always: true},
		{word: "review", section: value("Capability"), kind: syntax.NearValues, kept: review},
		{word: "none", section: value("Depends on"), kind: syntax.NearValues, kept: root},
		{word: "nothing", section: value("Depends on"), kind: syntax.NearValues, kept: root},
		{word: "no dependencies", section: value("Depends on"), kind: syntax.NearValues, kept: root},

		{word: "manual", section: marker, kind: syntax.NearMarkers, kept: kind(ir.Manual)},
		{word: "merge", section: marker, kind: syntax.NearMarkers, kept: kind(ir.Merge)},
		{word: "gate", section: marker, kind: syntax.NearMarkers, kept: kind(ir.GateKind)},
		{word: "Sprint", kind: syntax.NearKeywords, section: func(w string, n int) string { return fmt.Sprintf("### %s 1.%d: X\n\n", w, n) }, kept: exists},
		{
			word: "Phase", kind: syntax.NearKeywords, section: func(w string, n int) string { return fmt.Sprintf("## %s %d: X\n\n### Sprint %d.1: X\n\n", w, n, n) },
			kept: on("2.1", func(n *ir.Node, _ *ir.Epic) bool { return n.Phase == "2" }),
		},
	}
	for _, w := range []string{"Depends on", "Dependencies", "Dependency", "Prerequisites", "Pre-requisites", "After", "Blocked by"} {
		out = append(out, typo{word: w, section: label("1.1"), kept: edgeTo("1.1", "1.2", ir.Blocks)})
	}
	out = append(out, typo{word: "Depends on", section: group, kept: edgeTo("1.1", "2.1", ir.Blocks)})
	for _, k := range []struct{ dialect, word, base, section, key string }{
		{"task", "Task", "### Task 1: A\n\n", "### %s %d: X\n\n", "2"},
		{"task", "Story", "### Task 1: A\n\n", "### %s %d: X\n\n", "2"},
		{"task", "Step", "### Task 1: A\n\n", "### %s %d: X\n\n", "2"},
		{"task:Unit,Probe", "Probe", "### Unit 1: A\n\n", "### %s %d: X\n\n", "2"},
		{"integer", "Sprint", "## Sprint 1: A\n\n", "## %s %d: X\n\n", "2"},
		{"phase", "Phase", "## Phase 1: A\n\n", "## %s %d: X\n\n", "2"},
		{"bold-task", "Task", "**Task P1: A**\n\n", "**%s P%d: X**\n\n", "P2"},
		{"bold-task", "Story", "- **Task P1: A**\n", "- **%s P%d: X**\n", "P2"},
	} {
		section := k.section
		out = append(out, typo{
			dialect: k.dialect, base: k.base, word: k.word, kind: syntax.NearKeywords, section: func(w string, n int) string { return fmt.Sprintf(section, w, n) },
			kept: on(ir.Key(k.key), func(*ir.Node, *ir.Epic) bool { return true }),
		})
	}
	for _, w := range []string{"Phase", "Sprint", "Epic", "Milestone", "Wave"} {
		out = append(out, typo{
			dialect: "task", base: "## Phase 1: A\n\n### Task 1.1: A\n\n", word: w, kind: syntax.NearKeywords,
			section: func(w string, n int) string { return fmt.Sprintf("## %s %d: X\n\n### Task %d.1: X\n\n", w, n, n) },
			kept:    on("2.1", func(n *ir.Node, _ *ir.Epic) bool { return n.Phase == "2" }),
		})
	}
	return append(out, typo{
		dialect: "spec-kit", base: "## Phase 1: A\n\n- [ ] T001 A\n\n", word: "Phase", kind: syntax.NearKeywords,
		section: func(w string, n int) string { return fmt.Sprintf("## %s %d: X\n\n- [ ] T%03d X\n\n", w, n, n) },
		kept:    on("T002", func(n *ir.Node, _ *ir.Epic) bool { return n.Phase == "2" }),
	})
}

// Every control, written with every single typing mistake, gives an error or is
// kept: none is lost in silence.
func TestNoTypoRemovesAControl(t *testing.T) {
	known := slices.Concat(syntax.LabelNames(), []string{"merge", "gate", "manual", "critical", "simple", "standard", "trivial", "read", "write", "none", "nothing"}, policies.Vocabulary)
	tried, lost, skip := 0, 0, 0
	for _, c := range typos() {
		variants := slices.DeleteFunc(edits(c.word), func(s string) bool { return !c.counts(s, known) })
		if testing.Short() { // with the race detector all of them take minutes, in one goroutine
			variants = slices.DeleteFunc(variants, func(string) bool { skip++; return skip%10 != 0 })
		}
		for part := range slices.Chunk(append([]string{c.word}, variants...), 500) {
			silent := c.silent(part)
			tried += len(part)
			for _, w := range silent {
				if out := compilePlan(c.dialect, typoPlan(&c, []string{w})); !out.Diags.HasErrors() && !c.kept(out.Results[0].Epic) {
					lost++
					t.Errorf("%q for %q is lost in silence", w, c.word)
				}
			}
			if part[0] == c.word && !slices.Contains(silent, c.word) {
				t.Errorf("%q itself is an error: %v", c.word, compilePlan(c.dialect, typoPlan(&c, []string{c.word})).Diags)
			}
		}
	}
	t.Logf("%d spellings, %d lost in silence", tried, lost)
}

func typoPlan(c *typo, words []string) string {
	var b strings.Builder
	b.WriteString("# Plan\n\n")
	if b.WriteString(c.base); c.base == "" {
		b.WriteString("## Phase 1: All\n\n### Sprint 1.1: A\n\n")
	}
	for i, w := range words {
		b.WriteString(c.section(w, i+2))
	}
	if c.base == "" {
		b.WriteString("## Phase 99: Last\n\n### Sprint 99.1: Z\n\n**Depends on**: none\n")
	}
	return b.String()
}

// silent compiles all spellings in one plan and returns those without an error
// between their own heading and the next.
func (c *typo) silent(words []string) (out []string) {
	plan := typoPlan(c, words)
	res := compilePlan(c.dialect, plan)
	at := strings.Index(plan, c.section(words[0], 2))
	for i, w := range words {
		end := at + len(c.section(w, i+2))
		if !slices.ContainsFunc(res.Diags, func(d diag.Diagnostic) bool {
			return d.Severity == diag.Error && d.Range.Start >= at && d.Range.Start < end
		}) {
			out = append(out, w)
		}
		at = end
	}
	return out
}

// The marks of fences and comments: any single mistake counts.
func TestNoTypoRemovesAMark(t *testing.T) {
	text := func(form string) func(string, int) string {
		return func(w string, n int) string {
			return fmt.Sprintf("### Sprint 1.%d: X\n\n", n) + fmt.Sprintf(form, w) + "\n\n"
		}
	}
	manual := on("1.2", func(n *ir.Node, _ *ir.Epic) bool { return n.Kind == ir.Manual })
	for _, c := range []typo{
		{word: "hcl ralph", section: text("```%s\naccess = \"read\"\n```"), kept: on("1.2", func(n *ir.Node, _ *ir.Epic) bool { return n.Steps[0].Access == "read" })},
		{
			word: "json output=judge", section: text("**QA Agents**: `judge`\n\n```%s\n" + `{"type": "object", "required": ["status", "message"], "properties": {"mine": {}, "status": {"enum": ["pass", "fail", "stop"]}, "message": {"type": "string"}}}` + "\n```"),
			kept: on("1.2", func(n *ir.Node, e *ir.Epic) bool {
				return slices.ContainsFunc(n.Steps[0].Gates, func(g string) bool { return strings.Contains(string(e.Gates[g].OutputSchema), "mine") })
			}),
		},
		{word: "bash", section: text("**Verify**:\n```%s\nmake\n```"), kept: on("1.2", func(n *ir.Node, _ *ir.Epic) bool { return len(n.Steps[0].Gates) > 0 })},
		{word: "ralph: manual=yes", section: text("<!-- %s -->"), kept: manual},
	} {
		variants := slices.DeleteFunc(edits(c.word), func(w string) bool { // "json output-example" is a name
			return strings.Contains(c.word, "output=") && !strings.Contains(w, "=")
		})
		for _, w := range c.silent(variants) {
			out := compilePlan("", typoPlan(&c, []string{w}))
			said := slices.ContainsFunc(out.Diags, func(d diag.Diagnostic) bool { return d.Code == "verify-fence" })
			if !out.Diags.HasErrors() && !c.kept(out.Results[0].Epic) && !said {
				t.Errorf("%q for %q is lost in silence", w, c.word)
			}
		}
	}
}

// An approval that is not written as a label, and a command below a bold word
// without a colon, are prose: a warning says how to write them.
func TestAControlInProseIsSaid(t *testing.T) {
	for _, c := range []struct {
		text string
		said bool
	}{
		{"**Verify**\n\n```sh\nmake test\n```", true},
		{"- **Verify**\n\n  ```sh\n  make test\n  ```", true},
		{"**Approval**\n\nrequired from @ada", true},
		{"Approval: required from @ada", true},
		{"*Approval*: required from @ada", true},
		{"_Approval:_ required within 2h", true},
		{"- Approval: required from @ada", true},
		{"- [ ] *Approval*: required from @ada", true},
		{"1. **Approval** required from @ada", true},
		{"- One\n  - Aproval: required from @ada", true},
		{"**Goal**: sign it\nApproval: required from @ada", true},
		{"**Tasks**:\n- Approval: required from @ada", true},
		{"The lead says:\nApproval: required from @ada", true},
		{"#### Notes\n\nApproval: required from @ada", true},
		{"**`Approval`**: required from @ada", true},
		{"###Approval: required from @ada", true},
		{"**Approval: required from @ada", true},
		{"**[Approval]**: required from @ada", true},
		{"**[Manual]:** yes", true},
		{"**[Approval](a.md)**: required from @ada", false},
		{"    **Approval**: required from @ada", true},
		{"- [ ] write it\n\n      **Verify**: `make test`", true},
		{"| Field | Value |\n|---|---|\n| **Approval** | required from @ada |", true},
		{"| Field | Value |\n|---|---|\n| Approval | required from @ada |", true},
		{"| **Manual** | yes |\n|---|---|", true},
		{"| Role | May |\n|---|---|\n| Access | read |", false},
		{"| Role | Manual | Access |\n|---|---|---|\n| **Manual** | yes | no |", false},
		{"text **Manual**: yes", true},
		{"- text **Manual**: yes", true},
		{"**Goal**: do it. **Manual**: yes", true},
		{"**Note**: do it. **Manual**: yes", true},
		{"**Goal**: do it, **Complexity**: critical", false}, // is read
		{"**Goal**: write `a **Manual**: yes`", false},
		{"text **Manual**: see the wiki", false},
		{"### Approval\n\nrequired from @ada", true},
		{"### Manual: yes", true},
		{"### Verify\n\n```sh\nmake test\n```", true},
		{"### Approval\n\nThe board met.", false},
		{"### Access\n\nEverybody reads.", false},
		{"#### Approval\n\nrequired from @ada", false},
		{"Verify:\n\n```sh\nmake test\n```", true},
		{"- Verify:\n  ```bash\n  make test\n  ```", true},
		{"Approval:\n\nrequired from @ada", true},
		{"Run to verify:\n\n```sh\nmake test\n```", false},
		{"Verify:\n\n```json\n{}\n```", false},
		{"Manual: yes", true},
		{"*Manual*: Yes.", true},
		{"- `Manual`: yes", true},
		{"Manul: yes", true},
		{"Complexity: critical", true},
		{"Access: read", true},
		{"Capability: review", true},
		{"Policy: strict", true},
		{"Verify: `make test`", true},
		{"Owns: src/**, `docs/*.md`", true},
		{"QA Agents: `judge`", true},
		{"Labels: ashep:excluded", true},
		{"- **`access`**: string", false},
		{"Manual: see the wiki", false},
		{"Manual: no", false},
		{"Complexity: high, they say", false},
		{"Policy: We keep what we have.", false},
		{"Tests: all green", false},
		{"Test: `make`", true},
		{"**Files:**\n- Modify: `a.py`\n- Test: `tests/test_a.py`\n- Verify: `lib/accounts.ex`", false}, // what people write of files
		{"Owns: the whole house", false},
		{"Labels: red, blue", false},
		{"**Manual**: yes", false},
		{"Approval: asked for in May", false},
		{"Approvals: see the list of @ada", false},
		{"Approval is required from @ada", false},
		{"```\nApproval: required from @ada\n```", false},
		{"**Approval**: required from @ada", false},
		{"**Verify**: `make`\n\n```sh\nmake test\n```", false},
	} {
		out := compilePlan("", "# Plan\n\n## Phase 1: All\n\n### Sprint 1.1: A\n\n"+c.text+"\n")
		n := 0
		for _, d := range out.Diags {
			if d.Code == "label-form" {
				n++
			}
		}
		if n > 1 || c.said != (n == 1) {
			t.Errorf("%q: %d warnings, want %v: %v", c.text, n, c.said, out.Diags)
		}
	}
}

// What is meant as a label is not excused as a marker.
func TestAnExceptionExcusesOneKind(t *testing.T) {
	out := compilePlan("", "# Plan\n\n## Phase 1: All\n\n### Sprint 1.1: A (manuel)\n\n**Manuel**: asks\n")
	if got := nearMisses(out); len(got) != 1 || !strings.Contains(got[0], "(manuel)") {
		t.Errorf("got %q", got)
	}
}

// A dependency that is no label, because it is not in bold, is a warning where it would
// make an edge that is not there, and where the line is a label in all but that.
func TestADependencyInProseIsSaid(t *testing.T) {
	for text, said := range map[string]bool{
		"Depends on: 2.1":       true,
		"**`Depends on`**: 2.1": true,
		"- `After`: 2.1":        true,
		"Blocks: 1.1":           true,
		"*Unblocks*: 1.1":       true,
		"Blocks: 2.1":           false, // it waits already
		"Depends on: 1.1":       true,  // a line of text with the label's name always is
		"Blocks: 64 bytes each": false,
		"Depends on: the mood":  true,
		"- Depends on: a mood":  false,
		"After: the mood":       false,
	} {
		out := compilePlan("", "# Plan\n\n## Phase 1: All\n\n### Sprint 1.1: A\n\n### Sprint 1.2: B\n\n"+text+"\n\n## Phase 2: Next\n\n### Sprint 2.1: C\n")
		got := slices.ContainsFunc(out.Diags, func(d diag.Diagnostic) bool { return d.Code == "dependency-near-miss" })
		if got != said {
			t.Errorf("%q: said %v, want %v: %v", text, got, said, out.Diags)
		}
	}
}

// A near miss is said where order is missing, with where the label goes and what it changes.
func TestNearDependenciesSayWhereAndWhat(t *testing.T) {
	const head = "---\nralph: 1\ndialect: checklist\n---\n# P\n\n- [ ] 1. A\n- [ ] 2. B\n"
	for _, c := range []struct{ text, want string }{
		{"- [ ] 3. C\n  - _Depends: 1_\n", ""}, // by way of 2
		{"- [ ] 3. C\n- [ ] 4. D\n  - _Depends: 2, 5_\n- [ ] 5. E\n", "turns off dependencies by number and order"},
		{"- [ ] 3. C — depends on 4\n- [ ] 4. D\n", "on a line of its own below"},
		{"- [ ] 3. C — **Depends on**: 4\n- [ ] 4. D\n", "on a line of its own below"},
		{"- [ ] 3. C\n  - **Depends on**: 1\n- [ ] 4. D\n  - _Depends: 3_\n", "**Depends on**: 3\", with a bold name."},
	} {
		out := compilePlan("", head+c.text)
		said := ""
		for _, d := range out.Diags {
			if d.Code == "dependency-near-miss" {
				said += d.Detail
			}
		}
		if (said == "") != (c.want == "") || !strings.Contains(said, c.want) {
			t.Errorf("%q: said %q, want %q", c.text, said, c.want)
		}
	}
}
