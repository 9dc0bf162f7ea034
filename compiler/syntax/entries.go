package syntax

import (
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/spell"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/internal/yaml"
)

// entries reads the list of the front matter that holds the items: mappings with an
// id, a content and a status. Which keys these are the dialect's columns say; status
// is always that.
func (p *parser) entries(k, v *yaml.Node, body int) {
	if v.Kind == yaml.Null {
		return
	}
	if v.Kind != yaml.Sequence {
		p.report(diag.Newf("front-matter-value", p.nodeRange(v, body), "%s takes a list of items", clip(k.Value, 20)).WithDetail(
			"Each item is a mapping with the keys id, content and status. Write it in that form."))
		return
	}
	e := entryReader{p: p, body: body, first: map[string]int{}, cancelled: map[string][]ListItem{}}
	for _, n := range v.Values {
		e.entry(n)
	}
	e.checkNames()
	p.foreignEntryKeys(e.foreign, body)
}

// statusKey is the key of an item's status, in every dialect.
var statusKey = []string{"status"}

type entryReader struct {
	p       *parser
	body    int
	first   map[string]int // id → index in p.listed
	foreign []*yaml.Node

	cancelled map[string][]ListItem // what each cancelled item waits for
	passed    int                   // ids that they handed on

	suggested int
}

func (e *entryReader) entry(n *yaml.Node) {
	p := e.p
	if n.Kind != yaml.Mapping {
		e.bad(n, "an item of the front matter is not a mapping", "An item has the keys id, content and status, such as “- id: api” with “content: …” and “status: pending” below it.")
		return
	}
	it := Item{Level: 7, Kind: KindWork, Phase: -1, Range: p.nodeRange(n, e.body)}
	id, status := e.fields(&it, n)
	cancelled := false
	if id == nil {
		e.bad(n, "an item of the front matter has no id", "The id names the item in dependencies and on the command line. Write id: and a word of letters, digits, “-” and “_”.")
		return
	}
	it.ID, it.KeyRange = strings.TrimSpace(id.Value), p.nodeRange(id, e.body)
	if !p.item.whole(it.ID) || it.ID == "" {
		e.bad(id, "the id of an item does not have the dialect's form", "It is "+clip(it.ID, 60)+", and the form is "+clip(p.dialect.Item.ID, 60)+". Write an id of that form.")
		return
	}
	if it.Title == "" {
		e.bad(n, "an item of the front matter is empty", "The item "+clip(it.ID, 60)+" has no text, so it does not say what to do. Write content: and a text.")
		return
	}
	if status != nil {
		it.Done, cancelled = e.status(status)
		if it.Done {
			it.DoneBy, it.DoneRange = "status", p.nodeRange(status, e.body)
		}
	}
	if at, twice := e.first[it.ID]; twice {
		p.report(diag.Newf("duplicate-id", it.KeyRange, "%s appears twice", clip(it.ID, 30)).WithDetail(
			"Two items have the id %s; an id names one item. Give one of them another id.", it.ID).
			WithRelated(p.listed[at].KeyRange, "first declared here"))
		return
	}
	if cancelled {
		p.plan.Cancelled = append(p.plan.Cancelled, Cancelled{ID: it.ID, Range: it.KeyRange})
		e.cancelled[it.ID] = nil
		for i := range it.Body.Labels {
			e.cancelled[it.ID] = append(e.cancelled[it.ID], it.Body.Labels[i].Items...)
		}
		p.report(diag.Newf("cancelled", p.nodeRange(status, e.body), "%s is cancelled", clip(it.ID, 40)).WithDetail(
			"An item with this status makes no node, and what depends on it waits for what it depended on. Write status: pending to bring it back."))
		return
	}
	it.Section = "- " + it.ID + ": " + it.Title
	it.Body.Range = p.file.Range(it.Range.End, it.Range.End)
	e.first[it.ID] = len(p.listed)
	p.listed = append(p.listed, it)
}

func (e *entryReader) bad(at *yaml.Node, summary, detail string) {
	e.p.report(diag.New("front-matter-value", e.p.nodeRange(at, e.body), summary).WithDetail("%s", detail))
}

// fields reads the fields of an item; its id and its status are returned.
func (e *entryReader) fields(it *Item, n *yaml.Node) (id, status *yaml.Node) {
	for i, k := range n.Keys {
		v := n.Values[i]
		is := func(words []string) bool {
			return slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, k.Value) })
		}
		switch c := &e.p.dialect.Columns; {
		case v.Kind == yaml.Null:
		case is(c.Depends):
			e.depends(it, k, v)
		case !is(c.ID) && !is(c.Title) && !is(statusKey):
			e.foreign = append(e.foreign, k)
		case v.Kind != yaml.Scalar:
			e.bad(v, "an item's "+clip(k.Value, 20)+" is a single value", "Write it as one word or text.")
		case is(c.ID):
			id = v
		case is(c.Title):
			e.content(it, v)
		default:
			status = v
		}
	}
	return id, status
}

// content reads the text of an item: its first line is the title.
func (e *entryReader) content(it *Item, v *yaml.Node) {
	p := e.p
	lines := strings.Split(strings.TrimSpace(v.Value), "\n")
	line := text.OneLine(withoutControls(lines[0]))
	in := inline{control: -1, unclosed: -1, Text: e.text(line, v)}
	t := p.freeTitle(in)
	it.Title, it.TitleRange = t.text.Value, t.text.Range
	it.Kind = t.kind
	for _, l := range lines[1:] {
		it.Body.Prose = append(it.Body.Prose, strings.TrimRight(withoutControls(l), " "))
	}
}

// text is a value of the front matter, which knows its place as a whole.
func (e *entryReader) text(value string, v *yaml.Node) Text {
	at := e.p.nodeRange(v, e.body)
	return Text{Value: value, Raw: value, Range: at, pieces: []piece{{0, at.Start}}}
}

// depends reads the ids that an item waits for: each is a value of its own.
func (e *entryReader) depends(it *Item, k, v *yaml.Node) {
	l := Label{Name: DependsOn, Written: clip(k.Value, 40), NameRange: e.p.nodeRange(k, e.body), From: FromFrontMatter}
	values := []*yaml.Node{v}
	if v.Kind == yaml.Sequence {
		values = v.Values
	}
	for _, one := range values {
		if one.Kind != yaml.Scalar {
			e.bad(one, "a dependency is not an id", "Dependencies are a list of ids of other items. Write it in that form.")
			continue
		}
		t := e.text(strings.TrimSpace(one.Value), one)
		l.Items = append(l.Items, ListItem{Text: t, Range: t.Range})
	}
	if v.Kind == yaml.Sequence && len(v.Values) == 0 { // "[]" states that it waits for nothing
		l.Value = e.text("none", v)
		l.Value.Range.End = min(l.Value.Range.Start+len("[]"), len(e.p.src))
	}
	it.Body.Labels = append(it.Body.Labels, l)
}

// maxPassed bounds how many ids cancelled items hand on, in all lists together.
const maxPassed = 100_000

// passCancelled lets what waits for a cancelled item wait for what that one waited for,
// else for nothing.
func (e *entryReader) passCancelled(self string, l *Label) {
	todo, own := slices.Clone(l.Items), len(l.Items)
	seen := map[string]bool{self: true}
	l.Items = nil
	for i := 0; i < len(todo); i++ {
		id := todo[i].Text.Value
		_, live := e.first[id]
		switch of, cancelled := e.cancelled[id]; {
		case live || !cancelled || e.passed >= maxPassed:
			if i < own || !seen[id] {
				l.Items = append(l.Items, todo[i])
			}
		case !seen[id]:
			e.passed += len(of)
			todo = append(todo, of...)
		}
		seen[id] = true
	}
	if own > 0 && len(l.Items) == 0 {
		l.Value = Text{Value: "none", Raw: "none", Range: todo[0].Range, pieces: todo[0].Text.pieces}
	}
}

// checkNames reports dependencies on what is not an item: in a list of ids nothing is
// prose.
func (e *entryReader) checkNames() {
	p := e.p
	var known []string
	unknown := func(self string, li ListItem) bool {
		id := li.Text.Value
		if _, ok := e.first[id]; ok {
			return false
		}
		if len(known) == 0 {
			for i := range p.listed {
				known = append(known, p.listed[i].ID)
			}
		}
		d := diag.Newf("unknown-dependency", li.Range, "there is no item %s", quoted(id)).WithDetail("No item of the plan has this id. Name one that exists, or remove it from the list.")
		if e.suggested++; e.suggested <= maxMisses {
			if near, ok := spell.NearestID(id, slices.DeleteFunc(slices.Clone(known), func(k string) bool { return k == self })); ok {
				d = d.WithDetail("No item of the plan has this id. Did you mean %q?", near)
			}
		}
		p.report(d)
		return true
	}
	for i := range p.listed {
		for _, l := range lists.Each(p.listed[i].Body.Labels) {
			e.passCancelled(p.listed[i].ID, l)
			l.Items = slices.DeleteFunc(l.Items, func(li ListItem) bool { return unknown(p.listed[i].ID, li) })
		}
		p.listed[i].Body.Labels = slices.DeleteFunc(p.listed[i].Body.Labels, func(l Label) bool { return len(l.Items) == 0 && l.Value.Value == "" })
	}
}

var openStatus = map[string]bool{"": true, "pending": true, "in_progress": true, "in-progress": true, "in progress": true, "todo": true, "open": true, "not_started": true}

// status reads the status of an item. What is not known is open, with a warning.
func (e *entryReader) status(v *yaml.Node) (done, cancelled bool) {
	word := strings.ToLower(strings.TrimSpace(v.Value))
	switch {
	case doneWords[word]:
		return true, false
	case word == "cancelled" || word == "canceled":
		return false, true
	case !openStatus[word]:
		d := diag.Newf("front-matter-value", e.p.nodeRange(v, e.body), "%s is not a status", quoted(v.Value)).WithDetail(
			"The item is read as open, so it will be done. Write pending, in_progress, completed or cancelled.")
		d.Severity = diag.Warning
		e.p.report(d)
	}
	return false, false
}

// foreignEntryKeys names the keys of items that mean nothing, in one note.
func (p *parser) foreignEntryKeys(keys []*yaml.Node, body int) {
	var names []string
	for _, k := range keys {
		if name := clip(k.Value, 40); len(names) < maxRelated && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		p.report(diag.Newf("foreign-front-matter", p.nodeRange(keys[0], body), "%s of items ignored", text.Count(len(keys), "key")).WithDetail(
			"The items of the front matter have %s, which ralph does not use. Nothing needs to be done.", strings.Join(names, ", ")))
	}
}

func withoutControls(s string) string {
	return strings.Map(func(r rune) rune {
		if isControl(r) {
			return -1
		}
		return r
	}, s)
}

// description adds what is above the title and below other headings to the plan's
// prose: labels of the plan are between them.
func (p *parser) description(title, from int) {
	r := &reader{p: p, s: &p.plan.Section, kind: planSection, cur: -1, head: -1}
	for i := range p.stream {
		b := p.stream[i].b
		if i >= title && i < from {
			continue
		}
		switch b.kind {
		case headingBlock:
			r.heading(b)
		case fenceBlock:
			r.fence(b)
		case htmlBlock:
			p.comments(nil, p.plain(int(b.start), int(b.end)).comments)
		default:
			r.verbatim(b)
		}
	}
}

// buildListed makes the tree of a plan whose items are in the front matter: all of
// the markdown is the plan's own section.
func (p *parser) buildListed(from int) bool {
	if len(p.listed) > p.limits.Items {
		p.tooManyItems(len(p.listed), from)
		return false
	}
	b := &builder{p: p, title: p.findTitle()}
	b.setTitle(from)
	begin, text := b.title+1, len(p.stream)
	if k := slices.IndexFunc(p.stream[begin:], func(e elem) bool { return e.b.kind == headingBlock }); k >= 0 {
		text = begin + k
	}
	p.section(&p.plan.Section, planSection, nil, begin, text)
	p.description(max(b.title, 0), text)
	p.plan.Section.Range = p.extent(0, len(p.stream), p.plan.TitleRange.End)
	p.plan.Items = p.listed
	return true
}
