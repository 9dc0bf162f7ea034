package depend

import (
	"slices"
	"sort"
)

// What waits for a group waits for its ends. A group without items is passed
// through: what waits for it waits for what the group itself would wait for.

// endings finds the ends of groups, each once. All are taken before an edge is made
// of any.
type endings struct {
	d       *depender
	members [][]int32
	known   map[int32][]int32
	size    int // of known, without items in common
	numeric bool

	blockers map[int32][]blocker // of groups without items

	path  []int32       // groups that are being looked for, or are in a circle with one
	place map[int32]int // of each, in path
	reach int           // the first place that the group looked for leads back to
}

// blocker is an item, or a group, of which a reverse label names a group.
type blocker struct{ item, group int32 }

func (d *depender) endings() *endings {
	return &endings{d: d, members: d.members(), known: map[int32][]int32{}, place: map[int32]int{}, numeric: !d.Rules.InDocument && d.sameShape()}
}

// of returns the items after which a group is done.
func (e *endings) of(g int32) []int32 {
	if out, known := e.known[g]; known {
		return out
	}
	if len(e.members[g]) == 0 {
		return e.search(g)
	}
	e.known[g] = e.d.filter(e.members[g], outGroup)
	return e.known[g]
}

// search returns the ends of a group without items. It may wait for itself, through
// others: all of such a circle have the same ends, which are known when the search is back
// at the first of them.
func (e *endings) search(g int32) (out []int32) {
	if at, open := e.place[g]; open {
		e.reach = min(e.reach, at)
		return nil
	}
	outer, at := e.reach, len(e.path)
	e.path, e.place[g], e.reach = append(e.path, g), at, at
	out = e.through(g)
	slices.Sort(out)
	out = slices.Compact(out)
	if e.size += len(out); !e.d.room(e.size) {
		out = nil
	}
	if e.reach < at {
		e.reach = min(outer, e.reach)
		return out
	}
	for _, h := range e.path[at:] {
		e.known[h] = out
		delete(e.place, h)
	}
	e.path, e.reach = e.path[:at], outer
	return out
}

// through returns what a group without items would wait for.
func (e *endings) through(g int32) (out []int32) {
	d := e.d
	switch {
	case d.says(g):
		for t := range targets(d.groupSay[g].readings) {
			out = append(out, e.target(g, t, false)...)
		}
	case d.inForce && d.Rules.groups != "none":
		out = e.before(g)
	}
	if e.blockers == nil {
		e.findBlockers()
	}
	for _, b := range e.blockers[g] {
		if b.item >= 0 {
			out = append(out, b.item)
		} else {
			out = append(out, e.of(b.group)...)
		}
	}
	return out
}

// before returns the ends of what is before a group without items and statement.
// A group without a statement waits for all before it, so that the search ends there.
func (e *endings) before(g int32) (out []int32) {
	d := e.d
	first := sort.Search(len(d.buckets), func(b int) bool { return !e.precedes(d.buckets[b][0], g) })
	for covered := false; first > 0 && !covered; {
		first--
		for _, h := range d.buckets[first] {
			out = append(out, e.of(h)...)
			covered = covered || !d.says(h)
		}
	}
	return out
}

// precedes reports whether a group with items is before one without.
func (e *endings) precedes(h, g int32) bool {
	d := e.d
	if e.numeric && int(h) < len(d.Groups) && !d.loose(h) {
		a, b := d.Groups[h].Number, d.Groups[g].Number
		return a.compareAll(b) < 0 && !a.SameBase(b)
	}
	return d.Items[e.members[h][0]].At.Start < d.Groups[g].At.Start
}

// findBlockers gathers the reverse labels that name groups without items.
func (e *endings) findBlockers() {
	e.blockers = map[int32][]blocker{}
	note := func(readings []reading, b blocker) {
		for t := range targets(readings) {
			for _, g := range t.groups {
				if len(e.members[g]) == 0 {
					e.blockers[g] = append(e.blockers[g], b)
				}
			}
		}
	}
	for i := range e.d.blocks {
		note(e.d.blocks[i], blocker{item: int32(i), group: -1})
	}
	for g := range e.d.groupSay {
		note(e.d.groupSay[g].blocks, blocker{item: -1, group: int32(g)})
	}
}

// target returns the items that a label of group g names: what the group waits
// for or, as a reverse label, what waits for the group.
func (e *endings) target(g int32, t target, reverse bool) []int32 {
	switch t.kind {
	case toItem:
		return []int32{t.item}
	case toRange:
		return e.d.names.between(t.lo, t.to)
	case toPrevious, toEarlier:
		return e.beside(g, reverse)
	}
	var out []int32
	for _, k := range t.groups {
		switch {
		case k == g: // groupLabels says so
		case reverse && t.kind == toGroupEnds:
			out = append(out, e.d.filter(e.members[k], inGroup)...)
		case t.kind == toGroup && len(e.members[k]) > 0:
			out = append(out, e.members[k]...)
		case !reverse:
			out = append(out, e.of(k)...)
		}
	}
	return out
}

// named returns the items that a statement of item i names.
func (e *endings) named(i int32, t target) (out []int32) {
	if t.kind != toGroupEnds {
		return slices.Collect(e.d.itemsOf(t, i, false))
	}
	for _, g := range t.groups {
		out = append(out, e.of(g)...)
	}
	return out
}

// beside returns the items that precede a group or, reversed, follow it.
func (e *endings) beside(g int32, reverse bool) []int32 {
	items := e.d.Items
	begin := sort.Search(len(items), func(i int) bool { return items[i].At.Start > e.d.Groups[g].At.Start })
	end := begin
	if m := e.members[g]; len(m) > 0 {
		begin, end = int(m[0]), int(m[len(m)-1])+1
	}
	if reverse {
		return numbers(end, len(items))
	}
	return numbers(0, begin)
}
