package depend

import (
	"slices"

	"github.com/ralph-compiler/ralph/internal/lists"
)

// cell is what is side by side in a group: the items of one number, or a
// run of marked items, or a single item.
type cell []int32

// layout puts groups in their order, gathers them into buckets (the tracks of
// one phase number) and takes each group apart into cells.
func (d *depender) layout() {
	members := d.members()
	d.orderGroups(members)
	d.cells = make([][]cell, len(d.Groups)+1)
	id := int32(0)
	number := func(g int32, idx []int32) {
		d.cells[g] = d.cut(idx)
		for _, c := range d.cells[g] {
			for _, i := range c {
				d.cell[i] = id
			}
			id++
		}
	}
	if d.Rules.groups == "chain" { // one list through the whole document, kept under "no group"
		all := numbers(0, len(d.Items))
		if d.Rules.whole {
			all = d.insert(all)
		}
		number(int32(len(d.Groups)), all)
		return
	}
	for g := range members {
		number(int32(g), members[g])
	}
}

// numbers returns the indices from lo up to hi.
func numbers(lo, hi int) []int32 {
	out := make([]int32, hi-lo)
	for i := range out {
		out[i] = int32(lo + i)
	}
	return out
}

// orderGroups fills d.order, d.bucket and d.buckets.
func (d *depender) orderGroups(members [][]int32) {
	for g := range members {
		if len(members[g]) > 0 {
			d.order = append(d.order, int32(g))
		}
	}
	// Where the document decides, and where the items have no group at all, a
	// group is where its first item is.
	numeric := !d.Rules.InDocument && d.sameShape()
	slices.SortStableFunc(d.order, func(a, b int32) int {
		if numeric && !d.loose(a) && !d.loose(b) && int(a) < len(d.Groups) && int(b) < len(d.Groups) {
			return d.Groups[a].Number.compareAll(d.Groups[b].Number)
		}
		return int(members[a][0] - members[b][0])
	})
	if numeric {
		d.placeLoose(members)
	}
	for i, g := range d.order {
		if i > 0 && numeric && !d.Rules.sequence && d.together(d.order[i-1], g) {
			last := len(d.buckets) - 1
			d.buckets[last] = append(d.buckets[last], g)
		} else {
			d.buckets = append(d.buckets, []int32{g})
		}
		d.bucket[g] = int32(len(d.buckets) - 1)
	}
}

func (d *depender) sameShape() bool {
	return !slices.ContainsFunc(d.Groups, func(g Group) bool {
		return g.ID != "" && (g.Number.family() != d.Groups[0].Number.family() || len(g.Number.Parts) == 0)
	})
}

func (d *depender) together(a, b int32) bool {
	return int(a) < len(d.Groups) && int(b) < len(d.Groups) && d.Groups[a].Number.SameBase(d.Groups[b].Number)
}

// cut takes the items of a group apart into cells, in order.
func (d *depender) cut(idx []int32) []cell {
	if !d.Rules.InDocument {
		idx = d.byNumberWithinShape(idx)
	}
	cells := make([]cell, 0, len(idx))
	for k, i := range idx {
		if k > 0 && d.joins(idx[k-1], i) {
			cells[len(cells)-1] = append(cells[len(cells)-1], i)
			continue
		}
		cells = append(cells, idx[k:k+1:k+1])
	}
	return cells
}

// joins reports whether two neighbours are side by side.
func (d *depender) joins(a, b int32) bool {
	if d.Items[a].FirstPart == b && b > 0 {
		return false
	}
	if d.Items[a].Marked || d.Items[b].Marked {
		return d.Items[a].Marked && d.Items[b].Marked && d.groupOf(a) == d.groupOf(b)
	}
	return !d.Rules.sequence && d.Items[a].Number.SameBase(d.Items[b].Number)
}

// byNumberWithinShape sorts items numerically. Items of different shapes cannot
// be compared: shapes follow each other as the document first shows them.
func (d *depender) byNumberWithinShape(idx []int32) []int32 {
	rank := map[string]int{}
	for _, i := range idx {
		if _, known := rank[d.Items[i].Number.family()]; !known {
			rank[d.Items[i].Number.family()] = len(rank)
		}
	}
	idx = slices.Clone(idx)
	slices.SortStableFunc(idx, func(a, b int32) int {
		x, y := &d.Items[a].Number, &d.Items[b].Number
		if x.Shape != y.Shape && x.family() != y.family() {
			return rank[x.family()] - rank[y.family()]
		}
		return x.compareAll(*y)
	})
	return idx
}

// groupEdges makes the edges by number inside groups, then those of statements
// that name the ends of a group.
func (d *depender) groupEdges() {
	if d.inForce {
		for g := range d.cells {
			for k, c := range d.cells[g] {
				d.joinTracks(c)
				if k == 0 {
					continue
				}
				sinks := d.filter(d.cells[g][k-1], outCell)
				sources := d.sources(c, inCell)
				if !d.room(len(sinks) * len(sources)) {
					return
				}
				for _, to := range sources {
					for _, from := range sinks {
						// A chain goes through groups; barriers begins those anew.
						if d.anySays && d.groupOf(from) != d.groupOf(to) && d.enters(to) {
							continue
						}
						d.addEdge(from, to, byNumber, d.Items[to].At)
					}
				}
			}
		}
	}
	d.pendingEdges()
}

// sources are the items of idx without the flag and without an own statement.
func (d *depender) sources(idx []int32, flag uint8) []int32 {
	return slices.DeleteFunc(slices.Clone(idx), func(i int32) bool { return d.has[i]&flag != 0 || d.replaced[i] })
}

// filter returns the items of idx without the flag.
func (d *depender) filter(idx []int32, flag uint8) []int32 {
	if len(idx) == 1 && d.has[idx[0]]&flag == 0 {
		return idx
	}
	return slices.DeleteFunc(slices.Clone(idx), func(i int32) bool { return d.has[i]&flag != 0 })
}

// pendingEdges makes the edges of statements that name a group by its ends, and
// of reverse labels that name it by its beginnings. All of these are taken
// before any of these edges exists.
func (d *depender) pendingEdges() {
	if len(d.pending) == 0 {
		return
	}
	members := d.members()
	ends, beginnings := d.endings(), map[int32][]int32{}
	taken := func(g int32, reverse bool) []int32 {
		if !reverse {
			return ends.of(g)
		}
		if _, known := beginnings[g]; !known {
			beginnings[g] = d.filter(members[g], inGroup)
		}
		return beginnings[g]
	}
	var made []edge
	for _, p := range d.pending {
		for _, g := range p.groups {
			items := taken(g, p.reverse)
			if !d.room(len(made) + len(items)) {
				return
			}
			for _, i := range items {
				from, to := i, p.item
				if p.reverse {
					from, to = to, from
				}
				made = append(made, newEdge(from, to, byExplicit, p.at))
			}
		}
	}
	d.addMade(made)
}

// members returns the items of each group, in document order; those of none at
// the end.
func (d *depender) members() [][]int32 {
	if d.byGroup == nil {
		d.byGroup = make([][]int32, len(d.Groups)+1)
		for i := range d.Items {
			g := d.groupOf(int32(i))
			d.byGroup[g] = append(d.byGroup[g], int32(i))
		}
	}
	return d.byGroup
}

// bucketEdges makes the edges between groups: by number, and by the labels of
// groups.
func (d *depender) bucketEdges() {
	members := d.members()
	d.groupLabels(members)
	if !d.inForce || d.Rules.groups == "none" {
		return
	}
	if d.Rules.groups == "barrier" {
		for _, groups := range d.buckets {
			if len(groups) > 1 || int(groups[0]) < len(d.Groups) && len(d.Groups[groups[0]].Number.Letters()) > 1 {
				d.joinGroups(groups, members)
			}
		}
	}
	if d.anySays {
		d.barriers(members)
		return
	}
	for b := 1; b < len(d.buckets) && d.Rules.groups == "barrier"; b++ {
		var before []int32
		for _, g := range d.buckets[b-1] {
			before = append(before, d.filter(members[g], outBucket)...)
		}
		for _, g := range d.buckets[b] {
			if !d.addEdges(before, d.sources(members[g], inBucket)) {
				return
			}
		}
	}
}

// joinGroups lets phase 3ab wait for the ends of 3a and 3b.
func (d *depender) joinGroups(groups []int32, members [][]int32) {
	tracks := lists.Map(groups, func(g int32) track {
		return track{letters: d.Groups[g].Number.Letters(), key: d.Groups[g].ID, at: d.Groups[g].At}
	})
	d.eachJoin(tracks, "phase", func(from, to int) {
		if !d.says(groups[to]) {
			d.addEdges(d.filter(members[groups[from]], outGroup), d.sources(members[groups[to]], inGroup))
		}
	})
}
