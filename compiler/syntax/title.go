package syntax

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/diag"
)

// title is the text of a heading or of an item's first line, taken apart.
type title struct {
	in      inline
	keyword string
	key     idMatch
	keyAt   span // of in.Value
	text    Text // the title proper
	path    string

	kind     string
	kindAt   diag.Range
	parallel bool
	parAt    diag.Range
	optional bool // a star follows the box or the id
	near     nearMarker
	tags     []Text
	depends  *Text // value of "(depends on …)" at the end
	dependAt diag.Range

	done     bool
	doneAt   diag.Range
	struck   bool // the id is inside ~~
	strikeIn bool // the title proper does
}

// readTitle parses in with a matcher. ok is false when it is not an item or
// group at all; key.look says when it nearly is one.
func (p *parser) readTitle(in inline, m *matcher) (t title, ok bool) { return p.titleOf(in, m, false) }

// titleOf does the same; with several, ids after the first one are further names.
func (p *parser) titleOf(in inline, m *matcher, several bool) (t title, ok bool) {
	t = title{in: in, kind: KindWork}
	v := in.Value
	i := t.leading(v)
	n, gap, found := m.keyword(v[i:])
	if m.none || !found {
		return t, false
	}
	at := i + n + gap
	if n > 0 && gap == 0 && v[i+n:] != "" && !m.optional {
		return t, false // "Sprint: …"
	}
	t.keyword = v[i : i+n]
	t.key = m.match(v[at:])
	if (t.key.look == noID || t.key.look == malformed) && m.optional && m.own(t.keyword) {
		t.key = idMatch{look: goodID}
		at = i + n
	}
	t.keyAt = span{at, at + t.key.n}
	if within(in.codes, i) || within(in.codes, at) && t.key.n > 0 || !t.key.look.good() && (!several || len(t.key.also) == 0) {
		return t, false
	}
	behind := at + t.key.n + t.key.more
	t.struck = within(in.strikes, at) || t.key.n == 0 && within(in.strikes, i)
	start := t.afterID(p, v, behind)
	end := t.ending(p, v, start)
	start = skipSpaces(v, min(start, end))
	t.text = in.text(start, max(start, end))
	t.strikeIn = !t.struck && in.struckOut(start, end)
	t.path = strings.TrimRight(v[i:max(end, behind)], " ")
	return t, true
}

func within(list []span, at int) bool {
	return slices.ContainsFunc(list, func(s span) bool { return at >= s.start && at < s.end })
}

// struckOut reports whether a text that is not empty is between ~~, spaces apart.
func (in *inline) struckOut(start, end int) bool {
	at := start
	for _, s := range in.strikes {
		if s.end <= start || s.start >= end {
			continue
		}
		if s.start > at && strings.Trim(in.Value[at:s.start], " ") != "" {
			return false
		}
		at = s.end
	}
	return at > start && at >= end
}

func skipSpaces(s string, i int) int { return len(s) - len(strings.TrimLeft(s[i:], " ")) }

// checkMarks say that something is done.
const checkMarks = "✅✓✔☑"

// leading skips what may be before the keyword: pictures, a box.
func (t *title) leading(v string) int {
	i := 0
	for i < len(v) {
		r, n := utf8.DecodeRuneInString(v[i:])
		switch {
		case r == '\u00a0', isBlank(r):
			t.picture(r, i, i+n)
			i += n
		case strings.HasPrefix(v[i:], "[ ] "):
			i += 4
		case strings.HasPrefix(v[i:], "[x] "), strings.HasPrefix(v[i:], "[X] "):
			t.setDone(i, i+3)
			i += 4
		default:
			return i
		}
	}
	return i
}

// picture handles an emoji: a check mark means that the work is done.
func (t *title) picture(r rune, start, end int) {
	if strings.ContainsRune(checkMarks, r) {
		t.setDone(start, end)
	}
}

func (t *title) setDone(start, end int) {
	if !t.done {
		t.done, t.doneAt = true, t.in.Sub(start, end)
	}
}

// afterID skips separators, markers and tags after the id.
func (t *title) afterID(p *parser, v string, i int) int {
	separated := false
	for i < len(v) {
		r, n := utf8.DecodeRuneInString(v[i:])
		switch {
		case r == ' ', r == '\u00a0':
			i += n
		case !separated && strings.ContainsRune(":：-–—.|)", r):
			i += n
			for strings.HasPrefix(v[i:], "-") {
				i++
			}
			separated = true
		case isEmoji(r):
			t.picture(r, i, i+n)
			i += n
		case r == '*' && p.item.starred && isStar(v[i:]):
			t.optional = true
			i += n
		case r == '[' || r == '(':
			k := strings.IndexByte(v[i:], closers[byte(r)])
			if k < 0 || !t.marker(p, v, i, i+k+1) && !t.tag(p, v, i, i+k+1) {
				if k > 0 {
					t.nearlyMarked(v, i, i+k+1)
				}
				return i
			}
			i += k + 1
		default:
			return i
		}
	}
	return i
}

// marker parses "(parallel)", "[P]" and so on; it reports whether v[start:end]
// is one.
func (t *title) marker(p *parser, v string, start, end int) bool {
	if p.dialect.ParallelMark != "" && v[start:end] == p.dialect.ParallelMark {
		t.parallel, t.parAt = true, t.in.Sub(start, end)
		return true
	}
	if v[start] != '(' {
		return false
	}
	words := strings.FieldsFunc(strings.ToLower(v[start+1:end-1]), betweenMarkers)
	if slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(markerWords, w) }) {
		return false // the plural may be a word of the title
	}
	for _, w := range words {
		if w == "parallel" {
			t.parallel, t.parAt = true, t.in.Sub(start, end)
			continue
		}
		if t.kind != KindWork && t.kind != w {
			p.report(diag.New("two-kinds", t.in.Sub(start, end), "a sprint has one kind").WithDetail(
				"The title is marked as both %s and %s. Leave one of the markers.", t.kind, w).
				WithRelated(t.kindAt, "marked as %s here", t.kind))
			continue
		}
		t.kind, t.kindAt = w, t.in.Sub(start, end)
	}
	return len(words) > 0
}

// tag parses "[US1]" where the dialect has parallel marks.
func (t *title) tag(p *parser, v string, start, end int) bool {
	if !strings.HasPrefix(p.dialect.ParallelMark, "[") || v[start] != '[' || end-start < 3 || end-start > 34 {
		return false
	}
	odd := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_' }
	if strings.IndexFunc(v[start+1:end-1], odd) >= 0 || oddMarker(v[start:end], false) != "" {
		return false
	}
	t.tags = append(t.tags, t.in.text(start+1, end-1))
	return true
}
