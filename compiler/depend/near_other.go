package depend

import (
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// nearOther returns the id that is meant by one that no item has: not that of the item
// whose value it is, and none that the value names already.
func (p *valueParser) nearOther(id string) (string, bool) {
	self := before(p.items, p.at, func(it *Item) (string, diag.Range) { return string(it.Key), it.At })
	return p.nearest(id, self, p.near)
}

// nearOtherGroup does the same for groups.
func (p *valueParser) nearOtherGroup(id string) (string, bool) {
	self := before(p.groups, p.at, func(g *Group) (string, diag.Range) { return g.ID, g.At })
	return p.nearest(id, self, p.nearGroup)
}

func (p *valueParser) nearest(id string, self func() (string, bool), near func(string, func(string) bool) (string, bool)) (string, bool) {
	if p.suggested >= maxSuggestions {
		return "", false
	}
	taken := p.inValue()
	own, known := self()
	return near(id, func(other string) bool { return taken[other] || known && other == own })
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

// before finds the last of all that begin before a place in their file, and returns its id.
func before[T any](all []T, at diag.Range, of func(*T) (string, diag.Range)) func() (string, bool) {
	return func() (id string, ok bool) {
		last := -1
		for i := range all {
			if key, r := of(&all[i]); r.File == at.File && r.Start <= at.Start && r.Start > last {
				last, id, ok = r.Start, key, true
			}
		}
		return id, ok
	}
}

// someIDs shows how ids are written: those of the first items.
func (n *Names) someIDs() string {
	out := lists.Map(n.items[:min(len(n.items), 2)], func(it Item) string { return string(it.Key) })
	return strings.Join(out, ", ")
}

// NearValue reports a value that is nearly one of a control's known values.
func NearValue(at diag.Range, written, near, label string) diag.Diagnostic {
	return diag.Newf("near-miss-value", at, "%q is almost %q", clip(written), clip(near)).
		WithDetail("As a value of %s it would be read as prose and set nothing. Write %q. If the word is intended, rephrase it, or write the line without bold and colon.", label, near).
		WithFix(at, near)
}
