package syntax

import (
	"strings"
	"unicode"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// Order is a plan's statement, outside of its items and groups, about their order: a
// list, waves or a drawing. One of Lines, Waves and Drawing is set. The compiler resolves
// its names.
type Order struct {
	Range   diag.Range // of the heading, or of the fence's opening line
	Headed  bool       // it is below a heading about dependencies or the order of execution
	Named   int        // ids of items and groups in its text: 0, 1 or 2 for more
	Lines   []OrderLine
	Waves   []Wave
	Drawing *Drawing
}

// OrderLine is a line of a list, "- **Storage (Phase 2)**: Depends on Phase 1".
type OrderLine struct {
	Name  Stated // without the bold
	Value Stated // to the end of the paragraph, as it is in the file
	Aside bool   // it is below another heading inside the section
	Plain bool   // its name is not bold: it is not a statement
}

// Wave is what may run side by side, after the wave before.
type Wave struct {
	Range diag.Range
	Tasks []Stated // ids
}

// Ends of headings below which lists and drawings state an order.
var orderHeadings = []string{"dependencies", "dependency graph", "execution order"}

// orderHeading reports whether the text of a heading ends so.
func orderHeading(text string) bool {
	text = strings.ToLower(strings.TrimRightFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }))
	for _, end := range orderHeadings {
		if before, ok := strings.CutSuffix(text, end); ok && (before == "" || !isWord(before[len(before)-1])) {
			return true
		}
	}
	return false
}

// orders finds what states an order outside the items, and hints at drawings and
// prose that seem to and are not read.
func (p *parser) orders() {
	o := orderFinder{p: p}
	for i, e := range lists.Each(p.stream) {
		if e.b.kind == headingBlock {
			o.heading(i, e)
			continue
		}
		o.fences(e.b, e)
	}
}

type orderFinder struct {
	p     *parser
	names *nameFinder
	until int // where the section ends that was looked at last
	below int // where the section below a heading of orderHeadings ends
}

func (o *orderFinder) named(from, to, limit int) int {
	if o.names == nil {
		o.names = o.p.newNameFinder()
	}
	return o.names.count(o.p.src[from:to], limit)
}

// heading looks at the section below a heading that is in no item.
func (o *orderFinder) heading(i int, e *elem) {
	p := o.p
	raw := p.src[e.b.a:e.b.b]
	about := strings.Contains(strings.ToLower(raw), "dependenc")
	if p.candAt(e) != nil || int(e.b.start) < o.until || !about && !orderHeading(raw) || p.itemAround(int(e.b.start)) != nil {
		return
	}
	s := Order{Range: p.file.Range(int(e.b.a), int(e.b.b)), Headed: true}
	reads, aside, end := orderHeading(raw), !orderHeading(raw), int(e.b.end)
	for k := i + 1; k < len(p.stream); k++ {
		n := &p.stream[k]
		if p.candAt(n) != nil || n.b.kind == headingBlock && n.b.level <= e.b.level {
			break
		}
		end = max(end, int(n.b.end))
		switch {
		case n.b.kind == headingBlock:
			aside = !orderHeading(p.src[n.b.a:n.b.b])
			reads = reads || !aside
		case reads:
			p.orderLines(&s, n.b, n.own, aside)
		}
		if o.ownFence(n.b) || s.Named > 1 {
			continue // it has a hint of its own
		}
		s.Named = min(2, s.Named+o.named(int(n.b.start), int(n.b.end), 2))
	}
	o.until = end
	if reads {
		o.below = end
	}
	switch {
	case len(s.Lines) > 0:
		if !about {
			s.Named = 0
		}
		p.plan.Orders = append(p.plan.Orders, s)
	case about && s.Named > 0:
		p.report(ProseNotRead(s.Range))
	}
}

// ProseNotRead is the hint at a section about dependencies that is not read.
func ProseNotRead(at diag.Range) diag.Diagnostic {
	return diag.New("graph-not-read", at, "a section about dependencies is not read").WithDetail(
		"Prose makes no edges. Only labels such as **Depends on**, tables with such a column, lines such as \"- **Phase 2**: Depends on Phase 1\" and the numbers do. State other dependencies in labels.")
}

// DrawingNotRead is the hint at a drawing that is not read.
func DrawingNotRead(at diag.Range) diag.Diagnostic {
	return diag.New("graph-not-read", at, "a drawing of dependencies is not read").WithDetail(
		"It names items of this plan, but only labels such as **Depends on**, tables with such a column, mermaid graphs and the numbers make edges. State other dependencies in labels.")
}

// orderLines gathers the lines of lists that begin with a bold name and a colon.
func (p *parser) orderLines(s *Order, b *block, own, aside bool) {
	switch b.kind {
	case listBlock:
		for i := range b.kids {
			p.orderLines(s, &b.kids[i], false, aside)
		}
	case itemBlock:
		for i, k := range lists.Each(b.kids) {
			switch {
			case i == 0 && k.kind == paraBlock:
				name, rest, colon, ok := p.boldStart(int(k.start), int(k.end))
				plain := !ok || !colon
				if plain {
					name, rest, ok = p.plainStart(int(k.start), int(k.end))
				}
				if ok {
					s.Lines = append(s.Lines, OrderLine{Name: p.statedAt(name.start, name.end), Value: p.statedAt(rest, int(k.end)), Aside: aside, Plain: plain})
				}
			case k.kind == listBlock && !own: // else they follow by themselves
				p.orderLines(s, k, false, aside)
			}
		}
	}
}

// plainStart reads a line such as "US1 depends on Setup", which is not a statement
// but looks like one: a name up to a colon or "depends".
func (p *parser) plainStart(at, end int) (name span, rest int, ok bool) {
	head := p.src[at:min(end, lineEnd(p.src, at), at+longestName)]
	cut := strings.Index(head, ":")
	if cut >= 0 {
		rest = at + cut + 1
	} else if cut = strings.Index(strings.ToLower(head), " depend"); cut >= 0 {
		rest = at + cut + 1
	}
	if cut <= 0 || strings.ContainsAny(head[:cut], "`<") {
		return name, 0, false
	}
	return span{at, at + len(strings.TrimRight(head[:cut], " *"))}, rest, true
}

func (p *parser) statedAt(from, to int) Stated {
	return Stated{Value: p.src[from:to], Range: p.file.Range(from, to)}
}

// fences looks at the fences of an element, also those inside its list items.
func (o *orderFinder) fences(b *block, e *elem) {
	switch b.kind {
	case fenceBlock:
		o.fence(b)
	case listBlock, itemBlock:
		if e.own || e.cand >= 0 {
			return // what is in it follows by itself
		}
		for i := range b.kids {
			o.fences(&b.kids[i], e)
		}
	}
}

// ownFence reports whether a block is a fence that is looked at by itself.
func (o *orderFinder) ownFence(b *block) bool {
	return b.kind == fenceBlock && (o.p.language(b) == "mermaid" || o.wavy(b))
}

// wavy reports whether a fence holds waves.
func (o *orderFinder) wavy(b *block) bool {
	return o.p.language(b) == "json" && strings.Contains(o.p.src[b.a:b.b], `"waves"`)
}

func (o *orderFinder) fence(b *block) {
	p := o.p
	headed := int(b.start) < o.below
	order := Order{Range: p.file.Range(int(b.start), lineEnd(p.src, int(b.start))), Headed: headed}
	switch {
	case headed && o.wavy(b):
		waves, at, why := p.waves(int(b.a), int(b.b))
		if why != "" {
			p.report(diag.New("graph-not-read", at, "the waves are not read").WithDetail(
				"Here %s. Write an object {\"waves\": [{\"tasks\": [\"1.1\", \"1.2\"]}, …]}, or state the dependencies in labels.", why))
			return
		}
		order.Waves = waves
		p.plan.Orders = append(p.plan.Orders, order)
	case p.drawing(b):
		d, at, why := (*Drawing)(nil), 0, ""
		if p.language(b) == "mermaid" {
			d, at, why = p.mermaid(int(b.a), int(b.b))
		}
		order.Named = o.named(int(b.a), int(b.b), 2)
		switch {
		case d != nil:
			order.Drawing = d
			p.plan.Orders = append(p.plan.Orders, order)
		case why != "" && (headed || order.Named > 1):
			p.report(diag.New("graph-not-read", p.file.Range(at, max(at, lineEnd(p.src, at))), "the drawing is not read").WithDetail(
				"Here %s, so nothing of this drawing is read. Write nodes such as T1[Task 1] and arrows such as -->, or state the dependencies in labels.", why))
		case order.Named >= 2:
			p.report(DrawingNotRead(order.Range))
		}
	}
}

// language returns the info string of a fence, in lower case.
func (p *parser) language(b *block) string {
	if b.info < 0 {
		return ""
	}
	return strings.ToLower(strings.TrimSpace(p.src[b.info:lineEnd(p.src, int(b.info))]))
}
