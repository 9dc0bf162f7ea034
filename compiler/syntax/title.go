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
	optional bool // a star stands behind the box or the id
	near     nearMarker
	tags     []Text
	depends  *Text // value of "(depends on …)" at the end
	dependAt diag.Range

	done     bool
	doneAt   diag.Range
	struck   bool // the id stands inside ~~
	strikeIn bool // the title proper does
}

// readTitle takes in apart after a matcher. ok is false when it is no item or
// group at all; key.look says when it nearly is one.
func (p *parser) readTitle(in inline, m *matcher) (t title, ok bool) {
	return p.titleOf(in, m, false)
}

// titleOf does so; with several, ids behind the first one are further names.
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
	if within(in.codes, i) || within(in.codes, at) && t.key.n > 0 {
		return t, false
	}
	switch t.key.look {
	case goodID, caseID, foldedID:
	default:
		if !several || len(t.key.also) == 0 {
			return t, false
		}
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
	for _, s := range list {
		if at >= s.start && at < s.end {
			return true
		}
	}
	return false
}

// struckOut reports whether a text that is not empty stands between ~~, spaces apart.
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

func skipSpaces(s string, i int) int {
	for i < len(s) && s[i] == ' ' {
		i++
	}
	return i
}

// checkMarks say that something is done.
const checkMarks = "✅✓✔☑"

// leading skips what may stand before the keyword: pictures, a box.
func (t *title) leading(v string) int {
	i := 0
	for i < len(v) {
		r, n := utf8.DecodeRuneInString(v[i:])
		switch {
		case r == ' ', r == '\u00a0', isEmoji(r):
			if strings.ContainsRune(checkMarks, r) {
				t.setDone(i, i+n)
			}
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

func (t *title) setDone(start, end int) {
	if !t.done {
		t.done, t.doneAt = true, t.in.Sub(start, end)
	}
}

// afterID skips separators, markers and tags behind the id.
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
			if strings.ContainsRune(checkMarks, r) {
				t.setDone(i, i+n)
			}
			i += n
		case r == '*' && p.item.starred && isStar(v[i:]):
			t.optional = true
			i += n
		case r == '[' || r == '(':
			k := strings.IndexByte(v[i:], closer(r))
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

func closer(r rune) byte {
	if r == '[' {
		return ']'
	}
	return ')'
}

// marker takes in "(parallel)", "[P]" and so on; it reports whether v[start:end]
// is one.
func (t *title) marker(p *parser, v string, start, end int) bool {
	if p.dialect.ParallelMark != "" && v[start:end] == p.dialect.ParallelMark {
		t.parallel, t.parAt = true, t.in.Sub(start, end)
		return true
	}
	if v[start] != '(' {
		return false
	}
	words := strings.FieldsFunc(strings.ToLower(v[start+1:end-1]), func(r rune) bool { return r == ',' || r == ' ' || r == '/' })
	for _, w := range words {
		if !slices.Contains(markerWords, w) { // the plural may be a word of the title
			return false
		}
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

// tag takes in "[US1]" where the dialect has parallel marks.
func (t *title) tag(p *parser, v string, start, end int) bool {
	if !strings.HasPrefix(p.dialect.ParallelMark, "[") || v[start] != '[' || end-start < 3 || end-start > 34 {
		return false
	}
	for _, r := range v[start+1 : end-1] {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_' {
			return false
		}
	}
	if oddMarker(v[start:end], false) != "" {
		return false
	}
	t.tags = append(t.tags, t.in.text(start+1, end-1))
	return true
}

// ending cuts what may stand behind the title and returns where it ends.
func (t *title) ending(p *parser, v string, start int) int {
	end := len(v)
	cut := false
	for end > start {
		trimmed := start + len(strings.TrimRight(v[start:end], " \u00a0"))
		if cut {
			trimmed = start + len(strings.TrimRight(v[start:trimmed], " \u00a0:-–—|"))
		}
		if trimmed != end {
			end = trimmed
			continue
		}
		r, n := utf8.DecodeLastRuneInString(v[:end])
		switch {
		case isEmoji(r):
			if strings.ContainsRune(checkMarks, r) {
				t.setDone(end-n, end)
			}
			end -= n
			continue
		case r == '}':
			if k := strings.LastIndexByte(v[start:end], '{'); k >= 0 && start+k+1 < end && (v[start+k+1] == '#' || v[start+k+1] == '.') {
				end = start + k
				continue
			}
		case r == ')' || r == ']':
			if at, ok := t.group(p, v, start, end); ok {
				end, cut = at, cut || t.done
				continue
			}
		}
		if at, ok := t.statusWord(v, start, end); ok {
			end, cut = at, true
			continue
		}
		t.nearlyMarked(v, start, end)
		return end
	}
	return max(end, start)
}

// group takes in parentheses or brackets at the end.
func (t *title) group(p *parser, v string, start, end int) (int, bool) {
	open := byte('(')
	if v[end-1] == ']' {
		open = '['
	}
	depth, at := 0, -1
	for i := end - 1; i >= start && end-i < 512 && at < 0; i-- {
		switch v[i] {
		case v[end-1]:
			depth++
		case open:
			if depth--; depth == 0 {
				at = i
			}
		}
	}
	if at < 0 {
		return end, false
	}
	if t.marker(p, v, at, end) {
		return at, true
	}
	inner := strings.TrimSpace(v[at+1 : end-1])
	bare := strings.ToLower(strings.TrimFunc(inner, func(r rune) bool { return isEmoji(r) || r == ' ' }))
	switch {
	case doneWords[firstWord(bare)] && isTail(bare[len(firstWord(bare)):]), inner != "" && bare == "" && strings.ContainsAny(inner, checkMarks),
		open == '[' && bare == "x":
		t.setDone(at, end)
		return at, true
	case otherStatus[bare], open == '[' && inner == "":
		return at, true
	}
	if (p.dialect.In == InCheckbox || p.dialect.In == InTodo) && open == '(' {
		for _, w := range []string{"depends on ", "depends: ", "depends on: ", "after "} {
			if n, ok := foldPrefix(inner, w); ok && t.depends == nil {
				from := at + 1 + strings.Index(v[at+1:end], inner) + n
				d := t.in.text(from, from+len(inner)-n)
				t.depends, t.dependAt = &d, t.in.Sub(at+1, from)
				return at, true
			}
		}
	}
	// DONE (PR #4): the parenthesis goes with the word before it.
	if open == '(' {
		before := start + len(strings.TrimRight(v[start:at], " "))
		word := *t
		if to, ok := word.statusWord(v, start, before); ok && (isRemark(inner) || strings.ContainsAny(v[to:before], checkMarks)) {
			*t = word
			return to, true
		}
		if inPart(bare) {
			return end, false
		}
		if to, ok := t.checkMark(v, start, before); ok {
			return to, true
		}
	}
	return end, false
}

// checkMark takes in a check mark at the end of v[start:end].
func (t *title) checkMark(v string, start, end int) (int, bool) {
	at := start + len(strings.TrimRight(v[start:end], " \ufe0f"))
	r, n := utf8.DecodeLastRuneInString(v[start:at])
	if !strings.ContainsRune(checkMarks, r) || r == '\ufe0f' {
		return end, false
	}
	t.setDone(at-n, at)
	return at - n, true
}

// inPart reports whether a parenthesis behind a check mark says that something
// is left: "✅ (80%)", "✅ (partial)".
func inPart(s string) bool {
	return strings.Contains(s, "%") && !strings.Contains(s, "100%") || strings.Contains(s, "partial") || strings.Contains(s, "remaining")
}

var doneWords = map[string]bool{"complete": true, "completed": true, "done": true, "merged": true}

var otherStatus = map[string]bool{
	"in progress": true, "in-progress": true, "wip": true, "todo": true, "to do": true, "pending": true, "blocked": true, "not started": true,
	"planned": true, "deferred": true, "in review": true, "skipped": true, "cancelled": true, "canceled": true, "ongoing": true,
	"on hold": true,
}

// statusWord takes in a status at the end of v[start:end], also before a date:
// in capitals, or behind a dash.
func (t *title) statusWord(v string, start, end int) (int, bool) {
	stop := end
	if d := dateLength(v[start:end]); d > 0 {
		stop = start + len(strings.TrimRight(v[start:end-d], " :,-–—"))
	}
	if stop < end {
		if to, ok := t.checkMark(v, start, stop); ok {
			return to, true
		}
	}
	at := start + strings.LastIndexByte(v[start:stop], ' ') + 1
	word := strings.TrimRight(v[at:stop], ".!")
	low := strings.ToLower(word)
	dash := afterDash(v, start, at)
	switch {
	case doneWords[low] && (word == strings.ToUpper(word) || dash >= 0):
		if dash < 0 {
			dash = at
		}
		t.setDone(at, at+len(word))
		return dash, true
	case stop < end:
		return end, false
	}
	for _, n := range []int{1, 2} { // "WIP", "in progress"
		if n == 2 {
			k := strings.LastIndexByte(strings.TrimRight(v[start:at], " "), ' ')
			at = start + k + 1
			low = strings.ToLower(strings.TrimRight(v[at:stop], ".!"))
			dash = afterDash(v, start, at)
		}
		if otherStatus[low] && dash >= 0 {
			return dash, true
		}
	}
	return end, false
}

// statusMarks are pictures that go before a status: "✅ Done", "🚧 In progress".
const statusMarks = checkMarks + "🔄🚧⏳⬜⏸❌🟢🟡🔴"

// afterDash returns where a dash begins that stands before at, pictures between
// them, or where such pictures begin if one of them is a status mark; -1 if there
// is neither.
func afterDash(v string, start, at int) int {
	marked := -1
	for at > start {
		r, n := utf8.DecodeLastRuneInString(v[:at])
		switch {
		case r == ' ':
			at -= n
		case isEmoji(r):
			if at -= n; marked >= 0 || strings.ContainsRune(statusMarks, r) {
				marked = at
			}
		case r == '–' || r == '—':
			return at - n
		case r == '-' && at-2 >= start && v[at-2] == ' ', strings.HasSuffix(v[start:at], "--"):
			return start + len(strings.TrimRight(v[start:at], "-"))
		default:
			return marked
		}
	}
	return marked
}

func firstWord(s string) string {
	for i, r := range s {
		if !unicode.IsLetter(r) {
			return s[:i]
		}
	}
	return s
}

// isTail reports whether nothing, a date or a parenthesis follows a status.
func isTail(s string) bool {
	s = strings.Trim(s, " .!*_`:,–—-\u00a0"+checkMarks)
	if i := strings.LastIndexByte(s, ' '); i >= 0 && (strings.HasPrefix(s, "on ") || strings.HasPrefix(s, "at ")) {
		s = strings.TrimSpace(s[3:])
	}
	return s == "" || s[0] == '(' || s[0] == '[' || beginsWithDate(s)
}

func beginsWithDate(s string) bool {
	for i := 6; i <= min(len(s), 12); i++ {
		if (i == len(s) || !isWord(s[i])) && dateLength(s[:i]) == i {
			return true
		}
	}
	return false
}

// dateLength returns the length of the date that s ends with: digits in groups
// of two and four with "-", "/" or ".".
func dateLength(s string) int {
	i := len(s)
	digits, seps := 0, 0
	for i > 0 && len(s)-i < 11 {
		switch c := s[i-1]; {
		case c >= '0' && c <= '9':
			digits++
		case (c == '-' || c == '/' || c == '.') && i < len(s):
			seps++
		default:
			goto done
		}
		i--
	}
done:
	if seps != 2 || digits < 6 || i > 0 && s[i-1] != ' ' && s[i-1] != '(' {
		return 0
	}
	return len(s) - i
}
