package syntax

import (
	"cmp"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
)

// cancelled notes what is struck through.
func (p *parser) cancelled() {
	var at []diag.Range
	headings, others := 0, 0
	for i := range p.cands {
		if c := &p.cands[i]; c.struck {
			at = append(at, p.keyRange(c))
			p.plan.Cancelled = append(p.plan.Cancelled, Cancelled{ID: c.key.id, Range: p.keyRange(c), Phase: c.phase})
			if c.level < 7 {
				headings++
			} else {
				others++
			}
		}
	}
	if len(at) == 0 {
		return
	}
	what, part := "heading", "id"
	switch {
	case headings > 0 && others > 0:
		what = "part"
	case others > 0:
		what = lineKinds[p.dialect.In]
	}
	if p.dialect.In == InTodo {
		part = "text"
	}
	p.report(diag.Newf("cancelled", at[0], "%s cancelled", text.Counted(len(at), "struck-through "+what+" is", "struck-through "+what+"s are")).WithDetail(
		"A %s whose %s is inside ~~ is cancelled: it makes no node, and nothing below it belongs to another item. Remove the ~~ to bring it back.", what, part).
		WithAll(at[1:], maxRelated-1, "cancelled too"))
}

// lineKinds are what items are that are not headings.
var lineKinds = map[Place]string{InCheckbox: "check box", InTodo: "check box", InBold: "bold line", InTable: "table row"}

// struckTitles warns of what runs although its title is struck through.
func (p *parser) struckTitles() {
	for _, ph := range lists.Each(p.plan.Phases) {
		if ph.StruckTitle && len(ph.Items) > 0 {
			p.report(diag.New("struck-title", ph.NameRange, "only the name of the phase is struck through").WithDetail(
				"That changes nothing: its %s still in the plan. Put the ~~ around the whole heading, id included, to cancel the phase; strike the sprints through too.",
				text.Counted(len(ph.Items), "item is", "items are")).WithRelated(p.plan.Items[ph.Items[0]].KeyRange, "the first item that stays"))
		}
	}
	var first *Item
	var at []diag.Range
	for i := range p.plan.Items {
		if it := &p.plan.Items[i]; it.StruckTitle && !it.Done {
			first, at = cmp.Or(first, it), append(at, it.TitleRange)
		}
	}
	if first != nil {
		p.report(diag.New("struck-title", at[0], "only the title of an item is struck through").WithDetail(
			"That changes nothing: %s is an item like any other, and will run. To cancel it, put the ~~ around its id too, as in %s; otherwise remove them.", clip(first.ID, 20), p.struckThrough(first)).
			WithAll(at[1:], maxRelated-1, "this one too"))
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
