package syntax

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/internal/text"
)

// matcher is a Pattern made ready.
type matcher struct {
	words      [][]string // keywords as lower-case words, longest first
	other      [][]string // the same in the plural or the singular
	id         *regexp.Regexp
	loose      *regexp.Regexp // id in any case; made by nearly
	optional   bool           // needs no id
	bare       bool           // a keyword is empty: the id may also stand alone
	starred    bool           // a star after the id marks it as optional
	sprintLike bool           // the id is that of the default dialect's sprints or phases
	none       bool
	near       *NearWords     // of the keywords; nil if there are none
	decimal    *regexp.Regexp // of what may be inserted between whole numbers, "2.5"; nil if ids are not whole numbers
}

// newMatcher compiles a pattern. An id that is not a regular expression matches
// nothing: policies has reported it.
func newMatcher(p Pattern) matcher {
	m := matcher{none: p.None()}
	for _, k := range p.Keywords {
		if w := strings.Fields(strings.ToLower(k)); len(w) > 0 {
			m.words = append(m.words, w)
		} else {
			m.bare = true
		}
	}
	slices.SortStableFunc(m.words, func(a, b []string) int { return len(strings.Join(b, " ")) - len(strings.Join(a, " ")) })
	id := strings.TrimSuffix(strings.TrimPrefix(p.ID, "^"), "$")
	m.sprintLike = id == sprintID || id == phaseID
	re, err := regexp.Compile("^(?:" + id + ")")
	if err != nil {
		m.none = true
		return m
	}
	re.Longest()
	m.id = re
	m.bare = m.bare && !re.MatchString("") // else every heading would be one
	m.optional = id == "" || re.MatchString("") && len(m.words) > 0
	if id == "" {
		m.id = regexp.MustCompile(`^[0-9]+[a-z]*`)
	}
	if len(m.words) == 0 && id == "" {
		m.none = true
	}
	if len(m.words) > 0 {
		m.near = NewNearWords(NearKeywords, p.Keywords)
	}
	for _, w := range m.words {
		last := w[len(w)-1]
		for _, form := range []string{text.Plural(last), last + "s", singular(last)} {
			if other := append(slices.Clone(w[:len(w)-1]), form); form != last && !m.own(strings.Join(other, " ")) {
				m.other = append(m.other, other)
			}
		}
	}
	return m
}

// keyword returns the length of the keyword that s begins with, and of the space
// or "-" after it. ok is false when there is none; without keywords, or with an
// empty one, everything begins with one of length 0.
func (m *matcher) keyword(s string) (n, gap int, ok bool) {
	if len(m.words) == 0 {
		return 0, 0, true
	}
	if n, gap, ok := keywordOf(s, m.words); ok {
		return n, gap, ok
	}
	if n, gap, ok := keywordOf(s, m.other); ok && (!m.optional || n+gap < len(s) && s[n+gap] >= '0' && s[n+gap] <= '9') {
		return n, gap, ok // where no id is needed, "Phases and dates" names no group
	}
	return 0, 0, m.bare
}

// own reports whether the pattern names this keyword, not only its plural or
// singular.
func (m *matcher) own(keyword string) bool {
	keyword = text.OneLine(keyword)
	return slices.ContainsFunc(m.words, func(w []string) bool { return strings.EqualFold(strings.Join(w, " "), keyword) })
}

func keywordOf(s string, list [][]string) (n, gap int, ok bool) {
next:
	for _, words := range list {
		i := 0
		for k, w := range words {
			if k > 0 {
				j := i + len(s[i:]) - len(strings.TrimLeft(s[i:], " \u00a0"))
				if j == i {
					continue next
				}
				i = j
			}
			n, fits := foldPrefix(s[i:], w)
			if !fits {
				continue next
			}
			i += n
		}
		r, _ := utf8.DecodeRuneInString(s[i:])
		if s[i:] != "" && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)) {
			continue
		}
		rest := strings.TrimLeft(s[i:], " \u00a0")
		if rest == s[i:] && strings.HasPrefix(rest, "-") {
			rest = rest[1:]
		}
		rest = strings.TrimPrefix(rest, "#")
		return i, len(s) - i - len(rest), true
	}
	return 0, 0, false
}

// foldPrefix reports whether s begins with the lower-case word w in any case,
// and how many bytes of s that takes.
func foldPrefix(s, w string) (int, bool) {
	i := 0
	for _, want := range w {
		r, n := utf8.DecodeRuneInString(s[i:])
		if n == 0 || unicode.ToLower(r) != want {
			return 0, false
		}
		i += n
	}
	return i, true
}

// idMatch says how the beginning of a text was read as an id.
type idMatch struct {
	id   string // ASCII, as it counts
	n    int    // bytes that it takes
	look idLook

	also    []string // severalID: the other ids, if all can be told
	more    int      // bytes that they take
	decimal bool     // stands between two whole numbers, if at all
}

type idLook uint8

const (
	noID      idLook = iota // nothing like an id
	goodID                  // as the dialect says
	caseID                  // right but for upper-case letters
	foldedID                // right but for look-alike characters
	malformed               // begins like one and continues wrongly: 1.2.3, 1-2
	severalID               // names several: 1.1-1.3, 1.1 and 1.2
)

// good reports whether it is an id, maybe in other characters.
func (l idLook) good() bool { return l == goodID || l == caseID || l == foldedID }

// match reads an id at the beginning of s.
func (m *matcher) match(s string) idMatch {
	if m.none {
		return idMatch{}
	}
	if n := len(m.id.FindString(limited(s))); n > 0 {
		switch m.boundary(s[n:]) {
		case endOfID:
			if m.namesMore(s[:n], s[n:]) {
				return m.several(s, n)
			}
			return idMatch{id: s[:n], n: n, look: goodID}
		case rangeOfID:
			return m.several(s, n)
		case notEnd:
			if s[n] == ',' && m.namesMore(s[:n], s[n:]) { // "1.2, 1.3"
				return m.several(s, n)
			}
		}
	}
	if m.decimal != nil {
		if n := len(m.decimal.FindString(limited(s))); n > 0 && boundary(s[n:]) == endOfID {
			return idMatch{id: s[:n], n: n, look: goodID, decimal: true}
		}
	}
	tok := token(s)
	if tok == "" {
		return idMatch{}
	}
	if low := strings.ToLower(tok); isASCII(tok) && low != tok && m.whole(low) && m.boundary(s[len(tok):]) == endOfID {
		return idMatch{id: low, n: len(tok), look: caseID}
	}
	if f := FoldID(tok); f != tok && !isASCII(tok) && m.boundary(s[len(tok):]) == endOfID {
		if m.whole(f) {
			return idMatch{id: f, n: len(tok), look: foldedID}
		}
		if low := strings.ToLower(f); m.whole(low) {
			return idMatch{id: low, n: len(tok), look: foldedID}
		}
	}
	if strings.IndexFunc(tok, unicode.IsDigit) >= 0 {
		return idMatch{n: len(tok), look: malformed}
	}
	return idMatch{}
}

func (m *matcher) whole(s string) bool { return len(m.id.FindString(s)) == len(s) }

// namesMore reports whether what follows an id names another one: a
// heading about several items is not an item.
func (m *matcher) namesMore(id, s string) bool {
	rest := strings.TrimLeft(s, " \u00a0")
	for _, sep := range []string{",", "&", "+", "/", "and ", "to ", "through ", "-", "–", "—", "und ", "et "} {
		after, ok := strings.CutPrefix(rest, sep)
		if !ok {
			continue
		}
		after = strings.TrimLeft(after, " \u00a0")
		if n, gap, ok := m.keyword(after); ok {
			after = after[n+gap:]
		}
		n := len(m.id.FindString(limited(after)))
		if n == 0 {
			return false
		}
		end := strings.TrimLeft(after[n:], " ")
		return end == "" || end[0] == ':' || end[0] == ')' || end[0] == ',' || strings.HasPrefix(end, "and ") ||
			boundary(after[n:]) == endOfID && (sep != "-" && sep != "–" && sep != "—" || letterPrefix(after[:n]) != "" && len(idsBetween(id, after[:n])) > 0)
	}
	return false
}

// limited cuts what the regular expression has to look at.
func limited(s string) string { return s[:min(len(s), 256)] }

// token returns the run of characters that a reader takes for the id.
func token(s string) string {
	for i, r := range s {
		if !unicode.In(r, unicode.L, unicode.N, unicode.Mn) && !strings.ContainsRune(".-_．。․", r) || i > 255 {
			s = s[:i]
			break
		}
	}
	return strings.TrimRight(s, ".-_")
}

type idEnd uint8

const (
	notEnd    idEnd = iota // the id continues: 1.2.3, 1.2x
	endOfID                // a separator or a space
	rangeOfID              // 1.1-1.3, 1.1/1.2
)

// isStar reports whether s begins with the mark of an optional task.
func isStar(s string) bool {
	return strings.HasPrefix(s, "*") && (len(s) == 1 || strings.IndexByte(" .:)", s[1]) >= 0)
}

// boundary judges what directly follows an id.
func (m *matcher) boundary(s string) idEnd {
	if m.starred && isStar(s) {
		return endOfID
	}
	return boundary(s)
}

// boundary judges what directly follows an id.
func boundary(s string) idEnd {
	r, n := utf8.DecodeRuneInString(s)
	next, _ := utf8.DecodeRuneInString(s[n:])
	switch {
	case n == 0, r == ' ', r == '\u00a0', r == ':', r == '：', r == ')', r == '|', r == '(', r == '[', r == '{', r == ']', isEmoji(r):
		return endOfID
	case r == '.':
		if after, _ := utf8.DecodeRuneInString(strings.TrimLeft(s, ".")); unicode.IsLetter(next) || unicode.IsDigit(next) || next == '.' && unicode.IsDigit(after) {
			return notEnd
		}
		return endOfID
	case r == '-', r == '–', r == '—', r == '/', r == '&', r == '+', r == ',':
		if unicode.IsDigit(next) {
			return rangeOfID
		}
		if r == '-' || r == '–' || r == '—' {
			return endOfID
		}
	}
	return notEnd
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// FoldID writes an id with the ASCII characters that its characters look like: full-width
// forms, digits of other scripts, letters that look like Latin ones.
func FoldID(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < utf8.RuneSelf:
			return r
		case r >= 0xff01 && r <= 0xff5e: // full width
			return r - 0xff01 + '!'
		case unicode.Is(unicode.Nd, r):
			return '0' + digitValue(r)
		}
		return cmp.Or(lookAlikes()[r], r)
	}, s)
}

// digitValue returns the value of a decimal digit of any script: their blocks
// of ten begin with the digit zero.
func digitValue(r rune) (n rune) {
	for n < 9 && unicode.Is(unicode.Nd, r-n-1) {
		n++
	}
	return n
}

// lookAlikes maps letters of other scripts to the Latin ones they look like.
var lookAlikes = sync.OnceValue(func() map[rune]rune {
	return map[rune]rune{
		'。': '.', '․': '.', '·': '.', '‐': '-', '‑': '-', '−': '-',
		'а': 'a', 'А': 'A', 'В': 'B', 'в': 'b', 'ь': 'b', 'с': 'c', 'С': 'C', 'ԁ': 'd', 'е': 'e', 'Е': 'E', 'һ': 'h', 'Н': 'H', 'і': 'i', 'І': 'I',
		'ј': 'j', 'Ј': 'J', 'К': 'K', 'М': 'M', 'о': 'o', 'О': 'O', 'р': 'p', 'Р': 'P', 'ѕ': 's', 'Ѕ': 'S', 'Т': 'T', 'у': 'y', 'У': 'Y', 'х': 'x',
		'Х': 'X', 'α': 'a', 'Α': 'A', 'Β': 'B', 'β': 'b', 'Ε': 'E', 'Η': 'H', 'Ι': 'I', 'Κ': 'K', 'Μ': 'M', 'Ν': 'N', 'ο': 'o', 'Ο': 'O', 'ρ': 'p',
		'Ρ': 'P', 'Τ': 'T', 'Υ': 'Y', 'υ': 'u', 'ν': 'v', 'Χ': 'X', 'Ζ': 'Z', 'ɑ': 'a', 'ɡ': 'g', 'ı': 'i', 'ℓ': 'l', 'ⅰ': 'i', 'ª': 'a', 'º': 'o',
	}
})
