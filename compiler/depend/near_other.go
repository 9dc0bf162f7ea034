package depend

import (
	"strings"

	"github.com/ralph-compiler/ralph/diag"
)

// nearOther returns the id that is meant by one that no item has: not that of the item
// whose value it is, and none that the value names already.
func (p *valueParser) nearOther(id string) (string, bool) {
	if p.suggested >= maxSuggestions {
		return "", false
	}
	taken, self := p.inValue(), before(p.items, p.at, func(it *Item) diag.Range { return it.At })
	return p.near(id, func(key string) bool { return taken[key] || self >= 0 && key == string(p.items[self].Key) })
}

// nearOtherGroup does the same for groups.
func (p *valueParser) nearOtherGroup(id string) (string, bool) {
	if p.suggested >= maxSuggestions {
		return "", false
	}
	taken, self := p.inValue(), before(p.groups, p.at, func(g *Group) diag.Range { return g.At })
	return p.nearGroup(id, func(other string) bool { return taken[other] || self >= 0 && other == p.groups[self].ID })
}

// inValue returns the ids that the value names.
func (p *valueParser) inValue() map[string]bool {
	if p.taken != nil {
		return p.taken
	}
	p.taken = map[string]bool{}
	for _, w := range strings.FieldsFunc(p.text, func(r rune) bool { return strings.ContainsRune(" ,;/&+()[]\t", r) }) {
		p.taken[strings.Trim(w, ".:")] = true
	}
	return p.taken
}

// before returns the last of all that begin before a place in their file; -1.
func before[T any](all []T, at diag.Range, of func(*T) diag.Range) int {
	last := -1
	for i := range all {
		if r := of(&all[i]); r.File == at.File && r.Start <= at.Start && (last < 0 || r.Start > of(&all[last]).Start) {
			last = i
		}
	}
	return last
}

// someIDs shows how ids are written: those of the first items.
func (n *Names) someIDs() string {
	var out []string
	for i := range n.items[:min(len(n.items), 2)] {
		out = append(out, string(n.items[i].Key))
	}
	return strings.Join(out, ", ")
}
