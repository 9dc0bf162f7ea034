package machine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// deps makes a graph of lines "DEP DEP …", what each node needs by its number; "=" in front:
// it is done with a result, "x,y=": it passes these on. The last one is asked about.
func deps(lines ...string) *graph {
	gr := &graph{byID: map[ir.NodeID]*node{}}
	for i, l := range lines {
		n := &node{id: ir.NodeID(fmt.Sprint("n", i)), index: i}
		if passed, rest, is := strings.Cut(l, "="); is {
			l = rest
			for x := range strings.SplitSeq(passed, ",") {
				if x != "" {
					n.passes, n.through = true, append(n.through, executor.Result{Node: ir.NodeID(x)})
				}
			}
			if !n.passes {
				n.accepted = &success{}
			}
		}
		for d := range strings.FieldsSeq(l) {
			var at int
			fmt.Sscan(d, &at)
			n.deps = append(n.deps, at)
		}
		gr.nodes = append(gr.nodes, n)
		gr.byID[n.id] = n
	}
	return gr
}

func TestWhichResultsReachANode(t *testing.T) { // execution §3: transparent, each once, in the order of After
	ladder := []string{"=", "="}
	for i := 2; i < 120; i += 2 {
		both := fmt.Sprint(i-2, " ", i-1)
		ladder = append(ladder, both, both)
	}
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"nothing":                       {[]string{""}, ""},
		"one":                           {[]string{"=", "0"}, "n0"},
		"in their order":                {[]string{"=", "=", "1 0"}, "n1 n0"},
		"a result hides what is before": {[]string{"=", "= 0", "1"}, "n1"},
		"what one passes on":            {[]string{"x,y=", "0"}, "x y"},
		"what several pass on, once":    {[]string{"x,y=", "=", "z,y=", "0 1 2"}, "x y n1 z"},
		"what is passed on hides it":    {[]string{"=", "x= 0", "=", "1 2"}, "x n2"},
		"through one that has nothing":  {[]string{"=", "0", "1"}, "n0"},
		"through several, in order":     {[]string{"=", "=", "0 1", "=", "2 3"}, "n0 n1 n3"},
		"by two ways, once":             {[]string{"=", "0", "0", "1 2"}, "n0"},
		"through what passes nothing":   {[]string{"", "0", "1"}, ""},
		"through a ladder":              {ladder, "n0 n1"}, // 2 to the power of 59 ways
	} {
		gr := deps(c.lines...)
		var got []string
		for _, x := range gr.reached(gr.nodes[len(gr.nodes)-1]) {
			got = append(got, string(x.Node))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
}

func TestWhatIsChosenTakesAlongWhatItNeeds(t *testing.T) { // execution §2 (--only)
	for name, c := range map[string]struct {
		only []ir.NodeID
		want string
	}{
		"none":                {nil, "0 1 2 3"},
		"the last":            {[]ir.NodeID{"n3"}, "0 1 3"},
		"two":                 {[]ir.NodeID{"n2", "n1"}, "0 1 2"},
		"one that is gone":    {[]ir.NodeID{"gone", "n0"}, "0"},
		"none that is there":  {[]ir.NodeID{"gone"}, ""},
		"one nobody heard of": {[]ir.NodeID{"n9"}, ""},
	} {
		gr := deps("", "0", "", "1")
		gr.byID["gone"] = &node{id: "gone", index: -1, deps: []int{2}}
		gr.choose(c.only)
		var got []string
		for i, n := range gr.nodes {
			if n.selected {
				got = append(got, fmt.Sprint(i))
			}
		}
		if strings.Join(got, " ") != c.want || gr.byID["gone"].selected {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
}
