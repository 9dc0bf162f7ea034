package syntax

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// overview reads the ticked boxes of lists that give an overview of the items:
// "- [x] **Phase 2: Storage**" outside the items says that item 2 is finished,
// whatever the boxes inside the item say.
func (p *parser) overview() {
	if p.dialect.In == InTodo || !strings.Contains(p.src, "[x]") && !strings.Contains(p.src, "[X]") {
		return
	}
	items := make(map[string]*Item, len(p.plan.Items))
	for _, it := range lists.Each(p.plan.Items) {
		items[it.ID] = it
		for _, id := range it.Names {
			items[id] = it
		}
	}
	for _, e := range lists.Each(p.stream) {
		if (e.b.kind == listBlock || e.b.kind == itemBlock) && p.candAt(e) == nil && p.itemAround(int(e.b.start)) == nil {
			p.overviewList(e.b, e.own, items)
		}
	}
}

// overviewList looks at the lines of a list or a list item; own: at that of the item alone,
// whose children follow by themselves.
func (p *parser) overviewList(b *block, own bool, items map[string]*Item) {
	if at, end, ok := b.first(); ok && b.kind == itemBlock {
		p.overviewLine(at, min(lineEnd(p.src, at), end), items)
	}
	for i := range b.kids {
		if k := &b.kids[i]; !own && (k.kind == listBlock || b.kind == listBlock) {
			p.overviewList(k, false, items)
		}
	}
}

func (p *parser) overviewLine(at, end int, items map[string]*Item) {
	box, n := boxAt(p.src[at:end])
	if box != Ticked {
		return
	}
	text := min(at+n, end)
	in := p.plain(text+stamp(p.src[text:end]), end)
	t, ok := p.titleOf(in, &p.item, true)
	if !ok || t.struck {
		return
	}
	tick := p.file.Range(at, at+3)
	named, unknown := overviewItems(&t.key, items)
	if len(named) == 0 {
		return
	}
	rest := strings.TrimSpace(t.text.Value)
	switch {
	case unknown != "":
		if t.keyword != "" {
			p.report(diag.Newf("label-form", tick, "this ticked box finishes nothing").WithDetail(
				"It names several items, but there is no item %s. If the work of the others is done, name only those, or give each a box of its own.", quoted(unknown)))
		}
	case len(named) == 1 && !p.isNamed(&t, named[0]), len(named) > 1 && rest != "":
		if t.keyword != "" && !inPart(strings.ToLower(rest)) && named[0].Body.Label(Status) == nil {
			p.ticks = append(p.ticks, lostTick{named[0], tick, t.keyword + " " + named[0].ID, rest})
		}
	default:
		for _, it := range named {
			if l, done := status(&it.Body); !it.Done && (l == nil || done) {
				it.Done, it.DoneBy, it.DoneRange = true, "overview", tick
			}
		}
	}
}

// overviewItems returns the items that a box names, each once, and an id that none has.
func overviewItems(key *idMatch, items map[string]*Item) (named []*Item, unknown string) {
	for _, id := range append([]string{key.id}, key.also...) {
		it := items[id]
		if it == nil {
			it = items[simplify(id)]
		}
		switch {
		case it == nil:
			unknown = cmp.Or(unknown, id)
		case !slices.Contains(named, it):
			named = append(named, it)
		}
	}
	return named, unknown
}

// isNamed reports whether nothing but the item's title, and perhaps a remark after
// it, follows its id.
func (p *parser) isNamed(t *title, it *Item) bool {
	rest := strings.TrimSpace(t.text.Value)
	if rest == "" {
		return true
	}
	n, ok := foldPrefix(rest, strings.ToLower(it.Title))
	if !ok || it.Title == "" || inPart(strings.ToLower(rest[n:])) {
		return false
	}
	tail := strings.TrimSpace(rest[n:])
	r, _ := utf8.DecodeRuneInString(tail)
	end := p.src[t.text.sourceEnd(n):]
	return tail == "" || strings.ContainsRune(":;,.([|-–—…", r) || isEmoji(r) || strings.HasPrefix(end, "**") || strings.HasPrefix(end, "__")
}
