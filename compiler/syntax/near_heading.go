package syntax

import (
	"iter"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// nearHeading is a heading, or a bold line where items are such, that begins
// with what nearly is a keyword, and an id.
type nearHeading struct {
	at    diag.Range // keyword and id
	elem  int        // index in parser.stream
	level int        // 7: no heading
	phase bool
	id    string
	meant string // the keyword
	marks string // of a line that lacks the space after "###" to be a heading
	why   string
}

// unspaced remembers the lines of a paragraph that would be items or groups if a space
// was after their "###": CommonMark reads no heading there.
func (p *parser) unspaced(b *block) {
	for at, stop := range p.lines(int(b.start), int(b.end)) {
		line := p.src[at:stop]
		text := strings.TrimLeftFunc(line, invisible)
		from := at + len(line) - len(text)
		rest := strings.TrimLeft(text, "#＃")
		marks := text[:len(text)-len(rest)]
		if marks == "" || strings.HasPrefix(rest, "!") {
			continue
		}
		in := p.plain(from+len(marks), at+len(line))
		for phase, m := range p.headingMatchers() {
			t, ok := p.readTitle(in, m)
			if n := utf8.RuneCountInString(marks); !ok && n > 1 && n < 7 {
				p.missed(in, m, n)
				p.forget(len(p.stream))
			}
			if level := utf8.RuneCountInString(marks); ok && !t.struck && (t.keyword != "" || level > 1) {
				level = min(level, 6)
				p.nears = append(p.nears, nearHeading{
					at: p.file.Range(from, in.Sub(t.keyAt.start, t.keyAt.end).End), elem: len(p.stream), level: level, phase: phase, id: t.key.id, meant: t.keyword,
					marks: "######"[:level] + " ", why: oddCharacter(line[:len(line)-len(rest)]) + "A heading has one to six \"#\" and a space after them. ",
				})
				break
			}
		}
	}
}

func (p *parser) matcherOf(phase bool) *matcher {
	if phase {
		return &p.phase
	}
	return &p.item
}

// headingMatchers yields what a heading is tried as: an item, where headings are items, then
// a group.
func (p *parser) headingMatchers() iter.Seq2[bool, *matcher] {
	return func(yield func(phase bool, m *matcher) bool) {
		if p.dialect.In != InHeading || yield(false, &p.item) {
			yield(true, &p.phase)
		}
	}
}

// invisible reports whether a character is invisible.
func invisible(r rune) bool { return unicode.In(r, unicode.Cf, unicode.Z) }

// nearTitle remembers a title that a typing mistake keeps from being an item or
// a group; whether it is in the place of one is known when all are read.
func (p *parser) nearTitle(in inline, phase bool, level int) {
	m := p.matcherOf(phase)
	if m.none || m.near == nil {
		return
	}
	t := title{in: in}
	v := limited(in.Value)
	i := t.leading(v)
	h, at, ok := m.nearItem(v[i:])
	if !ok || within(in.codes, i) || within(in.strikes, i) || within(in.strikes, i+at) {
		return
	}
	h.elem, h.level, h.phase, h.at = len(p.stream), level, phase, in.Sub(i, i+at)
	p.nears = append(p.nears, h)
}

// nearItem reads what nearly is a keyword and an id at the beginning of s, and
// returns where they end.
func (m *matcher) nearItem(s string) (h nearHeading, end int, ok bool) {
	for at := range boundaries(s) {
		word := strings.TrimRightFunc(s[:at], func(r rune) bool { return r == '#' || unicode.Is(unicode.Zs, r) })
		id := strings.TrimPrefix(s[at:], "-")
		from := len(s) - len(id)
		key := m.match(id)
		good := key.look.good()
		if !good && !(m.optional && key.look == noID && separates(s[at:])) {
			continue
		}
		h = nearHeading{id: key.id, why: oddCharacter(word)}
		bare := strings.TrimRight(word, " \u00a0:：.-–—")
		_, known := m.near.known[stems(bare)]
		var near bool
		switch h.meant, near = m.near.Find(word); {
		case known && bare != word: // "Tasks: 3 left" is not an item
			if !m.own(bare) || !good || !separates(id[key.n:]) && !strings.Contains(key.id, ".") {
				continue
			}
			h.meant, h.why = bare, "There is a separator between the keyword and the id. "
		case near:
		case good && m.own(word) && from == len(word):
			h.meant, h.why = word, "There is no space between the keyword and the id. "
		case good && m.own(word) && oddCharacter(strings.ReplaceAll(s[len(word):from], "\u00a0", " ")) != "":
			h.meant, h.why = word, oddCharacter(strings.ReplaceAll(s[len(word):from], "\u00a0", " "))
		default:
			continue
		}
		if !good {
			return h, len(word), true
		}
		return h, from + key.n, true
	}
	return h, 0, false
}

// boundaries yields the offsets in s where an id may begin, or a name that needs
// none: after spaces, before a digit after a letter, at a separator, at the end.
func boundaries(s string) iter.Seq[int] {
	return func(yield func(int) bool) {
		last := ' '
		for i, r := range s {
			if i > 2*longestNear {
				return
			}
			blank := last == '#' || unicode.Is(unicode.Zs, last)
			starts := blank && r != '#' && !unicode.Is(unicode.Zs, r) || !blank && unicode.IsDigit(r) && unicode.IsLetter(last) || strings.ContainsRune(":：-–—", r)
			if i > 0 && starts && !yield(i) {
				return
			}
			last = r
		}
		yield(len(s))
	}
}

// separates reports whether s begins with what is between an id and a name,
// or is empty.
func separates(s string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(s, " \u00a0"))
	return s == "" || strings.ContainsRune(":：-–—.|)", r)
}

// reportNear reports titles that nearly are items or groups, are where these
// may be, and have an id of their own.
func (p *parser) reportNear() {
	if len(p.nears) == 0 {
		return
	}
	slices.SortStableFunc(p.nears, func(a, b nearHeading) int { return a.at.Start - b.at.Start })
	written := lists.Keep(p.plan.Phases, func(ph Phase) bool { return !ph.Implicit })
	items, groups := p.itemIDs(), lists.SetOf(written, func(ph *Phase) string { return ph.ID })
	places := p.groupPlaces()
	last := -1
	for _, h := range p.nears {
		known, what := items, "an item"
		if h.phase {
			known, what = groups, "a group"
		}
		if h.at.Start == last || h.id != "" && known[h.id] || !places.holds(&h) {
			continue
		}
		last = h.at.Start
		p.reported = append(p.reported, last)
		_, size := utf8.DecodeRuneInString(h.meant)
		write := h.marks + strings.TrimSpace(strings.ToUpper(h.meant[:size])+h.meant[size:]+" "+h.id)
		p.report(diag.Newf("near-miss-heading", h.at, "%s almost begins %s", quoted(p.file.Text(h.at)), what).
			WithDetail("%sIt would be read as prose: no heading of the plan has this id, and what is below it would belong to what is above. Write %q. If it is only text, put another word first.",
				h.why, write).
			WithFix(h.at, write))
	}
}

// groupPlaces knows where groups begin and end.
type groupPlaces struct {
	level  int // of group headings; 0: there are none
	starts []int
	group  []bool       // the heading there is a group, or nearly one
	filled map[int]bool // what nearly is a group, by its element, and contains an item
}

func (p *parser) groupPlaces() *groupPlaces {
	g := &groupPlaces{level: p.groupLevel, filled: map[int]bool{}}
	near := map[int]*nearHeading{}
	for i := range p.nears {
		if h := &p.nears[i]; h.level < 7 {
			near[h.elem] = h
		}
	}
	var open [7]int // element + 1 of what nearly is a group, by level
	for i, e := range lists.Each(p.stream) {
		h := near[i]
		if e.b.kind == headingBlock {
			clear(open[e.b.level:])
			if g.level == 0 || int(e.b.level) <= g.level {
				g.starts = append(g.starts, int(e.b.start))
				g.group = append(g.group, e.cand >= 0 && p.cands[e.cand].live(true) || h != nil && h.phase && h.level == g.level)
			}
		}
		switch {
		case h != nil && h.phase:
			open[h.level] = i + 1
		case h != nil || e.cand >= 0 && p.cands[e.cand].live(false):
			for _, at := range open {
				g.filled[at-1] = true
			}
		}
	}
	return g
}

// holds reports whether an item or a group may be where h is.
func (g *groupPlaces) holds(h *nearHeading) bool {
	switch {
	case h.phase && g.level == 0:
		return g.filled[h.elem]
	case h.phase:
		return h.level == g.level
	case g.level == 0, h.marks != "": // with a space it would be an item outside of the groups, too
		return true
	}
	k := sort.SearchInts(g.starts, h.at.Start+1) - 1
	return k >= 0 && g.group[k]
}
