package machine

import (
	"slices"
	"testing"
)

// Nodes that could start are taken by their order, whatever their classes, and a full
// class holds back nobody of another.
func TestTheQueueTakesByOrderAcrossClasses(t *testing.T) {
	a, b := class{lane: "a"}, class{lane: "b"}
	q := newQueue(func(x, y int) bool { return x < y })
	for i, c := range []class{b, a, b, a, b} {
		q.add(c, i)
	}
	all := func(class) bool { return true }
	if got := q.take(4, all); !slices.Equal(got, []int{0, 1, 2, 3}) {
		t.Errorf("took %v", got)
	}
	if got := q.take(9, all); !slices.Equal(got, []int{0, 1, 2, 3, 4}) {
		t.Errorf("of all, took %v", got)
	}
	if got := q.take(9, func(c class) bool { return c == a }); !slices.Equal(got, []int{1, 3}) {
		t.Errorf("with b full, took %v", got)
	}
}
