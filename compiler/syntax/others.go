package syntax

import (
	"slices"
	"strings"
	"unicode"

	"github.com/ralph-compiler/ralph/internal/lists"
)

// Other is what another dialect would find in a plan, before it is decided how these
// items relate: no more items than this.
type Other struct {
	Dialect string
	Items   int
	Outside int // of them, those that are in no item of the plan; TooFew times as many as it has, or more
}

// To try a dialect costs about as much as to read the plan: with a large plan, or a
// thousand dialects, some are left out.
const (
	maxReading  = 12 << 20
	readingCost = 64 << 10
)

// others counts what the other dialects would find: where the plan has no items, and
// where it has so much text outside of them that three times as many may be there.
func (p *parser) others(blocks []block) {
	none := len(p.plan.Items) == 0
	var hiding []hidden
	if none {
		p.plan.Words = p.numberedWords(blocks)
		if p.plan.Instead == "" {
			p.plan.Instead = p.instead(blocks)
		}
		defer func() { p.sayHidden(hides(p.diags) >= 0, hiding) }()
	} else if !p.roomOutside() {
		return
	}
	read := 0
	for i, d := range p.known {
		if d.Name == p.dialect.Name {
			continue
		}
		if read += len(p.src) + readingCost; read > maxReading {
			p.plan.Unread = len(p.known) - i
			break
		}
		q := newParser(p.file, Options{Dialect: d, Limits: p.limits})
		q.src = p.src
		o := Other{Dialect: d.Name}
		if d.In == InFrontMatter {
			q.frontMatter()
			o.Items, o.Outside = len(q.listed), len(q.listed)
		} else {
			q.read(blocks)
			q.classify()
			o.Items, o.Outside = q.countOutside(p)
			if none {
				if h, ok := q.hiddenOf(blocks, o.Items); ok {
					hiding = append(hiding, h)
				}
			}
		}
		if o.Items > 0 && o.Outside >= TooFew*len(p.plan.Items) {
			p.plan.Others = append(p.plan.Others, o)
		}
	}
}

// countOutside counts the candidates that are items, and those that are in none of
// the items of another reading.
func (p *parser) countOutside(in *parser) (all, outside int) {
	for _, c := range p.live(false) {
		if all++; in.itemAround(c.line.start) == nil {
			outside++
		}
	}
	return all, outside
}

// end is where an item ends: its heading or line, and its body.
func end(it *Item) int { return max(it.Range.End, it.Body.Range.End) }

// roomOutside reports whether outside of the items enough lines begin as those of items
// may, in any dialect.
func (p *parser) roomOutside() bool {
	need := TooFew * len(p.plan.Items)
	for at := 0; at < len(p.src); {
		if it := p.itemAround(at); it != nil {
			at = end(it)
			continue
		}
		next := nextLine(p.src, at)
		if line := strings.TrimLeft(p.src[at:next], " \t>"); line != "" && (strings.IndexByte("#*_+-=|[", line[0]) >= 0 || line[0] >= '0' && line[0] <= '9') {
			if need--; need <= 0 {
				return true
			}
		}
		at = next
	}
	return false
}

// TooFew is the factor by which another dialect must find more items, outside the plan's
// own, for the plan's dialect to be suspect.
const TooFew = 3

const maxWords = 5

// numberedWords returns words that begin three or more headings with different numbers,
// the most frequent first: they may be item keywords.
func (p *parser) numberedWords(blocks []block) []string {
	type word struct {
		text    string
		numbers map[string]bool
	}
	var all []*word
	byName := map[string]*word{}
	for _, b := range lists.Each(blocks) {
		if b.kind != headingBlock {
			continue
		}
		in := p.plain(int(b.a), int(b.b))
		t := title{in: in}
		v := limited(in.Value)
		v = v[min(t.leading(v), len(v)):]
		n := len(v) - len(strings.TrimLeftFunc(v, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) }))
		rest := strings.TrimLeft(v[n:], " \u00a0")
		if rest == v[n:] {
			rest = strings.TrimPrefix(rest, "-")
		}
		rest = strings.TrimPrefix(rest, "#")
		number := numberAt(rest)
		if n == 0 || rest == v[n:] || number == "" {
			continue
		}
		name := strings.ToLower(v[:n])
		w := byName[name]
		if w == nil {
			w = &word{v[:n], map[string]bool{}}
			byName[name] = w
			all = append(all, w)
		}
		w.numbers[number] = true
	}
	all = slices.DeleteFunc(all, func(w *word) bool { return len(w.numbers) < 3 })
	slices.SortStableFunc(all, func(a, b *word) int { return len(b.numbers) - len(a.numbers) })
	return lists.Map(all[:min(len(all), maxWords)], func(w *word) string { return w.text })
}

// numberAt returns the number that s begins with.
func numberAt(s string) string {
	if strings.HasPrefix(s, ".") {
		return ""
	}
	return strings.TrimRight(s[:len(s)-len(strings.TrimLeft(s, decimals+"."))], ".")
}
