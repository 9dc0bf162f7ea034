package dot_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/dot"
	"github.com/ralph-compiler/ralph/ir/irtest"
)

// drawn makes an epic of lines "KEY: KEY …", what each waits for behind the colon; the
// estimate of a node is an hour, or what hours says.
func drawn(hours map[ir.Key]int64, lines ...string) *ir.Epic {
	e := &ir.Epic{}
	for _, l := range lines {
		key, after, _ := strings.Cut(l, ":")
		n := ir.Node{Key: ir.Key(key), Kind: ir.Work, Complexity: ir.Complexity{Level: "simple"}, Limits: ir.NodeLimits{EstimateMS: 3_600_000 * max(hours[ir.Key(key)], 1)}}
		for k := range strings.FieldsSeq(after) {
			n.After = append(n.After, ir.Edge{Key: ir.Key(k), From: "number", Type: ir.Blocks})
		}
		e.Nodes = append(e.Nodes, n)
	}
	return e
}

// lineOf is the style of the line from one node or point to another, "none" if there is none.
func lineOf(text, from, to string) string {
	_, rest, ok := strings.Cut(text, fmt.Sprintf("\n  %q -> %q [", from, to))
	if !ok {
		return "none"
	}
	style, _, _ := strings.Cut(rest, "];")
	for name, color := range map[string]string{"path": "#D9730D", "faded": "#DADDE1", "affected": "#7A3FC4", "implied": "#B9BEC5"} {
		if strings.Contains(style, color) {
			return name
		}
	}
	return "plain"
}

var joined = []string{"a", "b", "c", "x: a b c", "y: a b c", "z: a b c"}

func TestTheCriticalPathRunsThroughAPoint(t *testing.T) {
	is := func(what, text, from, to, want string) {
		t.Helper()
		if got := lineOf(text, from, to); got != want {
			t.Errorf("%s: %s -> %s is %s, want %s", what, from, to, got, want)
		}
	}
	const point = "#before x"
	text := string(dot.Write(drawn(map[ir.Key]int64{"b": 3, "y": 3}, joined...), dot.Options{}))
	for from, want := range map[string]string{"a": "plain", "b": "path", "c": "plain"} {
		is("b, y", text, from, point, want)
		is("b, y", text, from, "x", "none")
	}
	for to, want := range map[string]string{"x": "plain", "y": "path", "z": "plain"} {
		is("b, y", text, point, to, want)
	}
	if !strings.Contains(text, `"#before x" [shape=point, `) {
		t.Errorf("there is no point:\n%s", text)
	}

	// The path leaves by another line: the one into the point is not on it.
	text = string(dot.Write(drawn(map[ir.Key]int64{"b": 3, "w": 9}, append(slices.Clone(joined), "w: b")...), dot.Options{}))
	is("b, w", text, "b", point, "plain")
	is("b, w", text, point, "x", "plain")
	is("b, w", text, "b", "w", "path")
	text = string(dot.Write(drawn(map[ir.Key]int64{"b": 3, "w": 9}, append(slices.Clone(joined), "w: b")...), dot.Options{CriticalPath: true}))
	is("b, w alone", text, "b", point, "faded")
	is("b, w alone", text, "a", point, "faded")
	is("b, w alone", text, "b", "w", "path")

	// The path does not touch the point.
	text = string(dot.Write(drawn(map[ir.Key]int64{"w": 9}, append(slices.Clone(joined), "w")...), dot.Options{}))
	is("w", text, "b", point, "plain")
	is("w", text, point, "x", "plain")

	// What comes before is done: the path begins behind the point.
	done := drawn(map[ir.Key]int64{"y": 3}, joined...)
	for i := range 3 {
		done.Nodes[i].Done = true
	}
	text = string(dot.Write(done, dot.Options{}))
	is("what comes before is done", text, "b", point, "plain")
	is("what comes before is done", text, point, "y", "plain")

	text = string(dot.Write(drawn(nil, joined...), dot.Options{Impact: "x"}))
	is("what x affects", text, "a", point, "faded")
	is("what x affects", text, point, "x", "faded")

	text = string(dot.Write(drawn(nil, joined...), dot.Options{Impact: "b"}))
	is("what b affects", text, "a", point, "faded")
	is("what b affects", text, "b", point, "affected")
	is("what b affects", text, point, "z", "affected")
}

func TestAPointNeedsThreeAndThree(t *testing.T) {
	for name, lines := range map[string][]string{
		"two that wait":     {"a", "b", "c", "x: a b c", "y: a b c", "z: a b"},
		"two are waited on": {"a", "b", "x: a b", "y: a b", "z: a b"},
		"not the same":      {"a", "b", "c", "d", "x: a b c", "y: a b d", "z: b c d"},
	} {
		if text := string(dot.Write(drawn(nil, lines...), dot.Options{})); strings.Contains(text, "#before") {
			t.Errorf("%s: there is a point:\n%s", name, text)
		}
	}
	if text := string(dot.Write(drawn(nil, "a", "b: gone"), dot.Options{})); strings.Contains(text, "gone") || strings.Contains(text, "->") {
		t.Errorf("what is not there is drawn:\n%s", text)
	}
	// What does not block runs through no point, and what is not there is not drawn.
	e := drawn(nil, joined...)
	for i := range 3 {
		x := &e.Nodes[3+i]
		x.After = append(x.After, ir.Edge{Key: "gone", Type: ir.Blocks}, ir.Edge{Key: "a", Type: ir.Related})
	}
	text := string(dot.Write(e, dot.Options{}))
	if n := strings.Count(text, `-> "#before x"`); n != 3 || strings.Contains(text, "gone") {
		t.Errorf("%d lines run into the point:\n%s", n, text)
	}
	if n := strings.Count(text, "related"); n != 6 { // label and tooltip
		t.Errorf("%d dashed lines:\n%s", n, text)
	}
}

func TestAnImpliedLineIsThin(t *testing.T) {
	e := drawn(nil, "1", "2: 1", "3: 1 2")
	text := string(dot.Write(e, dot.Options{}))
	if got := lineOf(text, "1", "3"); got != "implied" {
		t.Errorf("1 -> 3 is %s", got)
	}
	if got := lineOf(text, "1", "2"); got != "path" {
		t.Errorf("1 -> 2 is %s", got)
	}
	if !strings.Contains(text, "thin: implied by other lines") || !strings.Contains(text, "bold line: critical path") {
		t.Errorf("the legend does not say so:\n%s", text)
	}
	text = string(dot.Write(drawn(nil, "1"), dot.Options{}))
	if strings.Contains(text, "implied") || strings.Contains(text, "bold line") {
		t.Errorf("the legend of one node explains lines:\n%s", text)
	}
}

func TestTheShapeOfADrawing(t *testing.T) {
	wide, long := drawn(nil, "a", "b", "c", "d", "e", "f"), drawn(nil, "a", "b: a", "c: b", "d: c", "e: d", "f: e")
	for name, c := range map[string]struct {
		e    *ir.Epic
		o    dot.Options
		want string
	}{
		"nothing":                 {&ir.Epic{}, dot.Options{}, "TB"},
		"side by side":            {wide, dot.Options{}, "LR"},
		"one after another":       {long, dot.Options{}, "TB"},
		"side by side, as asked":  {wide, dot.Options{Direction: "TB"}, "TB"},
		"one after another, same": {long, dot.Options{Direction: "LR"}, "LR"},
		"a word that is none":     {wide, dot.Options{Direction: "up"}, "LR"},
	} {
		if text := string(dot.Write(c.e, c.o)); !strings.Contains(text, "rankdir="+c.want+",") {
			t.Errorf("%s: not %s:\n%s", name, c.want, text)
		}
	}
	if text := string(dot.Write(&ir.Epic{}, dot.Options{})); strings.Contains(text, "speed-up") || strings.Contains(text, "critical path") {
		t.Errorf("an epic of nothing has figures:\n%s", text)
	}
	done := drawn(nil, "a", "b: a")
	done.Nodes[0].Done, done.Nodes[1].Done = true, true
	for name, e := range map[string]*ir.Epic{"without estimates": irtest.Worked(), "that is done": done} {
		if text := string(dot.Write(e, dot.Options{})); strings.Contains(text, "· critical path") {
			t.Errorf("a path %s has a length:\n%s", name, text)
		}
	}
	for n, straight := range map[int]bool{1500: false, 1501: true} {
		if text := string(dot.Write(irtest.Large(n), dot.Options{})); strings.Contains(text, "splines=line") != straight {
			t.Errorf("lines of %d nodes are straight: %v", n, !straight)
		}
	}
	for n, told := range map[int]bool{200: true, 201: false} {
		if text := string(dot.Write(irtest.Large(n), dot.Options{})); strings.Contains(text, "1 gate") != told {
			t.Errorf("gates of %d nodes are told: %v", n, !told)
		}
	}
}

func TestWhatABoxSays(t *testing.T) {
	agent := func(n *ir.Node, name string) { n.Steps = []ir.Step{{Agent: name}} }
	e := drawn(nil, "1", "2: 1", "3: 1", "4: 1", "5: 1", "6: 1", "7: 2 3 4 5 6", "8: 2 3 4 5")
	e.Nodes[6].Merges, e.Nodes[7].Merges = []ir.Key{"2", "3", "4", "5", "6"}, []ir.Key{"2", "3", "4", "5"}
	e.Nodes[0].Kind = ir.Manual
	for i := 1; i < 8; i++ {
		agent(&e.Nodes[i], "ann")
		e.Nodes[i].Phase = "2"
	}
	text := string(dot.Write(e, dot.Options{}))
	for what, want := range map[string]int{">merges 5 results<": 1, ">merges 2, 3, 4, 5<": 1, ">ann<": 0, "phase 2<": 0, `      "1" [`: 0, `  "1" [`: 1, `    "2" [`: 1} {
		if n := strings.Count(text, what); n != want {
			t.Errorf("%q stands %d times, not %d:\n%s", what, n, want, text)
		}
	}
	agent(&e.Nodes[3], "bo")
	text = string(dot.Write(e, dot.Options{Waves: true}))
	for what, want := range map[string]int{">ann<": 6, ">bo<": 1, "· phase 2<": 7, "· phase": 7, `"></FONT>`: 0, `"1" [`: 1} {
		if n := strings.Count(text, what); n != want {
			t.Errorf("by wave: %q stands %d times, not %d:\n%s", what, n, want, text)
		}
	}
}
