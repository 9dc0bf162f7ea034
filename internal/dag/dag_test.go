package dag

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"
)

func edges(es [][2]int32) iter.Seq2[int32, int32] {
	return func(yield func(int32, int32) bool) {
		for _, e := range es {
			if !yield(e[0], e[1]) {
				return
			}
		}
	}
}

func TestOrders(t *testing.T) {
	for _, c := range []struct {
		name      string
		n         int
		edges     [][2]int32
		preferred []int32
		order, by string
		cycles    string
	}{
		{"nothing", 0, nil, nil, "[]", "[]", "[]"},
		{"no edge", 3, nil, []int32{2, 0, 1}, "[0 1 2]", "[2 0 1]", "[]"},
		{"a chain against the preference", 3, [][2]int32{{2, 1}, {1, 0}}, []int32{0, 1, 2}, "[2 1 0]", "[2 1 0]", "[]"},
		{"what is free goes on by preference", 4, [][2]int32{{0, 1}}, []int32{0, 1, 2, 3}, "[0 2 3 1]", "[0 1 2 3]", "[]"},
		{"an edge twice", 2, [][2]int32{{0, 1}, {0, 1}}, []int32{1, 0}, "[0 1]", "[0 1]", "[]"},
		{"a cycle and what waits for it", 4, [][2]int32{{0, 1}, {1, 0}, {1, 2}}, []int32{0, 1, 2, 3}, "[3]", "[3]", "[[0 1]]"},
		{"two sets, one waits for the other", 4, [][2]int32{{1, 0}, {0, 1}, {1, 2}, {3, 2}, {2, 3}}, []int32{0, 1, 2, 3}, "[]", "[]", "[[0 1] [2 3]]"},
		{"the shortest of several", 3, [][2]int32{{1, 0}, {2, 0}, {2, 1}, {0, 2}}, []int32{0, 1, 2}, "[]", "[]", "[[0 2]]"},
		{"itself", 1, [][2]int32{{0, 0}}, []int32{0}, "[]", "[]", "[[0]]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := New(c.n, edges(c.edges))
			order := g.Order()
			if got := fmt.Sprint(order); got != c.order {
				t.Errorf("Order: got %s, want %s", got, c.order)
			}
			if got := fmt.Sprint(g.OrderBy(c.preferred)); got != c.by {
				t.Errorf("OrderBy: got %s, want %s", got, c.by)
			}
			if got := fmt.Sprint(g.Cycles()); got != c.cycles {
				t.Errorf("Cycles: got %s, want %s", got, c.cycles)
			}
		})
	}
}

// TestPathsAgreeWithTheirDefinition asks of random graphs, with more first nodes than a round
// holds, what following all edges finds.
func TestPathsAgreeWithTheirDefinition(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		n := 1 + rnd.IntN(150)
		var es [][2]int32
		for to := range n {
			for range rnd.IntN(3) {
				if to > 0 {
					es = append(es, [2]int32{int32(rnd.IntN(to)), int32(to)})
				}
			}
		}
		g := New(n, edges(es))
		leads := g.Leads(g.Order(), n*n, func(k int) (from, to int32) { return int32(k % n), int32(k / n) })
		for from := range n {
			want := searched(n, es, int32(from))
			if got := g.Behind(int32(from)); !slices.Equal(got, want) {
				t.Fatalf("behind %d: got %v, want %v in %v", from, got, want, es)
			}
			for to := range n {
				if got := leads[to*n+from]; got != want[to] {
					t.Fatalf("from %d to %d: got %v, want %v in %v", from, to, got, want[to], es)
				}
			}
		}
		redundant := make([]bool, len(es))
		g.Redundant(g.Order(), len(es), func(k int) (from, to int32) { return es[k][0], es[k][1] }, func(k int, leads func(int32) bool) {
			redundant[k] = true
			if !slices.ContainsFunc(es, func(e [2]int32) bool { return e[1] == es[k][1] && leads(e[0]) }) {
				t.Fatalf("%v is called redundant in %v, but leads to none that %d waits for", es[k], es, es[k][1])
			}
		})
		for k, e := range es {
			rest := slices.DeleteFunc(slices.Clone(es), func(o [2]int32) bool { return o == e })
			if got, want := redundant[k], searched(n, rest, e[0])[e[1]]; got != want {
				t.Fatalf("%v is redundant: got %v, want %v in %v", e, got, want, es)
			}
		}
	}
}

// searched follows all edges again and again until nothing new is reached.
func searched(n int, es [][2]int32, from int32) []bool {
	found := make([]bool, n)
	for more := true; more; {
		more = false
		for _, e := range es {
			if (e[0] == from || found[e[0]]) && !found[e[1]] {
				found[e[1]], more = true, true
			}
		}
	}
	return found
}

func TestBehindGoesThroughCycles(t *testing.T) {
	g := New(5, edges([][2]int32{{0, 1}, {1, 2}, {2, 1}, {2, 3}}))
	for from, want := range map[int32]string{0: "[false true true true false]", 1: "[false true true true false]", 3: "[false false false false false]", 4: "[false false false false false]"} {
		if got := fmt.Sprint(g.Behind(from)); got != want {
			t.Errorf("from %d: got %s, want %s", from, got, want)
		}
	}
}
