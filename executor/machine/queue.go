package machine

import (
	"slices"
	"sort"
)

// queues are the nodes that need attention: those that could start, run, or wait for a
// time.
type queues struct {
	*graph
	ready   queue
	active  set   // running, nothing in flight
	flying  set   // an effect is in flight
	strays  set   // in flight for nodes that a person ended
	timers  []int // waiting for something that comes by itself, by time
	expires []int // waiting for a person until a time, by time
	running int
	lanes   map[string]int // running, by lane
}

// set is a sorted set of node indices: small, and read in order.
type set []int

func (s *set) add(i int) {
	if at, found := slices.BinarySearch(*s, i); !found {
		*s = slices.Insert(*s, at, i)
	}
}

func (s *set) remove(i int) {
	if at, found := slices.BinarySearch(*s, i); found {
		*s = slices.Delete(*s, at, at+1)
	}
}

// queue holds nodes that could start, by class, each in order of (priority,
// place in the epic).
type queue struct {
	classes []class // in order of first use
	items   map[class][]int
	less    func(a, b int) bool
	n       int
}

func newQueue(less func(a, b int) bool) queue { return queue{items: map[class][]int{}, less: less} }

func (q *queue) place(c class, i int) (int, bool) {
	l := q.items[c]
	at := sort.Search(len(l), func(k int) bool { return !q.less(l[k], i) })
	return at, at < len(l) && l[at] == i
}

func (q *queue) add(c class, i int) {
	if _, known := q.items[c]; !known {
		q.classes = append(q.classes, c)
	}
	if at, found := q.place(c, i); !found {
		q.items[c] = slices.Insert(q.items[c], at, i)
		q.n++
	}
}

func (q *queue) remove(c class, i int) {
	if at, found := q.place(c, i); found {
		q.items[c] = slices.Delete(q.items[c], at, at+1)
		q.n--
	}
}

// take returns up to k nodes in order, as far as room (asked once for each one
// taken) lets their classes in. It changes nothing.
func (q *queue) take(k int, room func(class) bool) []int {
	var out []int
	next := make(map[class]int, len(q.classes))
	full := make(map[class]bool)
	for len(out) < k {
		best, from := -1, class{}
		for _, c := range q.classes {
			if full[c] || next[c] >= len(q.items[c]) {
				continue
			}
			if i := q.items[c][next[c]]; best < 0 || q.less(i, best) {
				best, from = i, c
			}
		}
		if best < 0 {
			break
		}
		if !room(from) {
			full[from] = true
			continue
		}
		next[from]++
		out = append(out, best)
	}
	return out
}
