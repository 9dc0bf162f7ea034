package depend

import (
	"slices"
)

// A statement about a group replaces the barrier in front of that group and
// nothing else: the numbers stay in force, whatever the dialect says of labels
// of items. It may take the group before out of the line, so that the barrier
// of the next one would hold back too little: once any group has a statement, a
// group without one waits for the sinks of all that is before it.

// barriers makes the edges of groups without a statement in a plan where a group
// has one.
func (d *depender) barriers(members [][]int32) {
	f := frontier{least: make([]int32, len(d.Items))}
	if d.Rules.groups == "chain" {
		d.chainBarriers(&f)
		return
	}
	f.rank = func(i int32) int32 { return d.bucket[d.groupOf(i)] }
	f.start(d.edges)
	for b, groups := range d.buckets {
		for _, g := range groups {
			if !d.says(g) && !d.meet(&f, int32(b), d.sources(members[g], inBucket)) {
				return
			}
		}
		for _, g := range groups {
			f.items = append(f.items, members[g]...)
		}
	}
}

// chainBarriers does the same where items follow the document: a group begins at
// the cell in which its first item is.
func (d *depender) chainBarriers(f *frontier) {
	f.rank = func(i int32) int32 { return d.cell[i] }
	f.start(d.edges)
	for k, c := range d.cells[len(d.Groups)] {
		entering := slices.DeleteFunc(d.sources(c, inCell), func(i int32) bool {
			return d.says(d.groupOf(i)) || !d.enters(i)
		})
		if !d.meet(f, int32(k), entering) {
			return
		}
		f.items = append(f.items, c...)
	}
}

// enters reports whether the group of an item begins in the item's cell.
func (d *depender) enters(i int32) bool { return d.cell[d.members()[d.groupOf(i)][0]] == d.cell[i] }

// says reports whether a group has a statement.
func (d *depender) says(g int32) bool { return int(g) < len(d.groupSay) && d.groupSay[g].says }

// meet lets items of a rank wait for the sinks of all ranks before it; false if
// there are too many edges.
func (d *depender) meet(f *frontier, rank int32, to []int32) bool {
	if rank == 0 || len(to) == 0 {
		return true
	}
	from := f.before(rank)
	for _, s := range from {
		f.least[s] = min(f.least[s], rank)
	}
	return d.addEdges(from, to)
}

// frontier keeps the sinks of all items that are before a rank.
type frontier struct {
	rank  func(item int32) int32
	least []int32 // by item: the least rank that waits for it
	items []int32 // those before, but for some that are not sinks
}

func (f *frontier) start(edges []edge) {
	for i := range f.least {
		f.least[i] = MaxPart
	}
	for _, e := range edges {
		if e.soft == 0 {
			f.least[e.from] = min(f.least[e.from], f.rank(e.to))
		}
	}
}

func (f *frontier) before(rank int32) []int32 {
	f.items = slices.DeleteFunc(f.items, func(i int32) bool { return f.least[i] < rank })
	return f.items
}
