package syntax

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/text"
)

// span is a half-open interval of bytes.
type span struct{ start, end int }

// inline is a run of text without its markup.
type inline struct {
	Text
	codes    []span // of Value: code spans
	strikes  []span // of Value: between ~~
	comments []span // of the file: HTML comments, which are not in Value
	control  int    // offset of the first control character that was left out; -1
	unclosed int    // offset of a comment that does not end here; -1
}

// plain takes the markup off src[start:end]: emphasis, strike-through, code
// marks, links, comments, a few tags, escapes, control characters. What it
// copies keeps its place. Delimiters are paired as people read them, not in
// every corner as CommonMark says: stars in globs stay.
func (p *parser) plain(start, end int) inline {
	src := p.src
	for start < end && isSpace(src[start]) {
		start++
	}
	for end > start && isSpace(src[end-1]) {
		end--
	}
	in := inline{control: -1, unclosed: -1}
	in.Range = p.file.Range(start, end)
	raw := src[start:end]
	if !strings.ContainsAny(raw, "\\`*_~<[]&\n\t\r") && !hasControl(raw) {
		in.Value, in.Raw = raw, raw
		return in
	}
	s := stripper{src: src, end: end, in: &in}
	s.scan(start)
	s.copy(start)
	in.Value = string(s.out)
	in.Raw = raw
	if strings.IndexByte(raw, '\n') >= 0 {
		in.Raw = text.OneLine(raw)
	}
	in.trim()
	in.Code = len(in.codes) == 1 && in.codes[0] == span{0, len(in.Value)} && raw[0] == '`' && raw[len(raw)-1] == '`'
	return in
}

// trim takes spaces off the ends of Value.
func (in *inline) trim() {
	lead := len(in.Value) - len(strings.TrimLeft(in.Value, " "))
	in.Value = strings.TrimRight(in.Value[lead:], " ")
	if lead == 0 {
		return
	}
	for i := range in.pieces {
		if in.pieces[i].value = in.pieces[i].value - lead; in.pieces[i].value < 0 {
			in.pieces[i].source -= in.pieces[i].value
			in.pieces[i].value = 0
		}
	}
	for _, list := range [][]span{in.codes, in.strikes} {
		for i := range list {
			list[i].start = max(0, list[i].start-lead)
			list[i].end = max(0, list[i].end-lead)
		}
	}
}

// text returns Value[start:end] as a Text of its own.
func (in *inline) text(start, end int) Text {
	for start < end && in.Value[start] == ' ' {
		start++
	}
	for end > start && in.Value[end-1] == ' ' {
		end--
	}
	t := Text{Value: in.Value[start:end]}
	t.Range = in.Sub(start, end)
	if start == end {
		t.Range.End = t.Range.Start
		return t
	}
	t.Raw = t.Value
	if in.pieces == nil {
		return t
	}
	for _, c := range in.codes {
		if c.start == start && c.end == end {
			t.Code = true
		}
	}
	first := 0
	for i, q := range in.pieces {
		if q.value <= start {
			first = i
		}
	}
	for i := first; i < len(in.pieces) && in.pieces[i].value < end; i++ {
		q := in.pieces[i]
		if d := start - q.value; d > 0 {
			q.value, q.source = start, q.source+d
		}
		t.pieces = append(t.pieces, piece{q.value - start, q.source})
	}
	if len(t.pieces) == 1 {
		t.pieces = nil
	}
	return t
}

type stripper struct {
	src string
	end int
	in  *inline
	out []byte

	drops []drop // markup to leave out, ascending
	open  []delim
}

type drop struct {
	start, end int
	with       string // what stands there instead
	kind       byte   // '`' begins and ends code, '~' strike-through, '!' a comment
}

type delim struct {
	at, n int
	char  byte
	drop  int // index in drops
}

// scan finds the markup.
func (s *stripper) scan(at int) {
	src, end := s.src, s.end
	unmatched := 0 // bit n: no closing run of n backticks follows
	for i := at; i < end; {
		c := src[i]
		switch {
		case c == '\\' && i+1 < end && isPunct(src[i+1]):
			s.drops = append(s.drops, drop{start: i, end: i + 1})
			i += 2
		case c == '`':
			n := run(src, i, end)
			close := -1
			if n < 32 && unmatched&(1<<n) == 0 {
				if close = closingTicks(src, i+n, end, n); close < 0 {
					unmatched |= 1 << n
				}
			}
			if close < 0 {
				i += n
				break
			}
			a, b := i+n, close
			if b-a > 2 && src[a] == ' ' && src[b-1] == ' ' {
				a, b = a+1, b-1
			}
			s.drops = append(s.drops, drop{start: i, end: a, kind: '`'}, drop{start: b, end: close + n, kind: '`'})
			i = close + n
		case c == '<':
			i = s.angle(i)
		case c == '*' || c == '_' || c == '~':
			i = s.delimiter(i, at)
		case c == '[' || c == '!' && i+1 < end && src[i+1] == '[':
			n := 1
			if c == '!' {
				n = 2
			}
			s.open = append(s.open, delim{at: i, n: n, char: '[', drop: len(s.drops)})
			s.drops = append(s.drops, drop{start: i, end: i}) // filled in when it is a link
			i += n
		case c == ']':
			i = s.link(i)
		case c == '&':
			i = s.entity(i)
		case c == '\n' || c == '\r' || c == '\t':
			j := i
			for j < end && isSpace(src[j]) {
				j++
			}
			for i > at && src[i-1] == ' ' && (len(s.drops) == 0 || s.drops[len(s.drops)-1].end < i) {
				i--
			}
			s.drops = append(s.drops, drop{start: i, end: j, with: " "})
			i = j
		default:
			r, n := rune(c), 1
			if c >= utf8.RuneSelf {
				r, n = utf8.DecodeRuneInString(src[i:end])
			}
			if isControl(r) {
				if s.in.control < 0 {
					s.in.control = i
				}
				s.drops = append(s.drops, drop{start: i, end: i + n})
			}
			i += n
		}
	}
}

// delimiter takes in a run of emphasis marks. A run that can close pairs with
// the last open run of the same length; both are left out.
func (s *stripper) delimiter(i, from int) int {
	c, n := s.src[i], run(s.src, i, s.end)
	if c == '~' && n != 2 || n > 3 {
		return i + n
	}
	before, after := byte(' '), byte(' ')
	if i > from {
		before = s.src[i-1]
	}
	if i+n < s.end {
		after = s.src[i+n]
	}
	closes := !isSpace(before) && (!isWord(after) || c == '*' && n > 1) && (before != '/' || c == '~')
	if closes {
		for k := len(s.open) - 1; k >= 0 && len(s.open)-k < 16; k-- {
			o := s.open[k]
			if o.char != c || o.n != n || o.at+o.n == i {
				continue
			}
			s.drops[o.drop].end = o.at + o.n
			s.drops[o.drop].kind = c
			s.drops = append(s.drops, drop{start: i, end: i + n, kind: c})
			s.open = s.open[:k]
			return i + n
		}
	}
	opens := !isSpace(after) && (!isWord(before) || c == '*' && n > 1) && before != '/' && (after != '/' && after != '.' || c == '~')
	if opens {
		s.open = append(s.open, delim{at: i, n: n, char: c, drop: len(s.drops)})
		s.drops = append(s.drops, drop{start: i, end: i})
	}
	return i + n
}

// maxTarget bounds the length of a link's target.
const maxTarget = 512

// link takes in "](target)" behind an open bracket.
func (s *stripper) link(i int) int {
	k := len(s.open) - 1
	for k >= 0 && s.open[k].char != '[' && len(s.open)-k < 16 {
		k--
	}
	if k < 0 || s.open[k].char != '[' {
		return i + 1
	}
	o := s.open[k]
	s.open = s.open[:k]
	if i+1 >= s.end || s.src[i+1] != '(' {
		return i + 1
	}
	depth := 0
	for j := i + 1; j < s.end && j < i+maxTarget && s.src[j] != '\n'; j++ {
		switch s.src[j] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				s.drops[o.drop].end = o.at + o.n
				s.drops = append(s.drops, drop{start: i, end: j + 1})
				return j + 1
			}
		}
	}
	return i + 1
}

var inlineTags = map[string]bool{
	"a": true, "b": true, "br": true, "center": true, "code": true, "del": true, "em": true, "font": true, "i": true, "img": true,
	"ins": true, "kbd": true, "mark": true, "s": true, "small": true, "span": true, "strike": true, "strong": true, "sub": true,
	"sup": true, "u": true,
}

// angle takes in a comment, a known tag or an address in angle brackets.
func (s *stripper) angle(i int) int {
	rest := s.src[i:s.end]
	if strings.HasPrefix(rest, "<!--") {
		n := -1
		if s.in.unclosed < 0 { // else no comment ends below either
			n = strings.Index(rest[4:], "-->")
		}
		if n < 0 {
			if s.in.unclosed < 0 {
				s.in.unclosed = i
			}
			return i + 4
		}
		s.drops = append(s.drops, drop{start: i, end: i + 4 + n + 3, kind: '!'})
		return i + 4 + n + 3
	}
	end := strings.IndexByte(rest[:min(len(rest), 1024)], '>')
	if end < 0 {
		return i + 1
	}
	name := strings.ToLower(strings.TrimLeft(rest[1:end], "/"))
	if k := strings.IndexAny(name, " \t\n/"); k >= 0 {
		name = name[:k]
	}
	switch {
	case inlineTags[name]:
		with := ""
		if name == "br" {
			with = " "
		}
		s.drops = append(s.drops, drop{start: i, end: i + end + 1, with: with})
		return i + end + 1
	case strings.HasPrefix(rest, "<http://"), strings.HasPrefix(rest, "<https://"):
		s.drops = append(s.drops, drop{start: i, end: i + 1}, drop{start: i + end, end: i + end + 1})
		return i + end + 1
	}
	return i + 1
}

var entities = []struct{ name, with string }{
	{"&amp;", "&"},
	{"&lt;", "<"},
	{"&gt;", ">"},
	{"&quot;", `"`},
	{"&#39;", "'"},
	{"&nbsp;", " "},
	{"&ndash;", "–"},
	{"&mdash;", "—"},
}

func (s *stripper) entity(i int) int {
	for _, e := range entities {
		if strings.HasPrefix(s.src[i:s.end], e.name) {
			s.drops = append(s.drops, drop{start: i, end: i + len(e.name), with: e.with})
			return i + len(e.name)
		}
	}
	return i + 1
}

// copy writes what is left into out and remembers where it stood.
func (s *stripper) copy(at int) {
	in := s.in
	code, strike := -1, -1
	take := func(to int) {
		if to > at {
			in.pieces = append(in.pieces, piece{len(s.out), at})
			s.out = append(s.out, s.src[at:to]...)
		}
	}
	for _, d := range s.drops {
		if d.end <= d.start || d.start < at {
			continue
		}
		take(d.start)
		at = d.end
		switch d.kind {
		case '`':
			in.codes, code = mark(in.codes, code, len(s.out))
		case '~':
			in.strikes, strike = mark(in.strikes, strike, len(s.out))
		case '!':
			in.comments = append(in.comments, span{d.start, d.end})
		}
		if d.with != "" && (d.with != " " || len(s.out) > 0) {
			in.pieces = append(in.pieces, piece{len(s.out), d.start})
			s.out = append(s.out, d.with...)
		}
	}
	take(s.end)
}

func mark(list []span, open, at int) ([]span, int) {
	if open < 0 {
		return list, at
	}
	return append(list, span{open, at}), -1
}

func run(s string, i, end int) int {
	n := 1
	for i+n < end && s[i+n] == s[i] {
		n++
	}
	return n
}

func closingTicks(s string, i, end, n int) int {
	for i < end {
		k := strings.IndexByte(s[i:end], '`')
		if k < 0 {
			return -1
		}
		m := run(s, i+k, end)
		if m == n {
			return i + k
		}
		i += k + m
	}
	return -1
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func isPunct(c byte) bool {
	return c >= '!' && c <= '/' || c >= ':' && c <= '@' || c >= '[' && c <= '`' || c >= '{' && c <= '~'
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= utf8.RuneSelf
}

// isControl reports what may steer a terminal or hide text: control characters,
// bidirectional overrides, invisible spaces. The joiners of emoji are let through.
func isControl(r rune) bool {
	switch {
	case r == '\t', r == '\n', r == '\r':
		return false
	case r < ' ', r >= 0x7f && r <= 0x9f:
		return true
	case r == 0x200b, r == 0x200e, r == 0x200f, r == 0x2028, r == 0x2029, r == 0xfeff, r == 0x061c:
		return true
	case r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f:
		return true
	case r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return false
}

func hasControl(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return strings.IndexFunc(s, isControl) >= 0
		}
		if isControl(rune(s[i])) {
			return true
		}
	}
	return false
}

// isEmoji reports pictures and what goes with them.
func isEmoji(r rune) bool {
	return r >= 0x2190 && unicode.In(r, unicode.So, unicode.Sk) || r == 0xfe0f || r == 0x200d || r == 0x20e3
}

func (p *parser) rng(s span) diag.Range { return p.file.Range(s.start, s.end) }
