package ir_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/irtest"
)

func TestCompareKeysCountsAsPeopleDo(t *testing.T) {
	// S0-28 S0-31 K3: each line is in ascending order.
	for _, line := range []string{
		"0.1 1.1 1.2 1.2a 1.2ab 1.2b 1.3 1.9 1.10 1.10a 1a.1 2.1 3.1 3a.1 3a.2b 3ab.1 3b.1 10.1 12.1",
		"T9 T046 T046B T47 T100",
		"P1.1 P1.2 P1.10 P2.1 P10.1",
		"S1-T1 S1-T2 S1-T10 S2-T1 S10-T1",
		"FE-03-004 FE-03-005 FE-03-010 FE-12-001",
		"1 2 10 11",
		"1.01 1.1",
		"99999999999999999999998.1 99999999999999999999999.1",
	} {
		keys := strings.Fields(line)
		for i, a := range keys {
			for j, b := range keys {
				got, want := ir.CompareKeys(ir.Key(a), ir.Key(b)), 0
				if i != j {
					want = 2*min(1, max(0, i-j)) - 1
				}
				if got != want {
					t.Errorf("CompareKeys(%s, %s) = %d, want %d", a, b, got, want)
				}
			}
		}
	}
}

func TestCompareKeysIsATotalOrder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	alphabet := []string{"0", "00", "1", "2", "10", "a", "b", "A", ".", "-", "é", "\xff", ""}
	random := func() ir.Key {
		var b strings.Builder
		for range rnd.IntN(5) {
			b.WriteString(alphabet[rnd.IntN(len(alphabet))])
		}
		return ir.Key(b.String())
	}
	for range 20_000 {
		a, b, c := random(), random(), random()
		ab, bc, ac := ir.CompareKeys(a, b), ir.CompareKeys(b, c), ir.CompareKeys(a, c)
		if ab != -ir.CompareKeys(b, a) || (ab == 0) != (a == b) || ab <= 0 && bc <= 0 && ac > 0 {
			t.Fatalf("%q %q %q: %d %d %d", a, b, c, ab, bc, ac)
		}
	}
}

// graph makes nodes from "1.1; 1.2: 1.1; 1.3: 1.1 ~1.2": ~ is a soft edge.
func graph(text string) []ir.Node {
	var nodes []ir.Node
	for part := range strings.SplitSeq(text, ";") {
		key, after, _ := strings.Cut(part, ":")
		n := ir.Node{Key: ir.Key(strings.TrimSpace(key))}
		for k := range strings.FieldsSeq(after) {
			e := ir.Edge{Key: ir.Key(strings.TrimPrefix(k, "~")), Type: ir.Blocks}
			if strings.HasPrefix(k, "~") {
				e.Type = ir.Related
			}
			n.After = append(n.After, e)
		}
		nodes = append(nodes, n)
	}
	return nodes
}

func TestOrderIsKahnsWithTheSmallestKeyFirst(t *testing.T) {
	for _, c := range []struct{ name, graph, want string }{
		{"the worked example", "1.3: 1.2b 1.2a; 1.2b: 1.1; 1.2a: 1.1; 1.1", "1.1 1.2a 1.2b 1.3"}, // S0-43
		{"numbers count, not text", "1.10; 1.9; 1.2", "1.2 1.9 1.10"},
		{"a dependency comes first whatever its key", "1.1: 9.9; 9.9; 1.2", "1.2 9.9 1.1"},
		{"soft edges do not order", "1.1: ~1.2; 1.2", "1.1 1.2"}, // S4-21
		{"an edge to nowhere does not order", "1.1: 7.7; 1.0", "1.0 1.1"},
		{"an edge twice counts once", "1.2: 1.1 1.1; 1.1", "1.1 1.2"},
		{"nothing is in order", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			nodes := graph(c.graph)
			if c.graph == "" {
				nodes = nil
			}
			order, ok := ir.Order(nodes)
			if got := keysAt(nodes, order); !ok || got != c.want {
				t.Errorf("got %s, %v, want %s", got, ok, c.want)
			}
		})
	}
}

func keysAt(nodes []ir.Node, order []int) string {
	var keys []string
	for _, i := range order {
		keys = append(keys, string(nodes[i].Key))
	}
	return strings.Join(keys, " ")
}

func TestOrderDoesNotDependOnTheOrderOfTheInput(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	nodes := irtest.Large(200).Nodes
	want, _ := ir.Order(nodes)
	for range 20 {
		mixed := slices.Clone(nodes)
		rnd.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		if got, ok := ir.Order(mixed); !ok || keysAt(mixed, got) != keysAt(nodes, want) {
			t.Fatal("another order of the same nodes")
		}
	}
}

func TestCyclesGivesTheWholePath(t *testing.T) {
	for _, c := range []struct{ name, graph, want string }{
		{"none", "1.1; 1.2: 1.1", "[]"},
		{"itself", "1.1: 1.1", "[[1.1]]"},
		{"two", "1.1: 1.2; 1.2: 1.1", "[[1.1 1.2]]"},
		{"three, named from the smallest", "1.3: 1.1; 1.1: 1.2; 1.2: 1.3", "[[1.1 1.2 1.3]]"},
		{"two knots", "1.1: 1.2; 1.2: 1.1; 2.1: 2.2 1.1; 2.2: 2.1", "[[1.1 1.2] [2.1 2.2]]"},
		{"the shortest of several", "1.1: 1.2 1.3; 1.2: 1.3; 1.3: 1.1", "[[1.1 1.3]]"},
		{"what only waits for a cycle is not in it", "1.1: 1.2; 1.2: 1.1; 1.3: 1.2; 1.4: 1.3", "[[1.1 1.2]]"},
		{"soft edges make none", "1.1: ~1.2; 1.2: 1.1", "[]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := fmt.Sprint(ir.Cycles(graph(c.graph))); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestALongCycleIsFound(t *testing.T) {
	var nodes []ir.Node
	for i := range 20_000 {
		nodes = append(nodes, ir.Node{
			Key:   ir.Key(fmt.Sprint("1.", i)),
			After: []ir.Edge{{Key: ir.Key(fmt.Sprint("1.", (i+1)%20_000)), Type: ir.Blocks}},
		})
	}
	if got := ir.Cycles(nodes); len(got) != 1 || len(got[0]) != 20_000 || got[0][0] != "1.0" || got[0][1] != "1.1" {
		t.Errorf("%d cycles", len(got))
	}
}

func TestRedundantEdges(t *testing.T) {
	for _, c := range []struct{ name, graph, want string }{
		{"a shortcut", "1.1; 1.2: 1.1; 1.3: 1.1 1.2", "[{1.3 1.1 1.2 0}]"},
		{"a long shortcut", "1.1; 1.2: 1.1; 1.3: 1.2; 1.4: 1.3 1.1", "[{1.4 1.1 1.3 1}]"},
		{"a diamond has none", "1.1; 1.2a: 1.1; 1.2b: 1.1; 1.3: 1.2a 1.2b", "[]"},
		{"a soft edge is none", "1.1; 1.2: 1.1; 1.3: ~1.1 1.2", "[]"},
		{"a cycle stops the search", "1.1: 1.3; 1.2: 1.1; 1.3: 1.1 1.2", "[]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := fmt.Sprint(ir.RedundantEdges(graph(c.graph))); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestRedundantEdgesAgreesWithItsDefinition leaves each edge out of random
// graphs and asks whether its ends are still connected.
func TestRedundantEdgesAgreesWithItsDefinition(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 10))
	for range 20 {
		n := 3 + rnd.IntN(40)
		nodes := make([]ir.Node, n)
		for i := range nodes {
			nodes[i].Key = ir.Key(fmt.Sprint(i))
			for j := range i {
				if rnd.IntN(8) == 0 {
					nodes[i].After = append(nodes[i].After, ir.Edge{Key: ir.Key(fmt.Sprint(j)), Type: ir.Blocks})
				}
			}
		}
		var want []string
		for i := range nodes {
			for j, e := range nodes[i].After {
				rest := slices.Clone(nodes)
				rest[i].After = slices.Delete(slices.Clone(nodes[i].After), j, j+1)
				if slices.Contains(ir.Impact(rest, e.Key), nodes[i].Key) {
					want = append(want, fmt.Sprint(nodes[i].Key, e.Key))
				}
			}
		}
		var got []string
		for _, r := range ir.RedundantEdges(nodes) {
			got = append(got, fmt.Sprint(r.Node, r.Key))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got  %v\nwant %v", got, want)
		}
	}
}

func TestRedundantEdgesInAGraphOfManyDiamonds(t *testing.T) {
	var nodes []ir.Node
	add := func(key string, after ...string) {
		n := ir.Node{Key: ir.Key(key)}
		for _, k := range after {
			n.After = append(n.After, ir.Edge{Key: ir.Key(k), Type: ir.Blocks})
		}
		nodes = append(nodes, n)
	}
	add("0.a")
	for i := range 2500 {
		add(fmt.Sprint(i, ".b"), fmt.Sprint(i, ".a"))
		add(fmt.Sprint(i, ".c"), fmt.Sprint(i, ".a"))
		after := []string{fmt.Sprint(i, ".b"), fmt.Sprint(i, ".c")}
		switch i {
		case 1402:
			after = append(after, "1400.b")
		case 2499:
			after = append(after, "0.b")
		}
		add(fmt.Sprint(i+1, ".a"), after...)
	}
	want := "[{1403.a 1400.b 1402.b 2} {2500.a 0.b 2499.b 2}]"
	if got := fmt.Sprint(ir.RedundantEdges(nodes)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestImpactIsEverythingDownstream(t *testing.T) {
	nodes := graph("1.1; 1.2: 1.1; 1.3: 1.2; 2.1: ~1.1; 3.1: 1.3 2.1")
	for key, want := range map[ir.Key]string{"1.1": "[1.2 1.3 3.1]", "2.1": "[3.1]", "3.1": "[]", "9.9": "[]"} {
		if got := fmt.Sprint(ir.Impact(nodes, key)); got != want {
			t.Errorf("Impact(%s) = %s, want %s", key, got, want)
		}
	}
}

func TestStats(t *testing.T) {
	for _, c := range []struct {
		name  string
		nodes []ir.Node
		want  string
	}{
		// S0-44
		{"the worked example", graph("1.1; 1.2a: 1.1; 1.2b: 1.1; 1.3: 1.2a 1.2b"), "4 edges, waves [[1.1] [1.2a 1.2b] [1.3]], widest 2, longest [1.1 1.2a 1.3], critical [1.1 1.2a 1.3] of 3 nodes, ×1.33, slack [{1.1 0} {1.2a 0} {1.2b 0} {1.3 0}]"},
		{"estimates make another path critical", estimated("1.1; 1.2a: 1.1; 1.2b: 1.1; 1.3: 1.2a 1.2b", 10, 10, 50, 10), "4 edges, waves [[1.1] [1.2a 1.2b] [1.3]], widest 2, longest [1.1 1.2a 1.3], critical [1.1 1.2b 1.3] of 70 ms, ×1.14, slack [{1.1 0} {1.2a 40} {1.2b 0} {1.3 0}]"},
		{"a node without an estimate takes the median", estimated("1.1; 1.2: 1.1; 1.3: 1.2", 10, 0, 30), "2 edges, waves [[1.1] [1.2] [1.3]], widest 1, longest [1.1 1.2 1.3], critical [1.1 1.2 1.3] of 70 ms, ×1, slack [{1.1 0} {1.2 0} {1.3 0}]"},
		{"nothing", nil, "0 edges, waves [], widest 0, longest [], critical [] of 0 nodes, ×0, slack []"},
		{"finished nodes weigh nothing", finished("1.1; 1.2: 1.1; 1.3: 1.2; 2.1", "1.1"), "2 edges, waves [[1.1 2.1] [1.2] [1.3]], widest 2, longest [1.1 1.2 1.3], critical [1.2 1.3] of 2 nodes, ×1.5, slack [{1.1 0} {1.2 0} {1.3 0} {2.1 1}]"},
		{"all finished", finished("1.1; 1.2: 1.1", "1.1", "1.2"), "1 edges, waves [[1.1] [1.2]], widest 1, longest [1.1 1.2], critical [] of 0 nodes, ×0, slack [{1.1 0} {1.2 0}]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := (&ir.Epic{Nodes: c.nodes}).Stats()
			got := fmt.Sprintf("%d edges, waves %v, widest %d, longest %v, critical %v of %d %s, ×%v, slack %v",
				s.Edges, s.Waves, s.Widest, s.Longest, s.Critical, s.Path, s.Unit, s.SpeedUp, s.Slack)
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func estimated(text string, ms ...int64) []ir.Node {
	nodes := graph(text)
	for i := range nodes {
		nodes[i].Limits.EstimateMS = ms[i]
	}
	return nodes
}

func finished(text string, keys ...ir.Key) []ir.Node {
	nodes := graph(text)
	for i := range nodes {
		nodes[i].Done = slices.Contains(keys, nodes[i].Key)
	}
	return nodes
}
