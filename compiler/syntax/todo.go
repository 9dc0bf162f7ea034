package syntax

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
)

// emptyBox reports a check box without text.
func (p *parser) emptyBox(para *block) bool {
	at, end := trimmed(p.src, int(para.start), int(para.end)).start, int(para.end)
	box, after := boxAt(p.src[at:end])
	if box == NoBox || strings.TrimSpace(p.src[min(at+after, end):end]) != "" {
		return false
	}
	p.report(diag.New("empty-box", p.file.Range(at, at+3), "a check box has no text").WithDetail(
		"It says nothing to do, so it is not an item. Write what is to be done after it, or delete it."))
	return true
}

// freeTitle parses a text that has no keyword and no id.
func (p *parser) freeTitle(in inline) title {
	t := title{in: in, kind: KindWork}
	start := t.leading(in.Value)
	end := t.ending(p, in.Value, start)
	start = skipSpaces(in.Value, min(start, end))
	t.keyAt = span{start, start}
	t.text = in.text(start, max(start, end))
	t.path = t.text.Value
	t.struck = in.struckOut(start, end)
	if t.text.Value == "" { // "✅", "DONE": a status alone is the text
		t.text, t.path = in.text(0, len(in.Value)), in.Value
	}
	return t
}

// todos gives items without an id their place as key, and makes groups of the
// headings directly above items. The title is none, but for one that has items
// and is no higher than the others that have.
func (p *parser) todos() {
	for i := range p.cands {
		if c := &p.cands[i]; c.key.n == 0 {
			c.key = idMatch{id: strconv.Itoa(i + 1), look: goodID}
		}
	}
	p.repeats()
	filled, heading := []int{}, -1
	title := p.findTitle()
	for i := range p.stream {
		switch e := &p.stream[i]; {
		case e.b.kind == headingBlock:
			heading = i
		case e.cand >= 0 && heading >= 0:
			if len(filled) == 0 || filled[len(filled)-1] != heading {
				filled = append(filled, heading)
			}
			p.cands[e.cand].parent = heading
		}
	}
	above := title >= 0 && !slices.ContainsFunc(filled, func(h int) bool { return h != title && p.stream[h].b.level <= p.stream[title].b.level })
	of := make(map[int]int, len(filled)) // heading → its group
	for _, h := range filled {
		if h == title && above {
			continue
		}
		b := p.stream[h].b
		in := p.plain(int(b.a), int(b.b))
		t := p.freeTitle(in)
		of[h] = len(p.cands)
		p.stream[h].cand = int32(len(p.cands))
		p.cands = append(p.cands, cand{title: t, elem: h, phase: true, level: int(b.level), line: span{int(b.a), int(b.b)}, parent: -1, group: -1, filled: true})
		p.groupLevel = 6 // any heading ends a group
	}
	for _, c := range lists.Each(p.cands) {
		if g, ok := of[c.parent]; ok && !c.phase {
			c.group = g
			c.struck = c.struck || p.cands[g].struck
		}
	}
	p.cancelled()
	p.textAboveBoxes()
}

// textAboveBoxes names the list items without a box that hold items, in one hint.
func (p *parser) textAboveBoxes() {
	if len(p.aboveBoxes) == 0 {
		return
	}
	slices.SortFunc(p.aboveBoxes, func(a, b diag.Range) int { return a.Start - b.Start }) // inner ones were found first
	p.report(diag.Newf("text-above-boxes", p.aboveBoxes[0], "%s above check boxes", text.Counted(len(p.aboveBoxes), "list item without a box", "list items without a box")).WithDetail(
		"It is neither an item nor a group, so no agent gets its text. Write it as a heading, give it a box of its own, or move it into the text of the boxes.").
		WithAll(p.aboveBoxes[1:], maxRelated-1, "this one too"))
}

// openInside warns of boxes that are open inside a ticked one: the item is finished,
// and so they are not done.
func (p *parser) openInside(it *Item) {
	if it.DoneBy != "boxes" || it.Body.Boxes.Open == 0 {
		return
	}
	p.report(diag.Newf("open-inside-ticked", it.Body.Boxes.FirstOpen, "%s inside a ticked one", text.Counted(it.Body.Boxes.Open, "box is open", "boxes are open")).WithDetail(
		"The item is finished because its own box is ticked, so nothing inside it is run either. Clear the box of the item if something is left to do, or tick the boxes inside.").
		WithRelated(it.DoneRange, "the item is ticked here"))
}
