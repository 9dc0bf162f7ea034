package compiler

import (
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/spell"
)

// nearOther returns the id that is meant by one that no item has: not that of the item
// whose value it is, and none that the value names already.
func (p *valueParser) nearOther(id string) (string, bool) {
	near, ok := p.near(id)
	if !ok {
		return "", false
	}
	taken := p.inValue()
	if !taken[near] {
		return near, true
	}
	return spell.Nearest(id, slices.DeleteFunc(slices.Clone(p.keys), func(k string) bool { return taken[k] }))
}

// inValue returns the ids that the value names, and the item that it stands in.
func (p *valueParser) inValue() map[string]bool {
	if p.taken != nil {
		return p.taken
	}
	taken := map[string]bool{}
	for _, w := range strings.FieldsFunc(p.text, func(r rune) bool { return strings.ContainsRune(" ,;/&+()[]\t", r) }) {
		taken[strings.Trim(w, ".:")] = true
	}
	self := -1 // the last item that begins before the value
	for i := range p.items {
		if at := p.items[i].at; at.File == p.at.File && at.Start <= p.at.Start && (self < 0 || at.Start > p.items[self].at.Start) {
			self = i
		}
	}
	if self >= 0 {
		taken[string(p.items[self].key)] = true
	}
	p.taken = taken
	return taken
}

// someIDs shows how ids are written: those of the first items.
func (n *names) someIDs() string {
	var out []string
	for i := range n.items[:min(len(n.items), 2)] {
		out = append(out, string(n.items[i].key))
	}
	return strings.Join(out, ", ")
}
