package syntax

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lists"
)

// Where ids are whole numbers, "2.5" was inserted between 2 and 3.

// WholeNumbers reports whether the ids of items are whole numbers, perhaps with letters.
func (d Dialect) WholeNumbers() bool {
	m := newMatcher(d.Item)
	m.insertable(d.Item.ID)
	return m.decimal != nil
}

// insertable lets a matcher of whole numbers find decimals.
func (m *matcher) insertable(id string) {
	id = strings.TrimSuffix(strings.TrimPrefix(id, "^"), "$")
	if m.none || id == "" || !m.whole("2") || !m.whole("10") || m.whole("2.5") || m.whole("2-5") {
		return
	}
	if re, err := regexp.Compile("^(?:" + id + `)\.[0-9]+[a-z]*`); err == nil {
		re.Longest()
		m.decimal = re
	}
}

// insertions keeps decimals that are beside a whole number, at its level or
// above. The others nearly are items or groups: "Sprint 1.1" in a plan of another
// dialect.
func (p *parser) insertions() {
	if !slices.ContainsFunc(p.cands, func(c cand) bool { return c.key.decimal }) {
		return
	}
	wholes := [2]map[int]bool{{}, {}}
	levels := [2]int{}
	for _, c := range lists.Each(p.cands) {
		k := kind(c)
		if n, ok := leadingNumber(c.key.id); ok && !c.struck && !c.key.decimal {
			wholes[k][n] = true
			levels[k] = cmp.Or(levels[k], c.level)
		}
	}
	for _, c := range lists.Each(p.cands) {
		if !c.key.decimal {
			continue
		}
		k := kind(c)
		n, ok := leadingNumber(c.key.id)
		if !ok || !wholes[k][n] && !wholes[k][n+1] || c.level > levels[k] {
			p.dismiss(c, malformed)
		}
	}
}

func kind(c *cand) int {
	if c.phase {
		return 1
	}
	return 0
}

func leadingNumber(id string) (int, bool) {
	n, err := strconv.Atoi(id[:len(id)-len(strings.TrimLeft(id, "0123456789"))])
	return n, err == nil
}

// dismiss demotes a candidate to a near miss of an item or a group.
func (p *parser) dismiss(c *cand, look idLook) {
	c.prose = true
	p.stream[c.elem].cand = -1
	p.misses = append(p.misses, nearMiss{at: c.in.Range, look: look, phase: c.phase, elem: c.elem})
}
