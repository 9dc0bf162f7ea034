package gate

import (
	"strings"
	"unicode"

	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/process"
)

// span is a part of a text, in bytes from 0.
type span struct{ from, to int }

func (s span) of(text string) string { return text[s.from:s.to] }

// message is what a judge said, taken apart as Markdown is.
type message struct {
	text   string
	blocks []block
	own    []span // lines that are neither quoted with > nor in a fence that ends
}

// block is a fenced block of JSON. One that does not end runs to the end of the text.
type block struct {
	whole span // with its fences
	json  span
}

// ends makes every end of a line one byte "\n", and leaves the lengths as they are.
var ends = strings.NewReplacer("\r", "\n", "\v", "\n", "\f", "\n")

var (
	opensFence = lazyregexp.New("^(?:\\s|[-*+]\\s|\\d{1,9}[.)]\\s)*(`{3,}|~{3,})\\s*([^\\s`]*)[^`]*$")
	quotes     = lazyregexp.New(`^(?:\s|[-*+]\s|\d{1,9}[.)]\s)*>`)
)

// takeApart reads a message. Only a fence of the same kind, at least as long and with
// nothing after it, ends a block: what a fence of another file holds is no block.
func takeApart(text string) message {
	m := message{text: ends.Replace(text)}
	var fence, kind string
	var open, held span // the line that opened it, and what it holds
	var inside []span   // lines of a fence, the judge's own if it never ends
	at := 0
	for line := range strings.Lines(m.text) {
		here := span{at, at + len(line)}
		at = here.to
		t := strings.TrimSpace(line)
		switch {
		case fence != "" && len(t) >= len(fence) && strings.Trim(t, fence[:1]) == "":
			if strings.EqualFold(kind, "json") {
				held.to = here.from
				m.blocks = append(m.blocks, block{whole: span{open.from, here.to}, json: held})
			}
			fence, inside = "", nil
		case fence != "":
			inside = append(inside, here)
		case quotes.MatchString(line):
		default:
			if f := opensFence.FindStringSubmatch(strings.TrimRight(line, " \t\n")); f != nil {
				fence, kind, open, held = f[1], f[2], here, span{here.to, here.to}
			}
			m.own = append(m.own, here)
		}
	}
	if fence != "" && strings.EqualFold(kind, "json") {
		end := len(m.text)
		m.blocks = append(m.blocks, block{whole: span{open.from, end}, json: span{held.from, end}})
	}
	m.own = append(m.own, inside...)
	return m
}

// verdictAt is the place of the answer: the whole message if it is one object, else
// the last block that speaks of a status. ok is false if there is none.
func (m message) verdictAt() (whole, json span, ok bool) {
	if strings.HasPrefix(strings.TrimLeft(m.text, "\ufeff \t\n"), "{") && len(m.blocks) == 0 {
		all := span{0, len(m.text)}
		return all, all, strings.Contains(m.text, `"status"`)
	}
	for i := len(m.blocks) - 1; i >= 0; i-- {
		if b := m.blocks[i]; strings.Contains(b.json.of(m.text), `"status"`) {
			return b.whole, b.json, true
		}
	}
	return span{}, span{}, false
}

var (
	// failingVerdict is how a verdict that is no pass looks in a text.
	failingVerdict = lazyregexp.New(`(?i)["'](?:status|verdict)["']\s*:\s*["'](?:fail(?:ed|ure)?|stop(?:ped)?|reject(?:ed)?)["']`)
	// label is before a verdict in words.
	label = lazyregexp.New(`(?i)^(?:(?:my|the|final|overall|test|review|gate|qa)\s+){0,3}(?:verdict|status|result)\W*(?:is\b)?`)
	// failingWord begins a line that does not pass. "Fail-safe", "fail_to_pass" and a
	// count of none are other things.
	failingWord = lazyregexp.New(`(?i)^(?:fail(?:ed)?|reject(?:ed)?|stop)(?:[^\pL\pN_-]|[_-]+(?:[^\pL\pN_-]|$)|$)`)
	// countOfNone is "FAIL lines: none" up to the comma that ends it. A cell is a count
	// if its neighbour is 0 or it says of what: | FAIL | none | is a verdict without findings.
	countOfNone = lazyregexp.New(`(?i)^(?:fail(?:ed)?|reject(?:ed)?|stop)` +
		`(?:(?:\s+[\pL\pN_-]+){0,3}[^\pL\pN]*[:=][^\pL\pN]*(?:0|none)|(?:\s+[\pL\pN_-]+){1,3}[^\pL\pN:=]*\|[^\pL\pN]*(?:0|none)|[^\pL\pN]*\|[^\pL\pN]*0)` +
		`(?:(?:\s+of\s+\d+)?\s+tests?\s+failed)?(?:[^\pL\pN]*$|[*_\s` + "`" + `]*[,;])`)
	// markup may be before the first word of a line.
	markup = lazyregexp.New(`^(?:\d{1,9}[.)]\s|\[[ xX]\]\s|</?[A-Za-z][^<>]{0,100}>|[^\pL\pN<\[]|[<\[])+`)
)

// failsAt finds where a message says, outside of the part that is left out, that its
// judge does not pass what it judges; "" if nowhere.
func (m message) failsAt(without span) string {
	rest := m.text[:without.from] + "\n" + m.text[without.to:]
	if at := failingVerdict.FindString(rest); at != "" {
		return at
	}
	for _, l := range m.own {
		if l.from >= without.from && l.to <= without.to {
			continue
		}
		for part := range strings.FieldsFuncSeq(l.of(m.text), func(r rune) bool { return r == 0x85 || r == 0x2028 || r == 0x2029 }) {
			if saysFail(part) {
				return strings.TrimSpace(part)
			}
		}
	}
	return ""
}

// saysFail reports whether a line begins, after its markup and a label, with a word
// that fails it.
func saysFail(line string) bool {
	if len(line) > 4096 {
		line = line[:4096] // its beginning counts
	}
	line = strings.Map(narrow, process.Plain(line))
	line = markup.ReplaceAllString(line, "")
	if at := label.FindStringIndex(line); at != nil {
		if rest := markup.ReplaceAllString(line[at[1]:], ""); failingWord.MatchString(rest) {
			line = rest
		}
	}
	for failingWord.MatchString(line) {
		at := countOfNone.FindStringIndex(line)
		if at == nil {
			return true
		}
		line = markup.ReplaceAllString(line[at[1]:], "") // "Failed: 0, rejected: 2"
	}
	return false
}

// narrow makes plain letters of wide ones, and drops marks upon letters.
func narrow(r rune) rune {
	switch {
	case r >= 0xff01 && r <= 0xff5e:
		return r - 0xff01 + '!'
	case unicode.Is(unicode.Mn, r):
		return -1
	}
	return r
}
