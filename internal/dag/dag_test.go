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
		left      string
	}{
		{"nothing", 0, nil, nil, "[]", "[]", "[]"},
		{"no edge", 3, nil, []int32{2, 0, 1}, "[0 1 2]", "[2 0 1]", "[false false false]"},
		{"a chain against the preference", 3, [][2]int32{{2, 1}, {1, 0}}, []int32{0, 1, 2}, "[2 1 0]", "[2 1 0]", "[false false false]"},
		{"what is free goes on by preference", 4, [][2]int32{{0, 1}}, []int32{0, 1, 2, 3}, "[0 2 3 1]", "[0 1 2 3]", "[false false false false]"},
		{"an edge twice", 2, [][2]int32{{0, 1}, {0, 1}}, []int32{1, 0}, "[0 1]", "[0 1]", "[false false]"},
		{"a cycle and what waits for it", 4, [][2]int32{{0, 1}, {1, 0}, {1, 2}}, []int32{0, 1, 2, 3}, "[3]", "[3]", "[true true true false]"},
		{"itself", 1, [][2]int32{{0, 0}}, []int32{0}, "[]", "[]", "[true]"},
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
			if got := fmt.Sprint(g.Left(order)); got != c.left {
				t.Errorf("Left: got %s, want %s", got, c.left)
			}
		})
	}
}

// TestReachAndBehindAgreeWithTheirDefinition asks of random graphs, with more sources than a round holds,
// what following all edges finds.
func TestReachAndBehindAgreeWithTheirDefinition(t *testing.T) {
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
		var sources []int32
		for i := range n {
			if rnd.IntN(4) > 0 {
				sources = append(sources, int32(i))
			}
		}
		seen := 0
		g.Reach(g.Order(), sources, func(round []int32, reached []uint64) {
			for k, s := range round {
				seen++
				want := searched(n, es, s)
				if got := g.Behind(s); !slices.Equal(got, want) {
					t.Fatalf("behind %d: got %v, want %v in %v", s, got, want, es)
				}
				for i := range n {
					if got := reached[i]&(1<<k) != 0; got != want[i] {
						t.Fatalf("from %d to %d: got %v, want %v in %v", s, i, got, want[i], es)
					}
				}
			}
		})
		if seen != len(sources) {
			t.Fatalf("%d of %d sources were asked about", seen, len(sources))
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
