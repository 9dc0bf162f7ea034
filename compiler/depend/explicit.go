package depend

import (
	"iter"
	"slices"

	"github.com/ralph-compiler/ralph/diag"
)

// explicitEdges makes the edges that labels state between items.
func (d *depender) explicitEdges() {
	for i := range d.Items {
		for t := range targets(d.after[i]) {
			d.expand(t, int32(i), false)
		}
		for t := range targets(d.blocks[i]) {
			d.expand(t, int32(i), true)
		}
		for _, st := range d.Items[i].Soft {
			soft := uint8(max(slices.Index(softTypes[:], st.typ), 1))
			for _, t := range d.names.read(st, d.diags).targets {
				if t.kind == toItem && t.item != int32(i) {
					e := newEdge(t.item, int32(i), byExplicit, t.at)
					e.soft = soft
					d.edges = append(d.edges, e)
				}
			}
		}
	}
}

// expand makes the edges of one target of item i, or of the reverse label.
// Groups by their ends are kept for later.
func (d *depender) expand(t target, i int32, reverse bool) {
	link := func(j int32) {
		if d.withParts(i, j, t.at, reverse) {
			return
		}
		from, to := j, i
		if reverse {
			from, to = i, j
		}
		d.addEdge(from, to, byExplicit, t.at)
	}
	d.checkOwnGroupAlone(i, t)
	switch t.kind {
	case toItem:
		if t.item == i {
			d.diags.Add(diag.Newf("self-dependency", t.at, "%s waits for itself", clip(string(d.Items[i].Key))).
				WithDetail("An item that depends on itself can never start. Remove %s from the list.", d.Items[i].Key).
				WithRelated(d.Items[i].At, "the item"))
			return
		}
		link(t.item)
	case toGroupEnds:
		d.pending = append(d.pending, pendingTarget{item: i, groups: t.groups, at: t.at, reverse: reverse})
	default:
		for j := range d.itemsOf(t, i, reverse) {
			if d.full {
				return
			}
			link(j)
		}
	}
}

// itemsOf yields the items that a target of item i's label names, or of its reverse
// label; groups whole.
func (d *depender) itemsOf(t target, i int32, reverse bool) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		lo, hi := int32(0), i
		if reverse { // what "all" means from the other side: all that follows
			lo, hi = i+1, int32(len(d.Items))
		}
		each := func(items []int32) bool {
			return !slices.ContainsFunc(items, func(j int32) bool { return !yield(j) })
		}
		switch t.kind {
		case toItem:
			yield(t.item)
		case toRange:
			each(d.names.between(t.lo, t.to))
		case toPrevious, toEarlier:
			for j := lo; j < hi; j++ {
				if (t.kind == toPrevious || d.groupOf(j) != d.groupOf(i)) && !yield(j) {
					return
				}
			}
		default:
			for _, g := range t.groups {
				if !each(d.members()[g]) {
					return
				}
			}
		}
	}
}
