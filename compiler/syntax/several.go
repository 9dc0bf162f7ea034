package syntax

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
)

// A heading may name several ids: "### Sprint 3-4: …", "## Phase 61 & 62". It is
// one item, or one group, with the first of them; the others are further names.

// maxNames bounds how many ids one heading has.
const maxNames = 50

var (
	rangeSeps = []string{"-", "–", "—", "to ", "through ", "bis "}
	listSeps  = []string{",", "&", "+", "/", "and ", "und ", "et "}
)

// several reads all ids at the beginning of s, of which the first takes n bytes.
func (m *matcher) several(s string, n int) idMatch {
	out := idMatch{id: s[:n], n: n, look: severalID}
	ids, at := []string{s[:n]}, n
	for {
		after, through, ok := separated(s[at:])
		if !ok {
			break
		}
		if k, gap, found := m.keyword(after); found {
			after = after[k+gap:]
		}
		k := len(m.id.FindString(limited(after)))
		if k == 0 || boundary(after[k:]) == notEnd && after[k] != ',' {
			break
		}
		if !through {
			ids = append(ids, after[:k])
		} else if between := idsBetween(ids[len(ids)-1], after[:k]); between != nil {
			ids = append(ids, between...)
		} else {
			return out
		}
		if len(ids) > maxNames {
			return out
		}
		at = len(s) - len(after) + k
	}
	if len(ids) > 1 {
		out.also, out.more = ids[1:], at-n
	}
	return out
}

// separated cuts what is between two ids off, and says whether it is the sign
// of a range.
func separated(s string) (rest string, through, ok bool) {
	const blanks = " \u00a0"
	s = strings.TrimLeft(s, blanks)
	for i, sep := range slices.Concat(rangeSeps, listSeps) {
		if after, found := strings.CutPrefix(s, sep); found {
			if after = strings.TrimLeft(after, blanks); sep == "," {
				after = strings.TrimLeft(strings.TrimPrefix(after, "and "), blanks)
			}
			return after, i < len(rangeSeps), true
		}
	}
	return s, false, false
}

// idsBetween lists the ids after lo up to hi: "5" and "6" of 4-6. nil if they
// cannot be told.
func idsBetween(lo, hi string) []string {
	prefix, from, fromLetters := lastNumber(lo)
	other, to, toLetters := lastNumber(hi)
	if prefix != other {
		return nil
	}
	a, errA := strconv.Atoi(from)
	b, errB := strconv.Atoi(to)
	var out []string
	switch {
	case errA != nil || errB != nil || b-a > maxNames:
	case a == b && len(fromLetters) == 1 && len(toLetters) == 1:
		for r := fromLetters[0] + 1; r <= toLetters[0]; r++ {
			out = append(out, prefix+from+string(rune(r)))
		}
	case fromLetters == "" && toLetters == "":
		for n := a + 1; n <= b; n++ {
			d := strconv.Itoa(n)
			if from[0] == '0' {
				d = strings.Repeat("0", max(len(from)-len(d), 0)) + d
			}
			out = append(out, prefix+d)
		}
	}
	return out
}

// lastNumber parses "1.2a" into "1.", "2" and "a".
func lastNumber(id string) (prefix, number, letters string) {
	end := len(strings.TrimRight(id, "abcdefghijklmnopqrstuvwxyz"))
	at := len(strings.TrimRight(id[:end], "0123456789"))
	return id[:at], id[at:end], id[end:]
}

// hyphens decides what a hyphen between numbers means where ids may have one: it
// belongs to the id if two headings share what is before it; else it is the
// sign of a range.
func (p *parser) hyphens() {
	first, shared := map[string]string{}, map[string]bool{}
	var all []*cand
	for _, c := range lists.Each(p.cands) {
		if !hyphened(c.key.id) || c.phase {
			continue
		}
		all = append(all, c)
		for _, prefix := range prefixes(c.key.id) {
			if id, known := first[prefix]; !known {
				first[prefix] = c.key.id
			} else if id != c.key.id {
				shared[prefix] = true
			}
		}
	}
	for _, c := range all {
		if slices.ContainsFunc(prefixes(c.key.id), func(prefix string) bool { return shared[prefix] }) {
			continue
		}
		cut := strings.LastIndexByte(c.key.id, '-')
		lo, hi := c.key.id[:cut], c.key.id[cut+1:]
		rest := idsBetween(lo, hi)
		if len(rest) == 0 || hyphened(lo) {
			p.dismiss(c, malformed)
			continue
		}
		c.key.also = slices.Concat(rest, c.key.also)
		n := runes(c.in.Value[c.keyAt.start:], utf8.RuneCountInString(lo))
		c.key.id, c.key.look = lo, severalID
		c.keyAt.end -= c.key.n - n
		c.key.n, c.key.more = n, c.key.more+c.key.n-n
	}
}

// runes returns how many bytes the first n characters of s take. An id has as many as
// what it was read from.
func runes(s string, n int) int {
	at := 0
	for ; n > 0; n-- {
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return at
}

// hyphened reports whether an id begins with a digit and holds a hyphen.
func hyphened(id string) bool { return id != "" && isDigit(id[0]) && strings.IndexByte(id, '-') > 0 }

// prefixes returns what is before the first hyphens of an id.
func prefixes(id string) (out []string) {
	for i := 0; i < len(id) && len(out) < 8; i++ {
		if id[i] == '-' {
			out = append(out, id[:i])
		}
	}
	return out
}

// severals keeps a heading of several ids only if no other heading has one of
// these: else it speaks of the others.
func (p *parser) severals() {
	isSeveral := func(c cand) bool { return c.key.look == severalID && !c.prose }
	if !slices.ContainsFunc(p.cands, isSeveral) {
		return
	}
	taken := [2]map[string]int{{}, {}}
	for _, c := range lists.Each(p.cands) {
		if c.prose || c.struck {
			continue
		}
		for _, id := range p.allNames(c) {
			taken[kind(c)][id]++
		}
	}
	for _, c := range lists.Each(p.cands) {
		if !isSeveral(*c) || c.struck {
			continue
		}
		if slices.ContainsFunc(p.allNames(c), func(id string) bool { return taken[kind(c)][id] > 1 }) {
			p.dismiss(c, severalID)
		}
	}
}

// furtherNames reports a heading that has several ids, and returns those after
// the first one.
func (p *parser) furtherNames(c *cand) []string {
	if len(c.key.also) == 0 {
		return nil
	}
	names := p.allNames(c)[1:]
	p.report(diag.Newf("several-ids", c.in.Sub(c.keyAt.start, c.keyAt.end+c.key.more), "the heading makes one %s of several ids", [...]string{"item", "group"}[kind(c)]).WithDetail(
		"Its id is %s; %s: other items may name it so. Give each id a heading of its own if the parts are separate work.",
		c.key.id, text.Counted(len(names), "other id is a further name of it", "other ids are further names of it")))
	return names
}

// allNames returns the ids that a heading gives, the first one first.
func (p *parser) allNames(c *cand) []string {
	return lists.Map(append([]string{c.key.id}, c.key.also...), p.plainID)
}
