package dot_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/internal/golden"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/dot"
	"github.com/ralph-compiler/ralph/ir/irtest"
)

// S4-140 S0-44
func TestDrawings(t *testing.T) {
	golden.Check(t, "testdata/worked.dot", dot.Write(irtest.Worked(), dot.Options{}))
	golden.Check(t, "testdata/rich.dot", dot.Write(irtest.Rich(), dot.Options{}))
	golden.Check(t, "testdata/waves.dot", dot.Write(irtest.Worked(), dot.Options{Waves: true}))
	golden.Check(t, "testdata/impact.dot", dot.Write(irtest.Worked(), dot.Options{Impact: "1.2b"}))
	golden.Check(t, "testdata/critical.dot", dot.Write(irtest.Worked(), dot.Options{CriticalPath: true, Direction: "LR", NoLegend: true}))
}

func TestEverythingThatIsSaidIsNotSaidByColourAlone(t *testing.T) {
	text := string(dot.Write(irtest.Rich(), dot.Options{}))
	for name, want := range map[string]string{
		"critical has a double border":    `"4.1" [shape=hexagon, style="filled", fillcolor="#FDEBE7", color="#C63C2B", penwidth=2.4, peripheries=2`,
		"critical has its word":           "critical: payment · 2 gates",
		"trivial is dotted":               `"5.1c" [shape=box, style="filled,rounded,dotted"`,
		"a merge names what it merges":    "merges 3a.2a, 3a.2b, 3b.2",
		"a gate is an octagon":            `"2.3" [shape=octagon`,
		"a person's work is an ellipse":   `"4.2" [shape=ellipse`,
		"a human gate names who approves": "a person approves: @ana, @bo",
		"finished work has a check mark":  "✓ 1.1",
		"a soft edge is dashed":           `"1.3b" -> "3a.2b" [style=dashed, constraint=false`,
		"the critical path is bold":       `"1.4" -> "2.1" [tooltip="2.1 waits for 1.4 (number)", color="#D9730D", penwidth=2.6`,
		"phases are clusters":             "<B>Phase 3a: Shop front</B>",
		"numbers are in the title":        "24 nodes · 31 edges · 15 waves · at most 4 at once · 5 done",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s: not in the drawing: %s", name, want)
		}
	}
}

func TestGroupsOfAListAreCalledAsTheListSays(t *testing.T) {
	e := &ir.Epic{Nodes: []ir.Node{
		{Key: "1", Kind: ir.Work, Section: "## Tasks > - 1. Begin"},
		{Key: "2.1", Kind: ir.Work, Phase: "2", Section: "## Tasks > - 2. Index > - 2.1 Hash"},
		{Key: "2.2", Kind: ir.Work, Phase: "2", Section: "## Tasks > - 2. Index > - 2.2 Test it", Labels: []string{"optional"}, Complexity: ir.Complexity{Level: "simple"}},
	}}
	text := string(dot.Write(e, dot.Options{}))
	for _, want := range []string{"<B>2. Index</B>", "simple · optional"} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%q stands %d times in:\n%s", want, strings.Count(text, want), text)
		}
	}
	if strings.Index(text, `"1" [`) > strings.Index(text, "subgraph") {
		t.Errorf("1 is in no group:\n%s", text)
	}
}

func TestManyToManyRunsThroughOnePoint(t *testing.T) {
	e := irtest.Rich()
	// 5.1a, 5.1b, 5.1c each wait for the three things that 4.1 waits for.
	for i := range e.Nodes {
		if strings.HasPrefix(string(e.Nodes[i].Key), "5.1") {
			e.Nodes[i].After = nil
			for _, k := range []ir.Key{"3a.2a", "3a.2b", "3b.2"} {
				e.Nodes[i].After = append(e.Nodes[i].After, ir.Edge{Key: k, From: "number", Type: ir.Blocks})
			}
		}
	}
	text := string(dot.Write(e, dot.Options{}))
	if n := strings.Count(text, `-> "#before 4.1"`); n != 3 {
		t.Errorf("%d lines run into the point", n)
	}
	if n := strings.Count(text, `"#before 4.1" ->`); n != 4 {
		t.Errorf("%d lines run out of the point", n)
	}
}

// hostile is text that would be markup, an escape or an end of string anywhere.
const hostile = "\"];}<B>&amp;\\N\\\\\"\x1b[31m\x00\u202e</TABLE>\n]]>--"

func TestTextCannotLeaveItsPlace(t *testing.T) {
	e := irtest.Rich()
	e.Epic.Title = hostile
	for i := range e.Nodes {
		n := &e.Nodes[i]
		n.Title, n.Goal, n.Section = hostile, hostile, hostile+" > "+hostile
		n.Complexity.Level, n.Complexity.Word = hostile, hostile
		n.Phase = hostile
		for j := range n.After {
			n.After[j].From = hostile
		}
	}
	e.Nodes[3].Key = ir.Key(hostile)
	g := e.Gates["lead-approves"]
	g.Approvers = []string{hostile}
	e.Gates["lead-approves"] = g
	for _, out := range [][]byte{
		dot.Write(e, dot.Options{}), dot.Write(e, dot.Options{Waves: true, Impact: ir.Key(hostile)}),
		dot.WritePolicies(hostile, dot.Policies(e)),
	} {
		for _, c := range []byte("\x00\x1b") {
			if bytes.IndexByte(out, c) >= 0 {
				t.Errorf("the byte %q is in the drawing", c)
			}
		}
		// Outside strings and HTML labels only the drawing's own words stand.
		rest := regexp.MustCompile(`"(\\.|[^"\\])*"`).ReplaceAllString(string(out), `""`)
		if strings.Contains(rest, "];}") || strings.Contains(string(out), "\u202e") {
			t.Errorf("text left its place:\n%s", rest)
		}
		if open, end := strings.Count(rest, "<B>"), strings.Count(rest, "</B>"); open != end {
			t.Errorf("%d <B>, %d </B>", open, end)
		}
	}
}

// L4-04: dead ends and single points of failure.
func TestPolicies(t *testing.T) {
	e := irtest.Rich()
	golden.Check(t, "testdata/policy.dot", dot.WritePolicies("Policies", dot.Policies(e)))
	e = irtest.Worked()
	s := e.Nodes[0].Steps
	s[0].Gates = nil
	e.Nodes[1].Steps[0].Agent = "nobody"
	e.Nodes[2].Steps[0].Fallback = []string{"spare"}
	e.Agents["spare"] = ir.Agent{Runner: "other"}
	var got []string
	for _, p := range dot.Policies(e) {
		for _, f := range p.Findings {
			got = append(got, string(p.Nodes[0])+" "+f.Kind)
		}
	}
	want := "1.1 single-point, 1.1 no-gate, 1.2a dead-end, 1.3 single-point"
	if strings.Join(got, ", ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// L4-04
func TestWhereAPolicyBreaks(t *testing.T) {
	agents := map[string]ir.Agent{"ann": {Runner: "claude"}, "bo": {Runner: "claude"}, "cy": {Runner: "codex"}, "eve": {Human: true}}
	gates := map[string]ir.Gate{"unit": {Kind: "command"}, "lead": {Kind: "human"}}
	judged := []string{"unit"}
	once := ir.StepLimits{Attempts: 1}
	for name, c := range map[string]struct {
		step ir.Step
		want string
	}{
		"nobody, nothing":              {ir.Step{}, "dead-end: nobody does step s and nothing judges it"},
		"nobody, judged":               {ir.Step{Gates: judged}, ""},
		"one that is not there":        {ir.Step{Agent: "dan", Gates: judged}, "dead-end: step s needs agent dan, which does not exist"},
		"one":                          {ir.Step{Agent: "ann", Gates: judged}, "single-point: step s has only agent ann: no fallback"},
		"a person":                     {ir.Step{Agent: "eve", Gates: judged}, ""},
		"two of one runner":            {ir.Step{Agent: "ann", Fallback: []string{"bo"}, Gates: judged}, "single-point: agent ann and its fallbacks all need runner claude"},
		"two of two runners":           {ir.Step{Agent: "ann", Fallback: []string{"bo", "cy"}, Gates: judged}, ""},
		"writes, not judged":           {ir.Step{Agent: "eve", Access: "write"}, "no-gate: step s changes files and nothing judges it"},
		"writes, judged":               {ir.Step{Agent: "eve", Access: "write", Gates: judged}, ""},
		"reads, not judged":            {ir.Step{Agent: "eve", Access: "read"}, ""},
		"one attempt":                  {ir.Step{Agent: "eve", Gates: judged, Next: "s", Limits: once}, "dead-end: a first fail of step s ends the node: it has one attempt"},
		"one attempt, then another":    {ir.Step{Agent: "eve", Gates: judged, Next: "build", Limits: once}, ""},
		"one attempt, before a person": {ir.Step{Agent: "eve", Gates: []string{"unit", "lead"}, Next: "s", Limits: once}, ""},
	} {
		c.step.Name = "s"
		e := &ir.Epic{Agents: agents, Gates: gates, Nodes: []ir.Node{{Key: "1", Steps: []ir.Step{c.step}}}}
		p := dot.Policies(e)
		var got []string
		for _, f := range p[0].Findings {
			got = append(got, f.Kind+": "+f.Message)
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
		border := map[string]string{"": "#3A74C4", "single-point": "#9A6412", "dead-end": "#C63C2B", "no-gate": "#C63C2B"}[strings.Split(c.want, ":")[0]]
		text := string(dot.WritePolicies("", p))
		if want := fmt.Sprintf(`color="%s", peripheries=%d, tooltip="step s"`, border, 1+strings.Count(border, "#C63C2B")); !strings.Contains(text, want) {
			t.Errorf("%s: not %s in\n%s", name, want, text)
		}
		if strings.Contains(text, "needs </FONT>") || strings.Contains(text, "0 attempts") || strings.Contains(text, "more way") {
			t.Errorf("%s: it says what is not there:\n%s", name, text)
		}
	}
}

func TestAPolicyOfSeveralSteps(t *testing.T) {
	e := irtest.Worked()
	e.Agents = map[string]ir.Agent{"zoe": {Runner: "sh", Model: "opus"}, "ann": {Runner: "claude", Model: "opus"}, "eve": {Human: true}}
	e.Runners["sh"] = ir.Runner{Kind: "command", Run: []string{"./agent.sh"}} // it is told no model
	e.Gates["review"] = ir.Gate{Kind: "review", Agent: "ann", Fallback: []string{"zoe"}}
	e.Nodes = e.Nodes[:1]
	e.Nodes[0].Steps = []ir.Step{
		{Name: "plan", Agent: "eve", Next: "plan"},
		{Name: "build", Agent: "zoe", Next: "build", Gates: []string{"unit"}},
		{Name: "check", Agent: "ann", Fallback: []string{"zoe"}, Next: "build", Gates: []string{"review"}},
		{Name: "land", Agent: "eve", Next: "elsewhere"},
	}
	p := dot.Policies(e)
	golden.Check(t, "testdata/steps.dot", dot.WritePolicies("Policies", p))
	for len(p) < 60 {
		p = append(p, p[0])
	}
	if text := string(dot.WritePolicies("Policies", p)); strings.Contains(text, "not drawn") {
		t.Errorf("of 60 policies:\n%s", text[len(text)-300:])
	}
	text := string(dot.WritePolicies("Policies", append(p, p[0])))
	if !strings.Contains(text, "1 more way of working not drawn") || strings.Count(text, "subgraph") != 60 {
		t.Errorf("of 61 policies:\n%s", text[len(text)-300:])
	}
}

func TestPoliciesOfSprintsWithTheirOwnGatesAreOne(t *testing.T) {
	e := irtest.Worked()
	for i := range e.Nodes {
		name := string(e.Nodes[i].Key) + "/verify"
		e.Gates[name] = ir.Gate{Kind: "command", Run: "make", From: "plan"}
		e.Nodes[i].Steps[0].Gates = []string{name}
	}
	if p := dot.Policies(e); len(p) != 1 || len(p[0].Nodes) != 4 {
		t.Errorf("%d policies", len(p))
	}
}

func BenchmarkWrite(b *testing.B) {
	e := irtest.Large(10_000)
	for b.Loop() {
		b.SetBytes(int64(len(dot.Write(e, dot.Options{}))))
	}
}
