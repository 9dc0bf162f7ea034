package simulate

import (
	"container/heap"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// item is something that will happen.
type item struct {
	at    time.Time
	order int
	gone  bool // it was called off

	key   string // of an effect that ends
	event executor.Event
	said  []executor.Body // before it ends
	who   *PersonRule
	node  ir.NodeID
	crash *Crash
	start bool // apply starts
}

func (d *sim) at(t time.Time, it *item) *item {
	d.order++
	it.at, it.order = t, d.order
	heap.Push(&d.agenda, it)
	return it
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// next takes what happens next, unless the machine wakes before.
func (d *sim) next(wake time.Time) *item {
	for len(d.agenda) > 0 && d.agenda[0].gone {
		heap.Pop(&d.agenda)
	}
	if len(d.agenda) == 0 || !wake.IsZero() && wake.Before(d.agenda[0].at) {
		return nil
	}
	return heap.Pop(&d.agenda).(*item)
}

// agenda is a heap by time, then by order of arrival.
type agenda []*item

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	if !a[i].at.Equal(a[j].at) {
		return a[i].at.Before(a[j].at)
	}
	return a[i].order < a[j].order
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(*item)) }
func (a *agenda) Pop() any {
	old := *a
	it := old[len(old)-1]
	*a = old[:len(old)-1]
	return it
}
