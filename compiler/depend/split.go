package depend

import (
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
)

// Shared returns statements of a plain number for one of its lettered items; again: not
// for the first, so their mistakes were already reported.
func Shared(sts []Statement, again bool) []Statement {
	out := slices.Clone(sts)
	for i := range out {
		out[i].again = again
	}
	return out
}

// split returns the number of lettered items that a plain one stands for.
func (n *Names) split(id string) (Number, bool) {
	num, ok := n.splits[n.fold(strings.TrimSuffix(id, ":"))]
	return num, ok
}

// clauseItems returns the items that a sentence names by an id.
func (d *depender) clauseItems(id string) []int32 {
	if i, ok := d.names.item(id); ok {
		return []int32{i}
	}
	if num, ok := d.names.split(id); ok {
		return d.names.between(num, num)
	}
	return nil
}

// listOf is where what is wrong with a statement goes: one that several items
// share is reported once.
func (d *depender) listOf(st Statement) *diag.List {
	if st.again {
		return new(diag.List)
	}
	return d.diags
}
