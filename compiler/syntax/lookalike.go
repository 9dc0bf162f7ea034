package syntax

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/spell"
)

// A heading that a person takes for an item and ralph does not: the keyword is
// misspelt, stuck to the id or followed by a colon, or belongs to another
// dialect. It is prose; a hint says so, unless an item has that id.

// lookAlike is a word, perhaps a separator or "no.", and an id of two numbers, perhaps all
// of it numbered.
var lookAlike = lazyregexp.New(`^([^\pL\pN]{0,8}(?:[0-9]{1,3}[.)][ \x{00a0}]+)?)(\pL{3,12})[ \x{00a0}]*([:#.–—-]?|(?i:n[or]\.?|num(?:ber)?|№)[ \x{00a0}]+|№)[ \x{00a0}]*#?([0-9]+[A-Za-z]*\.[0-9]+[A-Za-z]*)(?:[^\pL\pN.]|$)`)

// itemWords are keywords of items in the dialects that people write.
var itemWords = []string{"sprint", "task", "story", "step", "ticket", "item", "unit", "iteration"}

// maxLookAlikes bounds the hints about them.
const maxLookAlikes = 20

// alike is a heading that looks like an item.
type alike struct {
	at  diag.Range // word and id
	id  string
	why string
}

// look remembers a heading that looks like an item of the dialect.
func (p *parser) look(in inline) {
	if len(p.alikes) == maxLookAlikes || len(p.dialect.Item.Keywords) == 0 {
		return
	}
	m := lookAlike.FindStringSubmatchIndex(limited(in.Value))
	if m == nil {
		return
	}
	numbered := strings.ContainsAny(in.Value[m[2]:m[3]], decimals)
	word, sep, id := in.Value[m[4]:m[5]], in.Value[m[6]:m[7]], strings.ToLower(in.Value[m[8]:m[9]])
	if !p.item.whole(id) {
		return
	}
	a := alike{at: in.Sub(m[4], m[9]), id: id}
	low := strings.ToLower(word)
	keywords := lists.Map(p.dialect.Item.Keywords, strings.ToLower)
	switch near, ok := spell.Nearest(low, keywords); {
	case slices.Contains(keywords, low) && len(sep) > 1 && !strings.ContainsAny(sep, "–—"):
		a.why = "there is another word between the keyword and the id"
	case slices.Contains(keywords, low) && sep != "":
		a.why = "there is a separator between the keyword and the id"
	case slices.Contains(keywords, low) && numbered:
		a.why = "there is a number in front of the keyword"
	case slices.Contains(keywords, low) && m[5] < m[8]:
		return // set off as it should be: what is wrong with it is said elsewhere
	case slices.Contains(keywords, low):
		a.why = "there is no space between the keyword and the id"
	case ok:
		a.why = "\"" + word + "\" is not \"" + near + "\""
	case slices.Contains(itemWords, low):
		a.why = "\"" + word + "\" is not a keyword of the dialect " + p.dialect.Name
	default:
		return
	}
	p.alikes = append(p.alikes, a)
}

// innerHeadings remembers the headings of items in quotations and lists, where none are read.
func (p *parser) innerHeadings(blocks []block, why string) {
	for _, b := range lists.Each(blocks) {
		switch b.kind {
		case quoteBlock:
			p.innerHeadings(b.kids, "it is in a quotation")
		case listBlock, itemBlock:
			p.innerHeadings(b.kids, cmp.Or(why, "it is in a list"))
		case headingBlock:
			if why == "" || len(p.alikes) == maxLookAlikes || p.dialect.In != InHeading || len(p.dialect.Item.Keywords) == 0 {
				continue
			}
			if t, ok := p.readTitle(p.plain(int(b.a), int(b.b)), &p.item); ok && t.keyword != "" && t.key.n > 0 && !t.struck {
				p.alikes = append(p.alikes, alike{at: t.in.Sub(t.keyAt.start, t.keyAt.end), id: t.key.id, why: why})
			}
		}
	}
}

// lookAlikes reports them, now that all items are known.
func (p *parser) lookAlikes() {
	if len(p.alikes) == 0 {
		return
	}
	items := p.itemIDs()
	for _, a := range p.alikes {
		if !items[a.id] && !slices.Contains(p.reported, a.at.Start) {
			p.report(diag.New("look-alike-heading", a.at, "a heading looks like an item and is prose").
				WithDetail("It makes no node: %s. To make it an item, write \"%s %s: Name\".", a.why, p.dialect.Item.Keywords[0], a.id))
		}
	}
}
