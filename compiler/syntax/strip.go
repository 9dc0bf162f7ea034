package syntax

import (
	"strings"
	"unicode/utf8"
)

type stripper struct {
	src string
	end int
	in  *inline
	out []byte

	unmatched int // bit n: no closing run of n backticks follows

	drops []drop // markup to leave out, ascending
	open  []delim
}

type drop struct {
	start, end int
	with       string // what is there instead
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
	for i := at; i < end; {
		c := src[i]
		switch {
		case c == '\\' && i+1 < end && isPunct(src[i+1]):
			s.drops = append(s.drops, drop{start: i, end: i + 1})
			i += 2
		case c == '`':
			i = s.code(i)
		case c == '<':
			i = s.angle(i)
		case c == '*' || c == '_' || c == '~':
			i = s.delimiter(i, at)
		case c == '[' || c == '!' && i+1 < end && src[i+1] == '[':
			n := strings.IndexByte(src[i:], '[') + 1
			s.open = append(s.open, delim{at: i, n: n, char: '[', drop: len(s.drops)})
			s.drops = append(s.drops, drop{start: i, end: i}) // filled in when it is a link
			i += n
		case c == ']':
			i = s.link(i)
		case c == '&':
			i = s.entity(i)
		case c == '\n' || c == '\r' || c == '\t':
			j := trimmed(src, i, end).start
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

// code parses a code span.
func (s *stripper) code(i int) int {
	n := run(s.src, i, s.end)
	if n >= 32 || s.unmatched&(1<<n) != 0 {
		return i + n
	}
	a, b := i+n, closingTicks(s.src, i+n, s.end, n)
	if b < 0 {
		s.unmatched |= 1 << n
		return i + n
	}
	end := b + n
	if b-a > 2 && s.src[a] == ' ' && s.src[b-1] == ' ' {
		a, b = a+1, b-1
	}
	s.drops = append(s.drops, drop{start: i, end: a, kind: '`'}, drop{start: b, end: end, kind: '`'})
	return end
}

// delimiter parses a run of emphasis marks. A run that can close pairs with
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

// link parses "](target)" after an open bracket.
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

// angle parses a comment, a known tag or an address in angle brackets.
func (s *stripper) angle(i int) int {
	rest := s.src[i:s.end]
	if strings.HasPrefix(rest, "<!--") {
		if s.in.unclosed >= 0 { // no comment ends below either
			return i + 4
		}
		n := strings.Index(rest[4:], "-->")
		if n < 0 {
			s.in.unclosed = i
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

// copy writes what is left into out and remembers where it was.
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

func run(s string, i, end int) int { return end - i - len(strings.TrimLeft(s[i:end], s[i:i+1])) }

func closingTicks(s string, i, end, n int) int {
	for i < end {
		at := upTo(s, i, end, "`")
		if at == end {
			break
		}
		m := run(s, at, end)
		if m == n {
			return at
		}
		i = at + m
	}
	return -1
}
