package syntax

import (
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/text"
)

// cancelled notes what is struck through.
func (p *parser) cancelled() {
	var at []*cand
	for i := range p.cands {
		c := &p.cands[i]
		if c.struck {
			at = append(at, c)
			p.plan.Cancelled = append(p.plan.Cancelled, Cancelled{ID: c.key.id, Range: p.keyRange(c), Phase: c.phase})
		}
	}
	if len(at) == 0 {
		return
	}
	what, part := p.struckKind(at), "id"
	if p.dialect.In == InTodo {
		part = "text"
	}
	d := diag.Newf("cancelled", p.keyRange(at[0]), "%s cancelled", text.Counted(len(at), "struck-through "+what+" is", "struck-through "+what+"s are")).WithDetail(
		"A %s whose %s stands inside ~~ is cancelled: it makes no node, and nothing below it belongs to another one. Remove the ~~ to bring it back.", what, part)
	for _, c := range at[1:min(len(at), maxRelated)] {
		d = d.WithRelated(p.keyRange(c), "cancelled too")
	}
	p.report(d)
}

// struckKind is what candidates are, if they are all the same.
func (p *parser) struckKind(list []*cand) string {
	kinds := map[string]bool{}
	kind := ""
	for _, c := range list {
		kind = "heading"
		if c.level == 7 {
			kind = map[Place]string{InCheckbox: "check box", InTodo: "check box", InBold: "bold line", InTable: "table row"}[p.dialect.In]
		}
		kinds[kind] = true
	}
	if len(kinds) > 1 {
		return "part"
	}
	return kind
}

// struckTitles warns of what runs although its title is struck through.
func (p *parser) struckTitles() {
	for i := range p.plan.Phases {
		ph := &p.plan.Phases[i]
		if ph.StruckTitle && len(ph.Items) > 0 {
			p.report(diag.New("struck-title", ph.NameRange, "only the name of the phase is struck through").WithDetail(
				"That changes nothing: its %s still in the plan. Put the ~~ around the whole heading, id included, to cancel the phase; strike the sprints through too.",
				text.Counted(len(ph.Items), "item is", "items are")).WithRelated(p.plan.Items[ph.Items[0]].KeyRange, "the first item that stays"))
		}
	}
	var d diag.Diagnostic
	n := 0
	for i := range p.plan.Items {
		it := &p.plan.Items[i]
		if !it.StruckTitle || it.Done {
			continue
		}
		switch n++; {
		case n == 1:
			d = diag.New("struck-title", it.TitleRange, "only the title of an item is struck through").WithDetail(
				"That changes nothing: %s is an item like any other, and it will run. Put the ~~ around its id too to cancel it, as in %s, or take them away.", clip(it.ID, 20), p.struckThrough(it))
		case n <= maxRelated:
			d = d.WithRelated(it.TitleRange, "this one too")
		}
	}
	if n > 0 {
		p.report(d)
	}
}

// struckThrough is the text of an item as it would be cancelled.
func (p *parser) struckThrough(it *Item) string {
	plain := strings.NewReplacer("~~", "", "\n", " ")
	id := plain.Replace(p.file.Text(it.KeyRange))
	if p.dialect.In == InTable {
		return "| ~~" + clip(id, 20) + "~~ |"
	}
	text := strings.TrimSpace(it.Keyword + " " + plain.Replace(p.src[it.KeyRange.Start:max(it.KeyRange.End, it.TitleRange.End)]))
	return "~~" + clip(text, 60) + "~~"
}
