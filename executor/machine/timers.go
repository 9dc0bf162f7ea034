package machine

import (
	"slices"
)

// addTimer and dropTimer keep the waiting nodes whose end is known, by time.
func (q *queues) addTimer(n *node) {
	if list := q.waits(n); list != nil {
		at, _ := slices.BinarySearchFunc(*list, n, q.byUntil)
		*list = slices.Insert(*list, at, n.index)
	}
}

func (q *queues) dropTimer(n *node) {
	if list := q.waits(n); list != nil {
		if at, ok := slices.BinarySearchFunc(*list, n, q.byUntil); ok {
			*list = slices.Delete(*list, at, at+1)
		}
	}
}

func (q *queues) waits(n *node) *[]int {
	switch {
	case n.wait.Timed():
		return &q.timers
	case !n.wait.Until.IsZero():
		return &q.expires
	}
	return nil
}

func (gr *graph) byUntil(i int, n *node) int {
	if c := gr.nodes[i].wait.Until.Compare(n.wait.Until); c != 0 {
		return c
	}
	return i - n.index
}
