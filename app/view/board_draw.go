package view

import (
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/internal/columns"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
)

// draw is the screen: a head, what is shown, what is asked or said, and the keys.
func (m boardModel) draw() string {
	if m.columns == 0 || m.rows == 0 {
		return ""
	}
	foot := m.foot()
	body := max(m.rows-2-len(foot), 0)
	lines := []string{m.head()}
	if m.screen == onList {
		lines = append(lines, m.drawList(body)...)
	} else {
		lines = append(lines, m.text.part(body)...)
	}
	for len(lines) < body+1 {
		lines = append(lines, "")
	}
	lines = append(append(lines, foot...), m.keys())
	for i, l := range lines {
		lines[i] = term.Cut(l, m.columns)
	}
	return strings.Join(lines[:min(len(lines), m.rows)], "\n")
}

// body is how many rows are left for what is shown.
func (m boardModel) body() int { return max(m.rows-2-len(m.foot()), 0) }

// word is text of others on one line.
func word(s string) string { return strings.Join(strings.Fields(reveal.Words(s)), " ") }

// head says what is shown, and how much wants to be seen.
func (m boardModel) head() string {
	left := m.paint.Paint(term.Bold, "ralph monitor")
	if m.screen != onList {
		what := map[screen]string{onPage: "", onLog: "log of ", onDiff: "diff of ", onHelp: "keys"}[m.screen]
		if m.screen != onHelp {
			title := ""
			if i := m.index(); i >= 0 {
				title = m.list()[i].Title
			}
			what += strings.TrimSpace(word(string(m.at.Key)) + "  " + word(title))
		}
		left = m.paint.Paint(term.Bold, what)
	}
	right := m.counts()
	if m.screen == onLog {
		right = "live"
		if m.tail != nil && m.tail.over {
			right = "ended"
		}
		if !m.text.ended(m.body()) {
			right += "; G follows"
		}
	} else if m.screen != onList {
		if k := len(m.text.shown); k > m.body() {
			right = fmt.Sprintf("line %d of %d", min(m.text.top, k-m.body())+1, k)
		} else {
			right = ""
		}
	}
	left = term.Cut(left, max(m.columns-columns.Of(right)-2, 10))
	return left + strings.Repeat(" ", max(m.columns-term.Width(left)-term.Width(right), 2)) + right
}

func (m boardModel) counts() string {
	n := [4]int{}
	for _, r := range m.list() {
		n[r.Need]++
	}
	parts := []string{}
	for i, c := range []struct {
		word   string
		colour term.Colour
	}{{"wait", term.Warn}, {"failed", term.Bad}, {"running", term.Info}} {
		if n[i] > 0 {
			what := fmt.Sprintf("%d %s", n[i], c.word)
			if i == 0 && n[i] == 1 {
				what += "s"
			}
			parts = append(parts, m.paint.Paint(c.colour, what))
		}
	}
	return strings.Join(parts, ", ")
}

// sums are how far an epic is and what it cost: in one line, if that fits.
func (m boardModel) sums(e BoardEpic) []string {
	far := "  " + word(e.Dir) + ": " + e.Tally
	if one := far + words.With("; spent ", e.Spent, ""); columns.Of(one) <= m.columns {
		return []string{one}
	}
	if e.Spent == "" {
		return []string{far}
	}
	return []string{far, "  spent " + e.Spent}
}

// drawList is the part of the list around the marked row that fits.
func (m boardModel) drawList(rows int) []string {
	var out []string
	marked := 0
	for _, e := range m.board.Epics {
		if len(out) > 0 {
			out = append(out, "")
		}
		out = append(out, m.paint.Paint(term.Bold, word(e.Title))+"  "+word(e.Says))
		for _, line := range m.sums(e) {
			out = append(out, m.paint.Paint(term.Faint, line))
		}
		key, state := 0, 0
		for _, r := range e.Rows {
			key, state = max(key, columns.Of(word(string(r.Key)))), max(state, columns.Of(word(r.Word)))
		}
		for _, r := range e.Rows {
			if r.Spot == m.at {
				marked = len(out)
			}
			out = append(out, m.drawRow(r, min(key, 12), min(state, m.columns*2/5)))
		}
	}
	for _, t := range m.board.Trouble {
		out = append(out, m.paint.Paint(term.Bad, word(t)))
	}
	switch {
	case m.trying != "":
		out = append(out, m.paint.Paint(term.Bad, word("this may be old: "+m.trying)))
	case !m.loaded:
		out = append(out, "reading …")
	case len(out) == 0:
		out = append(out, "nothing has been applied here yet")
	}
	top := max(0, min(marked-rows/2, len(out)-rows))
	return out[top:min(len(out), top+rows)]
}

// drawRow is a row: its key, its status, since when, and its title.
func (m boardModel) drawRow(r BoardRow, key, state int) string {
	mark := "  "
	if r.Spot == m.at {
		mark = "> "
	}
	since := ""
	if !r.Since.IsZero() && r.Need != NeedRest {
		since = words.Brief(max(m.board.Now.Sub(r.Since), 0))
	}
	colour := [...]term.Colour{NeedWaits: term.Warn, NeedFailed: term.Bad, NeedRuns: term.Info, NeedRest: term.Plain}[r.Need]
	switch {
	case r.Stalls:
		colour = term.Bad
	case r.Done:
		colour = term.Good
	}
	title := word(r.Title)
	if r.Spot == m.at {
		title = m.paint.Paint(term.Bold, title)
	}
	return fmt.Sprintf("%s%s  %s  %s  %s", mark, wide(word(string(r.Key)), key), m.paint.Paint(colour, wide(word(r.Word), state)), wide(since, 6), title)
}

// wide is text in so many columns.
func wide(s string, n int) string {
	s = columns.Truncate(s, n)
	return s + strings.Repeat(" ", max(n-columns.Of(s), 0))
}

// foot is what is asked, else what was said, else more about the marked row; a rule is
// above it.
func (m boardModel) foot() []string {
	var lines []string
	most := max(min(m.rows/3, 9), 3)
	switch {
	case m.asking != nil:
		lines, most = m.drawAsking(), max(m.rows-3, 3)
	case m.typing != nil:
		lines = []string{"/" + word(m.typing.text) + "_"}
	case m.told != "":
		for l := range strings.Lines(strings.TrimSpace(m.told)) {
			lines = append(lines, term.Wrap(reveal.Words(strings.TrimRight(l, "\n")), m.columns)...)
		}
	case m.screen == onList && m.page.Spot == m.at && m.page.Brief != "":
		lines = strings.Split(strings.TrimRight(m.page.Brief, "\n"), "\n")
	default:
		return nil
	}
	lines = lines[:min(len(lines), most)]
	return append([]string{m.paint.Paint(term.Faint, strings.Repeat("─", m.columns))}, lines...)
}

// drawAsking is a decision that is about to be made.
func (m boardModel) drawAsking() []string {
	a := m.asking
	verb := string(a.offer.Verb)
	head := strings.ToUpper(a.offer.Label[:1]) + a.offer.Label[1:]
	lines := []string{m.paint.Paint(term.Bold, strings.TrimSpace(head+"  "+word(string(a.page.Key))+"  "+word(a.page.Title))), "  " + word(a.offer.What)}
	if b := a.page.Approval; b != nil && verb == "approve" {
		lines = append(lines, "  gate "+word(b.Gate)+words.With(": ", word(a.page.Change), ""))
	} else if a.page.Change != "" {
		lines = append(lines, "  "+word(a.page.Change))
	}
	if a.offer.As != "" {
		lines = append(lines, "  as "+word(a.offer.As)+", which is recorded as your claim")
	}
	if a.text != nil {
		ask := a.offer.Text
		if !a.must {
			ask += ", or nothing"
		}
		text := term.Wrap(word(a.text.text)+trailing(a.text.text)+"_", m.columns-2)
		lines = append(lines, m.paint.Paint(term.Faint, "  "+ask+"; enter goes on, esc decides nothing"))
		return append(lines, text...)
	}
	for _, l := range term.Wrap(reveal.Words(a.command()), m.columns-4) {
		lines = append(lines, "    "+l)
	}
	return append(lines, m.paint.Paint(term.Warn, "  y decides it, esc decides nothing"))
}

// trailing is the space at the end of what is typed.
func trailing(s string) string {
	if strings.HasSuffix(s, " ") {
		return " "
	}
	return ""
}

// keys is the last line.
func (m boardModel) keys() string {
	text := ""
	switch {
	case m.asking != nil, m.typing != nil:
	case m.screen == onHelp:
		text = "q quit  esc back"
	case m.screen == onList:
		text = "? keys  q quit  enter open  l log  d diff  a approve  r reject  t retry  s skip"
	case m.screen == onPage:
		text = "? keys  q quit  esc back  l log  d diff  a approve  r reject  t retry  s skip"
	default:
		text = "? keys  q quit  esc back  / find  a approve  r reject  t retry  s skip"
	}
	return m.paint.Paint(term.Faint, text)
}
