package depend

import (
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
)

// Lists of groups, waves and drawings state an order outside the items. What
// they state about an item or a group is kept beside its labels (drawn.go). Each
// is read as a whole or not at all.

// drawn is what lists, waves and drawings state about an item or a group.
type drawn struct {
	targets []target // what it waits for; none: it can start at once
	lost    bool     // a label speaks of the same
	at      diag.Range
}

// readOrders reads what is outside the items.
func (in *Input) readOrders(diags *diag.List) {
	if len(in.Orders) == 0 {
		return
	}
	o := orderReader{Input: in, diags: diags, known: newOrderNames(in), said: map[int32]*drawn{}}
	for i := range in.Orders {
		switch order := &in.Orders[i]; {
		case order.Drawing != nil:
			o.drawing(order)
		case len(order.Waves) > 0:
			o.waves(order)
		default:
			o.lines(order)
		}
	}
	for v, s := range o.said {
		if n := int32(len(in.Items)); v >= n {
			in.Groups[v-n].drawn = s
		} else {
			in.Items[v].drawn = s
		}
	}
}

// orderReader knows items and groups as vertices: items come first.
type orderReader struct {
	*Input
	diags *diag.List
	known *orderNames
	said  map[int32]*drawn
}

// say adds targets to what a vertex waits for.
func (o *orderReader) say(v int32, at diag.Range, targets []target) {
	s := o.said[v]
	switch {
	case s == nil:
		o.said[v] = &drawn{targets: slices.Clip(targets), at: at}
	case len(targets) > 0: // the first of them may be those of others too
		s.targets = append(s.targets, targets...)
	}
}

// target is what stands for a vertex in a statement: a group by its ends.
func (o *orderReader) target(v int32, at diag.Range) target {
	if n := int32(len(o.Items)); v >= n {
		return target{kind: toGroupEnds, groups: []int32{v - n}, at: at}
	}
	return target{kind: toItem, item: v, at: at}
}

// groupOf returns the vertex of an item's group; -1 for a group, and for an item
// of none.
func (o *orderReader) groupOf(v int32) int32 {
	if n := int32(len(o.Items)); v < n && o.Items[v].Group >= 0 {
		return n + o.Items[v].Group
	}
	return -1
}

// parted returns the group of an item's parts, which has the item's id and the item
// in it; -1 if it has none.
func (o *orderReader) parted(v int32) int32 {
	n := int32(len(o.Items))
	if g := o.groupOf(v); g >= 0 && o.Groups[g-n].Word == "" && strings.EqualFold(o.Groups[g-n].ID, string(o.Items[v].Key)) {
		return g
	}
	return -1
}

// waves lets the items of a wave wait for all of the wave before.
func (o *orderReader) waves(order *syntax.Order) {
	var waves [][]int32
	seen := map[int32]diag.Range{}
	filled := map[int32]bool{} // groups of which an item is in the waves, other than the one of their id
	for _, w := range order.Waves {
		var wave []int32
		for _, t := range w.Tasks {
			v, ok := o.known.plain(trimID(t.Value))
			if !ok {
				o.unread(t.Range, true, "%q is neither an item nor a group of the plan", clip(trimID(t.Value)))
				return
			}
			if _, twice := seen[v]; twice {
				o.unread(t.Range, true, "%q appears twice", clip(trimID(t.Value)))
				return
			}
			seen[v] = t.Range
			wave = append(wave, v)
			if g := o.groupOf(v); g >= 0 && g != o.parted(v) {
				filled[g] = true
			}
		}
		if len(wave) > 0 {
			waves = append(waves, wave)
		}
	}
	var before []target
	for _, wave := range waves {
		here := make([]target, 0, len(wave))
		for _, v := range wave {
			if filled[v] { // its items speak for themselves
				continue
			}
			at := seen[v]
			if g := o.parted(v); g >= 0 && !filled[g] { // with all its parts
				v = g
			}
			o.say(v, at, before)
			here = append(here, o.target(v, at))
		}
		if len(here) > 0 {
			before = here
		}
	}
}

// unread says why a list, waves or a drawing is not read; near ones name what
// looks like an item but is not.
func (o *orderReader) unread(at diag.Range, near bool, why string, args ...any) {
	d := diag.Newf("graph-not-read", at, "this order is not read")
	if near {
		d.Severity = diag.Warning
	}
	o.diags.Add(d.WithDetail("Here "+why+", so nothing of this list or drawing is read. Fix it, or state the dependencies in labels such as **Depends on**.", args...))
}
