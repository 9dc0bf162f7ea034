package syntax

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
)

// What is where items are and begins with an id of nearly the form of the
// dialect is not an item, and is always reported: a letter in another case, a
// mark after the id, brackets around it, a separator too many or another one.

// nearMiss is what nearly is an item or a group.
type nearMiss struct {
	at    diag.Range
	look  idLook
	phase bool
	bare  bool // a heading without keyword
	level int
	id    string // as written
	whole bool   // that is an id of the dialect
	elem  int    // index in parser.stream of a heading with keyword; else -1
	why   string // what is wrong, if it is not the id
	plain bool   // a list item without a box: one where items are, if the id is free
}

// missed remembers what in nearly is, and is not.
func (p *parser) missed(in inline, m *matcher, level int) {
	if m.none || in.Value == "" {
		return
	}
	look, id := p.nearForm(in, m, level < 7)
	if look == noID {
		return
	}
	elem := -1
	if level < 7 && len(m.words) > 0 {
		elem = len(p.stream)
	}
	p.misses = append(p.misses, nearMiss{elem: elem, at: in.Range, look: look, phase: m == &p.phase, bare: level < 7 && len(m.words) == 0, level: level, id: id, whole: m.whole(id)})
}

// forget takes the place from the last miss if it is elem, which is not a heading.
func (p *parser) forget(elem int) {
	if n := len(p.misses); n > 0 && p.misses[n-1].elem == elem {
		p.misses[n-1].elem = -1
	}
}

// missedRow remembers a row whose id cell has a digit: it is there to be an id.
func (p *parser) missedRow(cell *inline) {
	if cell == nil || strings.IndexFunc(cell.Value, unicode.IsDigit) < 0 || within(cell.strikes, 0) {
		return
	}
	p.misses = append(p.misses, nearMiss{elem: -1, at: cell.Range, look: malformed, id: cell.Value})
}

// nearForm reads the beginning of a text as an id of nearly the form of a pattern.
func (p *parser) nearForm(in inline, m *matcher, heading bool) (look idLook, id string) {
	v := limited(in.Value)
	i := (&title{in: in}).leading(v)
	if within(in.strikes, i) || heading && within(in.codes, i) {
		return noID, ""
	}
	s, marked := v[i:], within(in.codes, i)
	s, marked = marksBefore(s, m, marked)
	if len(m.words) > 0 {
		n, gap, ok := m.keyword(s)
		if !ok || n == 0 || !m.own(s[:n]) {
			return noID, ""
		}
		s, marked = marksBefore(strings.TrimLeft(s[n+gap:], ":"), m, marked)
	}
	key := m.match(s)
	switch {
	case key.look.good():
		number := p.item.starred && len(m.words) == 0 && strings.Trim(key.id, "0123456789") == ""
		rest := s[key.n:]
		if number && bareNumber(key.id, rest) && !(marked && strings.HasPrefix(rest, ".")) || !number && !marked {
			return noID, ""
		}
		return malformed, key.id
	case key.look == severalID:
		return severalOf(s, m)
	}
	tok := token(s)
	switch {
	case tok == "":
		return noID, ""
	case len(m.words) > 0 && key.look == malformed, m.nearly(tok) && !(len(m.words) == 0 && bareNumber(tok, s[len(tok):])),
		heading && len(m.words) == 0 && codeLike.MatchString(tok):
		return malformed, tok
	}
	return noID, ""
}

// codeLike is an id without separator; whether items have its letters is known later.
var codeLike = lazyregexp.New(`^[A-Za-z]{1,8}[0-9][A-Za-z0-9]*$`)

// severalOf decides about what may be a range: numbers alone ("1-2 days") are none.
func severalOf(s string, m *matcher) (idLook, string) {
	tok := token(s)
	if len(m.words) > 0 || !bareNumber(m.id.FindString(s), "") {
		return severalID, tok
	}
	if m.nearly(tok) && dateLength(tok) == 0 {
		return malformed, tok
	}
	return noID, ""
}

// bareNumber reports whether a text begins with a number and continues as a sentence.
func bareNumber(id, rest string) bool {
	return strings.Trim(id, "0123456789") == "" && (rest == "" || strings.IndexByte(":)]", rest[0]) < 0)
}

// leadingTag returns the length of "[P]" or "(P)" in front of an id.
func leadingTag(s string, m *matcher) (int, bool) {
	if s == "" || s[0] != '[' && s[0] != '(' {
		return 0, false
	}
	end := strings.IndexByte(s, closers[s[0]])
	if end < 2 || end > 16 {
		return 0, false
	}
	if k := m.match(s[1:end]); k.look != noID && k.look != malformed {
		return 0, false
	}
	return end + 1, strings.IndexFunc(s[1:end], func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' }) < 0
}

// marksBefore cuts what may be before an id and keeps it from being one: "[P]", pictures,
// brackets, quotation marks.
func marksBefore(s string, m *matcher, marked bool) (string, bool) {
	s = strings.TrimLeft(s, " \u00a0")
	for range 8 {
		r, n := utf8.DecodeRuneInString(s)
		if tag, ok := leadingTag(s, m); ok {
			n = tag
		} else if !isEmoji(r) && !strings.ContainsRune("[({<#*\"'`~«“【（", r) || s == "" {
			break
		}
		s, marked = strings.TrimLeft(s[n:], " \u00a0"), true
	}
	return s, marked
}

// nearly reports whether a token has nearly the form of the pattern's ids.
func (m *matcher) nearly(tok string) bool {
	if m.loose == nil {
		m.loose = regexp.MustCompile("(?i)" + m.id.String())
		m.loose.Longest()
	}
	f := FoldID(tok)
	if z := strings.TrimLeft(f, "0"); z != "" && unicode.IsLetter(rune(z[0])) {
		f = z
	}
	whole := func(s string) bool { return s != "" && len(m.loose.FindString(s)) == len(s) }
	if strings.IndexFunc(f, unicode.IsDigit) < 0 {
		return false
	}
	if n := len(m.loose.FindString(f)); n > 0 && (n == len(f) || strings.IndexByte("._-", f[n]) >= 0 && !bareNumber(f[:n], "")) {
		return true
	}
	joined := strings.NewReplacer(".", "", "-", "", "_", "").Replace(f)
	return whole(joined) && !bareNumber(joined, "") || whole(dottedForm.Replace(f)) && dateLength(f) == 0
}

var dottedForm = strings.NewReplacer("..", ".", "-", ".", "_", ".")

// oddBox remembers a line that would be an item if its check box were one: "[]",
// "[v]", "[ x ]", no space after it, or no bullet in front of it.
func (p *parser) oddBox(at, end int) {
	s := strings.TrimLeft(p.src[at:end], "-*+ \t")
	close := strings.IndexByte(s, ']')
	if !strings.HasPrefix(s, "[") || close < 0 || close > maxOddBox {
		return
	}
	mark := strings.TrimSpace(s[1:close])
	if utf8.RuneCountInString(mark) > 1 {
		return
	}
	from := end - len(s)
	in := p.plain(from+close+1, end)
	id := ""
	if p.dialect.In == InTodo {
		if !strings.Contains(boxMarks, mark) || in.Value == "" || mark != "" && p.src[from+close+1] == '(' { // "[x](link)"
			return
		}
	} else {
		t, ok := p.readTitle(in, &p.item)
		if look, _ := p.nearForm(in, &p.item, false); look == noID && (!ok || t.struck || t.wholeNumber()) {
			return
		}
		id = t.key.id
	}
	p.misses = append(p.misses, nearMiss{
		elem: -1, at: p.file.Range(from, max(from, in.Range.End)), look: malformed, id: id,
		why: "A check box is \"- [ ]\" or \"- [x]\": a bullet, a space, the box, a space. This is not one",
	})
}

// withoutBox remembers a list item that would be an item if it had a box. Numbers alone
// do not count: many lists of text begin with them.
func (p *parser) withoutBox(at, end int) {
	if p.dialect.In != InCheckbox {
		return
	}
	in := p.plain(at, end)
	if t, ok := p.readTitle(in, &p.item); ok && !t.struck && letterPrefix(t.key.id) != "" {
		p.misses = append(p.misses, nearMiss{elem: -1, at: in.Range, look: malformed, id: t.key.id, plain: true, why: "Items of this dialect begin with a check box: \"- [ ]\". This one has an id and no box"})
	}
}

const (
	maxOddBox = 6           // bytes up to its end
	boxMarks  = " xXvV✓✔☑✗" // what people write into boxes; nothing is one, too
)

// oddBoxes looks for such lines from at on.
func (p *parser) oddBoxes(at, end int) {
	if p.dialect.In != InCheckbox && p.dialect.In != InTodo {
		return
	}
	for at, stop := range p.lines(at, end) {
		p.oddBox(at, stop)
	}
}

// nearMisses reports what nearly is an item or a group.
func (p *parser) nearMisses() {
	prefixes, items := map[string]bool{}, p.itemIDs()
	for id := range items {
		prefixes[letterPrefix(id)] = true
	}
	seen := map[int]bool{}
	n, last := 0, nearMiss{}
	for _, m := range p.misses {
		// Subsections, and words such as "utf-8" at the beginning of a heading, are text.
		if seen[m.at.Start] || m.bare && (m.level > p.plan.Items[0].Level && !m.whole && extends(m.id, items) || !prefixes[letterPrefix(m.id)]) {
			continue
		}
		if m.plain && (items[m.id] || !p.standsAsItem(m.at.Start)) {
			continue
		}
		seen[m.at.Start], last = true, m
		if n++; n <= maxMisses {
			p.reportMiss(&m)
		}
	}
	if n > maxMisses {
		p.report(diag.New("malformed-id", last.at, nearlyWhat(p.dialect.In, last.phase)).WithDetail(
			"It is the last of %d near misses; the first %d are reported. Write %s.", n, maxMisses, p.itemForm()))
	}
}

var moreParts = lazyregexp.New(`^(\.([0-9]+[a-z]?|[a-z]+))+$`)

// extends reports whether an id is that of an item with more parts after it.
func extends(id string, items map[string]bool) bool {
	for i := range min(len(id), 64) {
		if id[i] == '.' && items[id[:i]] && moreParts.MatchString(id[i:]) {
			return true
		}
	}
	return false
}

func letterPrefix(id string) string {
	id = strings.TrimLeft(id, "0")
	return strings.ToUpper(id[:len(id)-len(strings.TrimLeftFunc(id, unicode.IsLetter))])
}
