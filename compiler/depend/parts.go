package depend

import (
	"strings"

	"github.com/ralph-compiler/ralph/diag"
)

// A list item with parts ("1." above "1.1") that has work of its own is an item,
// and the first item of its group: the first part waits for it, and who waits
// for it waits for the parts, too.

// partEdges lets the first part of an item wait for it, if it states nothing else.
func (d *depender) partEdges() {
	if d.Rules.numbers == "never" {
		return
	}
	for i := range d.Items {
		if f := d.Items[i].FirstPart; f > 0 && !d.replaced[f] {
			d.addEdge(int32(i), f, byNumber, d.Items[f].At)
		}
	}
}

// withParts keeps for later that item i, or what waits for it, names item j whole:
// with its parts. It reports whether j has parts, and i is none of them.
func (d *depender) withParts(i, j int32, at diag.Range, reverse bool) bool {
	if d.Items[j].FirstPart == 0 || strings.HasPrefix(string(d.Items[i].Key), string(d.Items[j].Key)+".") {
		return false
	}
	d.pending = append(d.pending, pendingTarget{item: i, groups: []int32{d.Items[j].Group}, at: at, reverse: reverse})
	return true
}
