package mermaid_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/internal/golden"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/mermaid"
	"github.com/ralph-compiler/ralph/ir/irtest"
)

// S4-140
func TestFlowchart(t *testing.T) {
	got := mermaid.Write(irtest.Rich(), mermaid.Options{Impact: "3b.1"})
	golden.Check(t, "testdata/rich.mmd", got)
}

func TestTextCannotLeaveItsPlace(t *testing.T) {
	const hostile = "\"]; click n0 \"javascript:x\" %%{init}%% `a` <b>#quot; & \x1b end ```\nend"
	e := irtest.Worked()
	for i := range e.Nodes {
		e.Nodes[i].Title, e.Nodes[i].Section = hostile, hostile+" > x"
		e.Nodes[i].Complexity.Level = hostile
	}
	line := regexp.MustCompile(`^ *(flowchart TD|subgraph p\d+\["[^"<>` + "`" + `]*"\]|end|n\d+(\("|\{\{"|\{"|\(\[")(✓ )?<b>[^"<>` + "`" + `]*</b> [^"<>` + "`" + `]*<br/><small>[^"<>` + "`" + `]*</small>("\)|"\}\}|"\}|"\]\))|n\d+ (-->|==>) n\d+|classDef [a-z]+ [a-zA-Z0-9:,# -]+;|class [n0-9,]+ [a-z]+;)$`)
	for l := range strings.Lines(string(mermaid.Write(e, mermaid.Options{}))) {
		if !line.MatchString(strings.TrimSuffix(l, "\n")) {
			t.Errorf("not a line of a flowchart: %q", l)
		}
	}
}

func TestGroupsOfAListAreCalledAsTheListSays(t *testing.T) {
	e := &ir.Epic{Nodes: []ir.Node{
		{Key: "1", Kind: ir.Work, Section: "## Tasks > - 1. Begin"},
		{Key: "2.1", Kind: ir.Work, Phase: "2", Section: "## Tasks > - 2. Index > - 2.1 Hash", Labels: []string{"optional"}, Complexity: ir.Complexity{Level: "simple"}},
	}}
	text := string(mermaid.Write(e, mermaid.Options{}))
	for _, want := range []string{`["2. Index"]`, "<small>simple · optional</small>"} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%q stands %d times in:\n%s", want, strings.Count(text, want), text)
		}
	}
}

func TestSoftEdgesAreDotted(t *testing.T) {
	e := irtest.Worked()
	e.Nodes[3].After = []ir.Edge{{Key: "1.1", Type: ir.DiscoveredFrom}}
	if out := string(mermaid.Write(e, mermaid.Options{Direction: "LR"})); !strings.Contains(out, "n0 -. discovered-from .-> n3") || !strings.HasPrefix(out, "flowchart LR") {
		t.Errorf("got %s", out)
	}
}

func TestAGraphThatIsNotWhole(t *testing.T) {
	e := &ir.Epic{Nodes: []ir.Node{{Key: "1", After: []ir.Edge{{Key: "gone", Type: ir.Blocks}}}}}
	if out := string(mermaid.Write(e, mermaid.Options{})); strings.Contains(out, "-->") || !strings.Contains(out, `n0("<b>1</b>`) {
		t.Errorf("got %s", out)
	}
}

func TestWhatIsEscaped(t *testing.T) {
	for text, want := range map[string]string{
		"09 azAZ.,:/+-": "09 azAZ.,:/+-",
		"é世":            "é世",
		"/:@[`{":        "/:#64;#91;#96;#123;",
		`<b>"#;&`:       "#60;b#62;#34;#35;#59;#38;",
	} {
		if got := mermaid.Escape(text); got != want {
			t.Errorf("Escape(%q) is %q, want %q", text, got, want)
		}
	}
}
