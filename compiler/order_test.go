package compiler

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/diag"
)

// FuzzOrder holds of a list of groups below a heading about dependencies (plan
// language, rule 16): with one line that is not understood the graph is that of the
// plan without the list.
func FuzzOrder(f *testing.F) {
	for _, s := range []string{
		"Phase 2 (B)|Depends on A - after the first", "US1|Independent", "Phases 1-2|All depend on Phase 3; after US1", "Phase 2+|no dependencies", "A|After 2.1, all user stories being complete",
		"Phase 3 & 1|Can start after (", "Final Phase|after all previous phases", "US1-3|depends on: the Phases 1 - 2. After",
	} {
		name, value, _ := strings.Cut(s, "|")
		f.Add(name, value)
	}
	const head = "# T\n\n## Phase 1: A\n\n### Sprint 1.1: A\n\n### Sprint 1.2: B\n\n## Phase 2: B\n\n### Sprint 2.1: C\n\n### Sprint 2.2: D\n\n## Phase 3: US1 - C\n\n### Sprint 3.1: E\n\n"
	graph := func(plan string) (Output, string) {
		out := Compile(Input{Plans: []Source{{"plan.md", []byte(plan)}}, Project: fstest.MapFS{}})
		var b strings.Builder
		for _, r := range out.Results {
			if r.Epic != nil {
				for _, n := range r.Epic.Nodes {
					fmt.Fprintln(&b, n.Key, n.After)
				}
			}
		}
		return out, b.String()
	}
	_, bare := graph(head)
	f.Fuzz(func(t *testing.T, name, value string) {
		if strings.ContainsAny(name+value, "\r\n<`~\x00") || !utf8.ValidString(name+value) {
			return
		}
		out, got := graph(head + "# Dependencies\n\n- **" + name + "**: " + value + "\n- **Phase 2**: Depends on what nobody knows\n")
		if out.Diags.HasErrors() || got != bare {
			t.Errorf("%v\n%swant\n%s", out.Diags, got, bare)
		}
		out, _ = graph(head + "# Dependencies\n\n- **" + name + "**: " + value + "\n")
		for _, d := range out.Diags {
			if file := out.Files[d.Range.File]; file != nil && (d.Range.Start < 0 || d.Range.End > len(file.Bytes)) {
				t.Errorf("range %v of %s", d.Range, d.Code)
			}
		}
		if i := slices.IndexFunc(out.Diags, func(d diag.Diagnostic) bool { return d.Severity == diag.Error && d.Code != "dependency-cycle" }); i >= 0 {
			t.Errorf("a list outside the items gives the error %v", out.Diags[i])
		}
	})
}
