package ir

import (
	"cmp"
	"math"
	"slices"

	"github.com/ralph-compiler/ralph/internal/lists"
)

// Stats are a graph's numbers before anything runs. Only blocks edges count, except in
// SoftEdges.
type Stats struct {
	Nodes     int     `json:"nodes"`
	Done      int     `json:"done"` // finished by the plan
	Edges     int     `json:"edges"`
	SoftEdges int     `json:"soft_edges"`
	Roots     []Key   `json:"roots"`
	Leaves    []Key   `json:"leaves"`
	Waves     [][]Key `json:"waves"`   // what could run in parallel if all nodes took equally long; keys sorted
	Widest    int     `json:"widest"`  // number of nodes in the widest wave
	Longest   []Key   `json:"longest"` // longest path, in nodes; as many as there are waves

	// The rest is weighed: a node's weight is its estimate, in ms. Nodes
	// without one take the median of those that have one; if none has, each
	// weighs 1 and Unit is "nodes". Finished nodes weigh nothing.
	Unit     string  `json:"unit"` // ms, nodes
	Total    int64   `json:"total"`
	Path     int64   `json:"path"`     // weight of the critical path
	Critical []Key   `json:"critical"` // the heaviest path, from its first unfinished node
	SpeedUp  float64 `json:"speed_up"` // Total / Path: no number of agents is faster; 0 if nothing is left
	Slack    []Slack `json:"slack"`    // of each node, in the order of nodes
}

// Slack is how late a node may be without delaying the end.
type Slack struct {
	Key   Key   `json:"key"`
	Slack int64 `json:"slack"` // in Stats.Unit
}

// Stats computes the numbers of e's graph. Nodes on a cycle are in none of them
// but Nodes and Edges; an epic that Verify accepts has none.
func (e *Epic) Stats() Stats {
	l := newLinks(e.Nodes)
	order, _ := l.order()
	s := Stats{Nodes: len(e.Nodes), Unit: "nodes", Roots: []Key{}, Leaves: []Key{}, Waves: [][]Key{}}
	for i := range e.Nodes {
		s.Edges += len(l.preds[i])
		for _, a := range e.Nodes[i].After {
			if a.Type != Blocks {
				s.SoftEdges++
			}
		}
		if e.Nodes[i].Done {
			s.Done++
		}
		if len(l.preds[i]) == 0 {
			s.Roots = append(s.Roots, e.Nodes[i].Key)
		}
		if len(l.Next(int32(i))) == 0 {
			s.Leaves = append(s.Leaves, e.Nodes[i].Key)
		}
	}
	l.waves(&s, order)
	l.weigh(&s, order)
	return s
}

func (l *links) waves(s *Stats, order []int) {
	ones := make([]int64, len(l.nodes))
	for i := range ones {
		ones[i] = 1
	}
	finish := l.finish(order, ones)
	for _, i := range order {
		w := int(finish[i]) - 1
		if w == len(s.Waves) {
			s.Waves = append(s.Waves, nil)
		}
		s.Waves[w] = append(s.Waves[w], l.nodes[i].Key)
	}
	for _, w := range s.Waves {
		slices.SortFunc(w, CompareKeys)
		s.Widest = max(s.Widest, len(w))
	}
	s.Longest = l.heaviest(order, ones, finish)
}

// finish returns when each node would be done if everything starts as early as
// it can. Waves need it in order of waves, so order is enough: a node's wave is
// at most one above those before it.
func (l *links) finish(order []int, weight []int64) []int64 {
	f := make([]int64, len(l.nodes))
	for _, i := range order {
		for _, p := range l.preds[i] {
			f[i] = max(f[i], f[p])
		}
		f[i] += weight[i]
	}
	return f
}

// heaviest walks back from the node that is done last, always to the pred that
// kept it waiting; ties go to the smallest key.
func (l *links) heaviest(order []int, weight, finish []int64) []Key {
	later := func(a, b int) int {
		return cmp.Or(cmp.Compare(finish[b], finish[a]), CompareKeys(l.nodes[a].Key, l.nodes[b].Key))
	}
	path := []Key{}
	if len(order) == 0 {
		return path
	}
	for i := slices.MinFunc(order, later); finish[i] > 0; {
		path = append(path, l.nodes[i].Key)
		if finish[i] == weight[i] {
			break
		}
		i = slices.MinFunc(l.preds[i], later)
	}
	slices.Reverse(path)
	return path
}

func (l *links) weigh(s *Stats, order []int) {
	weight := make([]int64, len(l.nodes))
	var known []int64
	for i := range l.nodes {
		if ms := l.nodes[i].Limits.EstimateMS; ms > 0 {
			known = append(known, ms)
		}
	}
	typical := int64(1)
	if len(known) > 0 {
		slices.Sort(known)
		typical = known[len(known)/2]
		s.Unit = "ms"
	}
	for i, n := range lists.Each(l.nodes) {
		if n.Done {
			continue
		}
		weight[i] = typical
		if n.Limits.EstimateMS > 0 {
			// A century is long enough; sums stay far from overflow.
			weight[i] = min(n.Limits.EstimateMS, 100*365*24*3600*1000)
		}
		s.Total += weight[i]
	}

	finish := l.finish(order, weight)
	for _, i := range order {
		s.Path = max(s.Path, finish[i])
	}
	s.Critical = l.heaviest(order, weight, finish)
	if s.Path > 0 {
		s.SpeedUp = math.Round(float64(s.Total)/float64(s.Path)*100) / 100
	}

	latest := make([]int64, len(l.nodes)) // when a node must be done at the latest
	s.Slack = make([]Slack, len(l.nodes))
	for i := range latest {
		latest[i] = s.Path
		s.Slack[i].Key = l.nodes[i].Key
	}
	for _, i := range slices.Backward(order) {
		for _, next := range l.Next(int32(i)) {
			latest[i] = min(latest[i], latest[next]-weight[next])
		}
		s.Slack[i].Slack = latest[i] - finish[i]
	}
}
