package syntax

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
)

func (p *parser) reportMiss(m *nearMiss) {
	form, own, reword, as := p.itemForm(), "its own line", "put a word in front of it", "prose"
	if m.phase {
		form = p.form(p.dialect.Phase)
	}
	if m.phase || p.dialect.In == InHeading {
		own, reword = "its own heading", "reword the heading"
	} else {
		form, as = p.freeForm(m.at.Start, form), p.readAs(m.at.Start)
	}
	d := diag.New("malformed-id", m.at, nearlyWhat(p.dialect.In, m.phase))
	if m.plain {
		d.Summary = "a list item is almost an item"
	}
	switch {
	case m.why != "":
		d = d.WithDetail("%s, so the line is read as %s.", m.why, as)
	case m.look == severalID:
		d = d.WithDetail("It names several ids, so it is read as %s: an item has one. Give each %s to make them items (%s).", as, own, form)
	default:
		d = d.WithDetail("Its id does not have the form of this dialect, so it is read as %s. Write %s, or %s.", as, form, reword)
	}
	p.report(d)
}

func nearlyWhat(in Place, phase bool) string {
	if phase {
		return "a heading is almost a group"
	}
	return "a " + cmp.Or(lineKinds[in], "heading") + " is almost an item"
}

// itemAbove returns the last item that begins above an offset, or nil.
func (p *parser) itemAbove(at int) *Item {
	if n := p.itemsUpTo(at); n > 0 {
		return &p.plan.Items[n-1]
	}
	return nil
}

// itemsUpTo returns how many items begin above an offset or at it.
func (p *parser) itemsUpTo(at int) int {
	return sort.Search(len(p.plan.Items), func(i int) bool { return p.plan.Items[i].Range.Start > at })
}

// itemIDs is the set of the ids of all items.
func (p *parser) itemIDs() map[string]bool {
	return lists.SetOf(p.plan.Items, func(it *Item) string { return it.ID })
}

// candIDs is the set of the ids of all candidates.
func (p *parser) candIDs() map[string]bool {
	return lists.SetOf(p.cands, func(c *cand) string { return c.key.id })
}

// itemAround returns the item whose heading or section an offset stands in, or nil.
func (p *parser) itemAround(at int) *Item {
	if it := p.itemAbove(at); it != nil && at < end(it) {
		return it
	}
	return nil
}

// readAs says how a line that is not an item was read.
func (p *parser) readAs(at int) string {
	it := p.itemAbove(at)
	if it == nil || at >= it.Body.Range.End {
		return "prose"
	}
	if slices.ContainsFunc(it.Body.Tasks, func(t ListItem) bool { return t.Range.Start <= at && at < t.Range.End }) {
		return "a task of " + clip(it.ID, 20)
	}
	return "text of " + clip(it.ID, 20)
}

// standsAsItem reports whether a line belongs to the item above it without being
// indented below it.
func (p *parser) standsAsItem(at int) bool {
	it := p.itemAbove(at)
	return it != nil && at < it.Body.Range.End && p.indent(at) <= p.indent(it.Range.Start)
}

// indent returns the columns of space in front of a line.
func (p *parser) indent(at int) int {
	at = lineStart(p.src, at)
	return columns(p.src[at:skipBlanks(p.src, at)])
}

func skipBlanks(s string, at int) int { return len(s) - len(strings.TrimLeft(s[at:], " \t")) }

// freeForm is the form of items with ids that no item has, after the one above.
func (p *parser) freeForm(at int, form string) string {
	it := cmp.Or(p.itemAbove(at), &p.plan.Items[0])
	taken := p.candIDs()
	for i := range p.misses {
		taken[p.misses[i].id] = true
	}
	first := p.freeID(it.ID, taken)
	taken[first] = true
	second := p.freeID(first, taken)
	if second == "" {
		return form
	}
	if len(p.dialect.Item.Keywords) > 0 {
		word := p.dialect.Item.Keywords[0] + " "
		return fmt.Sprintf("%q or %q", word+first+": Name", word+second+": Name")
	}
	return fmt.Sprintf("%q or %q", p.withStop(first)+" Name", p.withStop(second)+" Name")
}

// freeID returns the first id after another one that is not taken; "" if there is none.
func (p *parser) freeID(id string, taken map[string]bool) string {
	for range 1000 {
		if id = following(id); id == "" || !taken[id] && p.item.whole(id) {
			return id
		}
	}
	return ""
}

// withStop writes an id as it is in front of a title: a whole number of a check
// box has a full stop after it.
func (p *parser) withStop(id string) string {
	if p.item.starred && id != "" && strings.Trim(id, "0123456789") == "" {
		return id + "."
	}
	return id
}
