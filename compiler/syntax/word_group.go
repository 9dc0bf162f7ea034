package syntax

import (
	"slices"
	"strings"
	"unicode"

	"github.com/ralph-compiler/ralph/internal/lists"
)

// Where groups and items have no keyword ("### 1.1 Title"), a heading of a word and
// a number ("## Phase 1: Name") above items whose ids begin with this number is
// their group.

// wordHeading is a heading of a word and a number.
type wordHeading struct {
	title
	elem, level int
	id          string // of the group, as its items write it; "" if it has none
}

// wordTitle remembers a heading of a word and a number, if such may be a group.
func (p *parser) wordTitle(in inline, level int) {
	if p.dialect.In != InHeading || p.item.none || p.phase.none || len(p.item.words) > 0 || len(p.phase.words) > 0 {
		return
	}
	v := limited(in.Value)
	at := new(title).leading(v)
	word := firstWord(v[at:])
	rest := strings.TrimLeft(v[at+len(word):], " \u00a0#")
	if len(word) < 2 || len(word) > 24 || len(rest) == len(v)-at-len(word) || rest == "" || !unicode.IsDigit(rune(rest[0])) {
		return
	}
	m, known := p.wordMatchers[strings.ToLower(word)]
	if !known {
		if len(p.wordMatchers) == maxGroupWords {
			return
		}
		m = newMatcher(Pattern{Keywords: []string{word}, ID: phaseID})
		p.wordMatchers[strings.ToLower(word)] = m
	}
	if t, ok := p.readTitle(in, &m); ok && !t.struck {
		p.wordHeads = append(p.wordHeads, wordHeading{title: t, elem: len(p.stream), level: level})
	}
}

// maxGroupWords bounds the words that one plan tries.
const maxGroupWords = 64

// wordGroups finds the headings that are groups: the first one, from above, that
// an item with its number is below. Another one of the same number speaks for
// it.
func (p *parser) wordGroups() {
	if len(p.wordHeads) == 0 || p.groupLevel > 0 {
		return
	}
	var open [7]int // index in wordHeads + 1, by level
	chosen := map[string]int{}
	next, first := 0, true
	tops := lists.Count(p.wordHeads, func(h *wordHeading) bool { return h.level == 1 })
	for i, e := range lists.Each(p.stream) {
		if e.b.kind == headingBlock {
			clear(open[e.b.level:])
			title := e.b.level == 1 && first
			first = first && e.b.level > 1
			if next < len(p.wordHeads) && p.wordHeads[next].elem == i {
				if next++; !title || tops > 1 { // the title is not a group
					open[e.b.level] = next
				}
			}
		}
		if e.cand < 0 || !p.cands[e.cand].live(false) {
			continue
		}
		number, _, _ := strings.Cut(p.cands[e.cand].key.id, ".")
		if _, known := chosen[number]; known {
			continue
		}
		for _, k := range open {
			if k > 0 && same(p.wordHeads[k-1].key.id, number) {
				chosen[number] = k - 1
				p.wordHeads[k-1].id = number
				break
			}
		}
	}
	for _, h := range lists.Each(p.wordHeads) {
		number := simplify(h.key.id)
		if k, known := chosen[number]; known && h.id == "" && p.wordHeads[k].level != h.level {
			p.repeating[h.elem] = number
		}
	}
}

// wordGroup returns the group that the heading at an element is, or nil.
func (p *parser) wordGroup(elem int) *wordHeading {
	k, found := slices.BinarySearchFunc(p.wordHeads, elem, func(h wordHeading, elem int) int { return h.elem - elem })
	if !found || p.wordHeads[k].id == "" {
		return nil
	}
	return &p.wordHeads[k]
}

// addWordGroup makes the group. Its items are those of its number, wherever they
// are.
func (b *builder) addWordGroup(h *wordHeading) {
	b.addPhase(&cand{title: h.title, phase: true, level: h.level})
	ph := &b.p.plan.Phases[len(b.p.plan.Phases)-1]
	ph.ID, ph.Implicit = h.id, true
}
