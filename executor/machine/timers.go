package machine

import (
	"slices"
)

// addTimer and dropTimer keep the waiting nodes whose end is known, by time.
func (r *Run) addTimer(n *node) {
	if list := r.waits(n); list != nil {
		at, _ := slices.BinarySearchFunc(*list, n, r.byUntil)
		*list = slices.Insert(*list, at, n.index)
	}
}

func (r *Run) dropTimer(n *node) {
	if list := r.waits(n); list != nil {
		if at, ok := slices.BinarySearchFunc(*list, n, r.byUntil); ok {
			*list = slices.Delete(*list, at, at+1)
		}
	}
}

func (r *Run) waits(n *node) *[]int {
	switch {
	case n.wait.Timed():
		return &r.timers
	case !n.wait.Until.IsZero():
		return &r.expires
	}
	return nil
}

func (r *Run) byUntil(i int, n *node) int {
	if c := r.nodes[i].wait.Until.Compare(n.wait.Until); c != 0 {
		return c
	}
	return i - n.index
}
