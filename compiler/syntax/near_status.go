package syntax

import (
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
)

// A status that nearly says that an item is finished: the item runs again, and someone
// has to know why.

// statusLine is a line that would be the label Status with other marks: "Status: done",
// "**Status: done**", "> **Status**: done", "| Status | done |".
var statusLine = lazyregexp.New("^[ \t>|]*(?:\\[[ xX]\\][ \t]*)?([*_`]{0,3})((?i:status))([*_`]{0,3})[ \t]*[:：|]([*_`]{0,3})[ \t]*(.+)$")

// maxStatusLine bounds the lines that are looked at.
const maxStatusLine = 400

// lostStatus is such a line.
type lostStatus struct {
	at    diag.Range
	why   string
	value string
}

// plainStatus remembers src[at:end] if it is a line of the kind.
func (p *parser) plainStatus(at, end int, where place) {
	line := strings.TrimRight(p.src[at:end], " \t\r\n|")
	if len(line) > maxStatusLine || strings.IndexByte(line, ':') < 0 && strings.IndexByte(line, '|') < 0 && !strings.Contains(line, "：") {
		return
	}
	m := statusLine.FindStringSubmatchIndex(line)
	if m == nil {
		return
	}
	value := strings.TrimSpace(strings.NewReplacer("**", "", "`", "").Replace(line[m[10]:m[11]]))
	value, _, _ = strings.Cut(strings.TrimRight(value, "*_"), "|")
	if value = strings.TrimSpace(value); !beginsDone(value) {
		return
	}
	why := "it is not bold"
	switch bold := line[m[2]:m[3]]; {
	case where == inQuote:
		why = "it is in a quotation"
	case strings.HasPrefix(strings.TrimLeft(line, " \t"), "|"):
		why = "it is in a table"
	case strings.HasPrefix(bold, "**") && m[6] == m[7] && m[8] == m[9]:
		why = "the value is inside the bold text"
	}
	p.statuses = append(p.statuses, lostStatus{at: p.file.Range(at+m[4], at+m[5]), why: why, value: value})
}

// beginsDone reports whether the first word of a status says that the work is finished.
func beginsDone(s string) bool { return doneWords[doneWord(s)] }

// nearStatus warns of an item that runs although a status nearly says that it is finished.
func (p *parser) nearStatus(it *Item, l *Label) {
	if l != nil {
		if text := statusText(l); beginsDone(text) {
			p.report(diag.Newf("label-form", l.NameRange, "%s does not finish the item", quoted(l.Written)).WithDetail(
				"A status finishes an item if it is one word (done, complete, merged) and then nothing, a date or a parenthesis. Here more text follows, so the item runs. If its work is done, write **Status**: %s, and the rest in parentheses.", doneWord(text)))
		}
		return
	}
	if len(it.Body.statuses) > 0 {
		s := &it.Body.statuses[0]
		p.report(diag.Newf("label-form", s.at, "%s is not a label: %s", quoted(p.src[s.at.Start:s.at.End]), s.why).WithDetail(
			"The line is read as prose, so it does not finish the item, which runs. If its work is done, write **Status**: %s on a line of its own.", doneWord(s.value)))
	}
}

// doneWord returns the first word of a status, after pictures and markup.
func doneWord(s string) string { return strings.ToLower(firstWord(unmarked(s))) }

// unmarked takes the pictures and the markup from the beginning of a status.
func unmarked(s string) string {
	return strings.TrimLeftFunc(s, func(r rune) bool { return isEmoji(r) || strings.ContainsRune(" *_`~[(\u00a0", r) })
}
