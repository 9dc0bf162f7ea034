package depend

import (
	"maps"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Words with which a dependency label speaks of items and groups, besides those
// of the dialect. They are only looked at in values of such labels.
var (
	plainItemWords  = []string{"sprint", "task", "story", "step", "item"}
	plainGroupWords = []string{"phase", "milestone", "epic", "wave", "group", "stage"}
	doneWords       = []string{"complete", "completed", "completion", "done", "merged", "finished"}
	auxiliaries     = []string{"is", "are", "be", "has", "have", "been", "must"}
	previousWords   = []string{"previous", "prior", "preceding", "earlier", "other"}
)

// wordSet knows a set of words in singular and plural.
type wordSet map[string]bool

func newWords(lists ...[]string) wordSet {
	w := wordSet{}
	for _, l := range lists {
		for _, s := range l {
			s = strings.ToLower(s)
			w[s] = true
			w[s+"s"] = true
			if stem, ok := strings.CutSuffix(s, "y"); ok {
				w[stem+"ies"] = true
			}
		}
	}
	return w
}

func (w wordSet) without(o wordSet) wordSet {
	out := maps.Clone(w)
	maps.DeleteFunc(out, func(s string, _ bool) bool { return o[s] })
	return out
}

// noneForms are whole values that say "depends on nothing".
var noneForms = map[string]bool{
	"none": true, "-": true, "—": true, "–": true, "--": true, "[]": true, "nothing": true, "n/a": true,
	"no dependency": true, "no dependencies": true, "no prerequisites": true, "no blockers": true,
}

// SaysNone reports whether a whole value says "depends on nothing".
func SaysNone(s string) bool { return noneForms[strings.ToLower(s)] }

// Span is a piece of a value: the half-open interval of its bytes.
type Span struct{ Start, End int }

// mask returns s in the same length with everything blanked that is not part of
// a dependency value: emphasis, quotes, backticks, brackets, check marks and
// other pictures, what is struck through or is in parentheses or comments,
// and the backslash that breaks a line.
func mask(s string) string {
	s = unpicture(unstrike(s))
	b := []byte(s)
	depth := 0
	for i := 0; i < len(b); i++ {
		if strings.HasPrefix(s[i:], "<!--") {
			end := len(s)
			if k := strings.Index(s[i+4:], "-->"); k >= 0 {
				end = i + 4 + k + 3
			}
			blankOut(b[i:end])
			i = end - 1
			continue
		}
		if n := lineBreak(s[i:]); n > 0 && depth == 0 {
			copy(b[i:i+n], ";     ")
			i += n - 1
			continue
		}
		switch c := b[i]; {
		case c == '(':
			depth++
			b[i] = ' '
		case c == ')':
			depth = max(depth-1, 0)
			b[i] = ' '
		case c == '\\' && (i+1 == len(b) || b[i+1] == '\n' || b[i+1] == '\r'): // breaks the line
			b[i] = ' '
		case depth > 0, strings.IndexByte("*`\"'[]_~\t\r{}#", c) >= 0:
			b[i] = ' '
		}
	}
	// A parenthesis that is never closed is not a reason: "(1.2" names 1.2.
	if depth > 0 {
		return strings.Map(func(r rune) rune {
			if r < 0x80 && strings.ContainsRune("()*`\"'[]_~\t\r{}#", r) {
				return ' '
			}
			return r
		}, s)
	}
	return string(b)
}

func blankOut(b []byte) {
	for i := range b {
		b[i] = ' '
	}
}

// lineBreak returns the length of the "<br>" that s begins with: in cells it separates
// as a new line does elsewhere.
func lineBreak(s string) int {
	for _, tag := range []string{"<br>", "<br/>", "<br />"} {
		if len(s) >= len(tag) && strings.EqualFold(s[:len(tag)], tag) {
			return len(tag)
		}
	}
	return 0
}

// unstrike blanks what is struck through: it is no longer meant.
func unstrike(s string) string {
	if !strings.Contains(s, "~~") {
		return s
	}
	b := []byte(s)
	for from := 0; ; {
		i := strings.Index(s[from:], "~~")
		if i < 0 {
			return string(b)
		}
		open := from + i
		j := strings.Index(s[open+2:], "~~")
		if j < 0 {
			return string(b)
		}
		from = open + 2 + j + 2
		blankOut(b[open:from])
	}
}

// unpicture blanks emoji and check marks: "1.2 ✅" names 1.2.
func unpicture(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return s
	}
	b := []byte(s)
	for i, size := 0, 0; i < len(s); i += size {
		var r rune
		r, size = utf8.DecodeRuneInString(s[i:]) // a byte that is no UTF-8 is one byte long
		if unicode.Is(unicode.So, r) || unicode.Is(unicode.Sk, r) && r > 0xFFFF || r == 0xFE0F || r == 0x200D {
			blankOut(b[i : i+size])
		}
	}
	return string(b)
}

// trim narrows sp to what remains of s without spaces and trailing stops.
func trim(s string, sp Span) Span {
	for sp.Start < sp.End && blank(s[sp.Start]) {
		sp.Start++
	}
	for sp.End > sp.Start && (blank(s[sp.End-1]) || s[sp.End-1] == '.' || s[sp.End-1] == ':') {
		sp.End--
	}
	return sp
}

func blank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// split cuts a masked value at , ; & + "and" and line ends.
func split(s string) []Span {
	return cutAt(s, func(i int) int {
		switch s[i] {
		case ',', ';', '&', '+', '\n':
			return 1
		case 'a', 'A':
			if i > 0 && blank(s[i-1]) && i+4 <= len(s) && strings.EqualFold(s[i:i+3], "and") && blank(s[i+3]) {
				return 3
			}
		}
		return 0
	})
}

// cutAt cuts s at its separators, of which sign says how long one is that begins at an offset.
func cutAt(s string, sign func(at int) int) (out []Span) {
	start := 0
	for i := 0; i <= len(s); i++ {
		n := 1
		if i < len(s) {
			n = sign(i)
		}
		if n == 0 {
			continue
		}
		if sp := trim(s, Span{start, i}); sp.Start < sp.End {
			out = append(out, sp)
		}
		start, i = i+n, i+n-1
	}
	return out
}

// ValueParts returns the parts of a value as it is in the source.
func ValueParts(s string) []Span { return split(mask(s)) }

// word cuts the first word of sp off: up to a blank, or up to a "-" after
// letters ("TASK-1.1").
func word(s string, sp Span) (w string, rest Span) {
	i := sp.Start
	for i < sp.End && !blank(s[i]) {
		if s[i] == '-' && i > sp.Start && i+1 < sp.End && digit(s[i+1]) && letter(s[i-1]) {
			break
		}
		i++
	}
	w = s[sp.Start:i]
	for i < sp.End && (blank(s[i]) || s[i] == '-') {
		i++
	}
	return w, Span{i, sp.End}
}
