package compiler

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/compiler/syntax"
)

// Plan language, labels: what a label does not take is text of its item. Each word of the
// plan's text is in the epic: no line below a label is lost, whatever the label says.

// labelValues are values that a label takes, without any text.
var labelValues = map[syntax.LabelName][]string{
	syntax.DependsOn: {"1.1", "1.1, 1.2", "1.1 and 1.2", "none", "[1.1]", "1.1 (ZEBRA)", "1.1 - ZEBRA"},
	syntax.Blocks:    {"1.4", "1.4, 1.5"},
	syntax.Related:   {"1.1"}, syntax.Parent: {"1.1"}, syntax.DiscoveredFrom: {"1.1"},
	syntax.Owns:      {"src/a.go", "`src/a.go`, docs/**"},
	syntax.Files:     {"src/a.go", "`src/a.go`, docs/**"},
	syntax.Reads:     {"src/a.go", "`src/a.go`, docs/**"},
	syntax.DevAgents: {"web", "`web` (opus)"}, syntax.QAAgents: {"web", "`web` (opus)"},
	syntax.LabelsLabel: {"api", "api, web"}, syntax.Implements: {"REQ-1"}, syntax.Capability: {"code"},
	syntax.Priority: {"P1"}, syntax.Complexity: {"simple"}, syntax.Timeout: {"20m"}, syntax.Attempts: {"2"},
	syntax.Goal: {"be fast"}, syntax.Description: {"be fast"}, syntax.Acceptance: {"it works"}, syntax.Tasks: {"do it"},
	syntax.Verify: {"`make test`"},
}

// labelTexts are values that hold text, too.
var labelTexts = map[syntax.LabelName]string{
	syntax.DependsOn: "none of the above, ask %s", syntax.Blocks: "the %s and whatever comes",
	syntax.Owns: "src/a.go, everything of %s", syntax.Files: "`src/a.go`, where %s is read", syntax.Reads: "what %s wrote",
	syntax.DevAgents: "the team of %s", syntax.Priority: "as %s says", syntax.IntegrationBranch: "%s",
}

// labelFollows is what people write below a label; %s: a word of its own each.
var labelFollows = []string{
	"%s counts pulses.\n",
	"%s counts pulses,\nand %s debounces them.\n",
	"\n%s counts pulses.\n",
	"- %s one\n- %s two\n",
	"\n- %s one\n  %s goes on\n\n  %s more of it\n  - %s inside\n",
	"%s when:\n- %s one\n",
	"\n```text\n%s\n```\n",
	"\n> %s said somebody\n",
	"- [ ] %s box\n",
	"**%s**: remark\n",
	"**Goal**: %s\n",
	"%s line\n\n- %s one\n\n%s behind\n",
}

func TestNoTextBelowALabelIsLost(t *testing.T) {
	names := slices.Sorted(maps.Keys(labelValues))
	r := rand.New(rand.NewPCG(12, 1))
	lost := map[string]bool{}
	n := 0
	word := func() string { n++; return fmt.Sprintf("Zebra%dx", n) }
	for range 800 {
		var b strings.Builder
		b.WriteString("# Plan\n\n")
		var words []string
		shape := map[string]string{} // word → what it stands in
		for i := range 5 {
			fmt.Fprintf(&b, "### Sprint 1.%d: Name\n\n", i+1)
			name := names[r.IntN(len(names))]
			written, value := name.Written()[0], labelValues[name][r.IntN(len(labelValues[name]))]
			value = strings.ReplaceAll(value, "ZEBRA", "reason") // which is no text
			if i == 0 && name.IsDependency() || strings.Contains(value, fmt.Sprintf("1.%d", i+1)) || name == syntax.Blocks && i > 2 || i < 2 && name.IsDependency() {
				value = "none"
			}
			if r.IntN(3) == 0 {
				value = ""
			}
			form := []string{"**%s**: %s\n", "**%s:** %s\n", "- **%s**: %s\n", "#### %s: %s\n"}[r.IntN(4)]
			follow := labelFollows[r.IntN(len(labelFollows))]
			if strings.HasPrefix(form, "- ") && strings.HasPrefix(follow, "\n```") {
				continue
			}
			if beside := labelTexts[name]; beside != "" && r.IntN(3) == 0 {
				w := word()
				words, value = append(words, w), fmt.Sprintf(beside, w)
				shape[w] = fmt.Sprintf(form, written, value) + "…"
			}
			if value == "" && strings.HasPrefix(form, "####") {
				form = "#### %s%s\n\n"
			}
			var ws []any
			for range strings.Count(follow, "%s") {
				w := word()
				ws, words = append(ws, w), append(words, w)
				shape[w] = fmt.Sprintf(form, written, value) + follow
			}
			b.WriteString(strings.TrimRight(fmt.Sprintf(form, written, value), " "))
			fmt.Fprintf(&b, follow+"\n", ws...)
		}
		out := Compile(Input{Plans: []Source{{Path: "plan.md", Bytes: []byte(b.String())}}})
		if out.Diags.HasErrors() || len(out.Results) == 0 {
			continue
		}
		for _, w := range words {
			if !strings.Contains(string(out.Results[0].JSON), w) && len(lost) < 25 && !lost[shape[w]] {
				lost[shape[w]] = true
				at := strings.Index(b.String(), w)
				t.Errorf("%s is lost of %q", w, b.String()[max(0, at-60):min(b.Len(), at+90)])
			}
		}
	}
}
