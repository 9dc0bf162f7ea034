package view

import (
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ralph-compiler/ralph/executor"
)

// boardHelp is what ? shows.
const boardHelp = `In the list
  j k  ↓ ↑      next, previous row        g G   first, last row
  space b       a screen down, up
  enter         open the sprint
  n N           next one that waits, next one that failed
  /             find a sprint by its key, its title or its status

About the sprint that is marked or open
  l             follow its log, as its agent writes it
  d             what it changed
  a             approve               r   reject, with a reason
  t             try again, with a hint if you like
  s             skip
  1 … 9         on its page: the decision at that place

Every decision shows the command that it equals, and asks.
What was decided is about what was shown: if that has changed since, it is refused.

In a page, a log, a diff
  j k  space b  scroll                    g G   begin, end
  /  n N        find, next, previous match
  esc           back

q  Ctrl-C       quit; runs go on          ?     this`

// decides are the verbs that have a key of their own.
var decides = map[string]executor.Verb{"a": executor.Approve, "r": executor.Reject, "t": executor.RetryNode, "s": executor.Skip}

// pressed is the state after a key.
func (m boardModel) pressed(k tea.KeyPressMsg) (boardModel, tea.Cmd) {
	key := k.String()
	switch {
	case m.asking != nil:
		return m.answered(k)
	case m.typing != nil:
		return m.finding(k)
	case key == "ctrl+c", key == "q":
		m = m.leave()
		return m, tea.Quit
	case key == "ctrl+z":
		return m, tea.Suspend
	}
	m.told = ""
	switch key {
	case "?":
		if m.screen != onHelp {
			return m.show(onHelp, boardHelp), nil
		}
		return m.back(), nil
	case "/":
		m.typing = &typing{}
		return m, nil
	case "esc", "left", "h", "backspace":
		return m.back(), nil
	}
	if m.screen == onHelp {
		return m.scrolled(key), nil
	}
	if verb := decides[key]; verb != "" {
		if m.screen == onDiff && m.diff.Page.Spot == m.at {
			return m.ask(m.diff.Page, verb)
		}
		return m, m.load(verb)
	}
	switch key {
	case "l", "d":
		return m.opened(key)
	}
	if m.screen == onList {
		return m.moved(key)
	}
	if n, err := strconv.Atoi(key); err == nil && m.screen == onPage && n > 0 && n <= len(m.page.Offers) {
		return m.offered(m.page, m.page.Offers[n-1]), nil
	}
	return m.scrolled(key), nil
}

// opened opens the log or the diff of what is marked.
func (m boardModel) opened(key string) (boardModel, tea.Cmd) {
	at := m.at
	switch {
	case at.Key == "":
		m.told = "that is about the whole run: open a sprint"
		return m, nil
	case key == "l" && m.screen != onLog:
		return m.show(onLog, ""), func() tea.Msg { return m.door.follow(at) }
	case key == "d" && m.screen != onDiff:
		m.diff = BoardDiff{}
		return m.show(onDiff, "…"), func() tea.Msg { return m.door.diff(at) }
	}
	return m, nil
}

// moved is the list after a key.
func (m boardModel) moved(key string) (boardModel, tea.Cmd) {
	rows := m.list()
	if len(rows) == 0 {
		return m, nil
	}
	i, page := m.index(), max(m.body()-2, 1)
	switch key {
	case "j", "down":
		i++
	case "k", "up":
		i--
	case "space", "pgdown", "ctrl+f", "ctrl+d":
		i += page
	case "b", "pgup", "ctrl+b":
		i -= page
	case "g", "home":
		i = 0
	case "G", "end":
		i = len(rows) - 1
	case "n":
		i = nextRow(rows, i, func(r BoardRow) bool { return r.Need == NeedWaits })
	case "N":
		i = nextRow(rows, i, func(r BoardRow) bool { return r.Need == NeedFailed })
	case "enter", "right", "o":
		text := ""
		if m.page.Spot == m.at {
			text = m.page.Text
		}
		return m.show(onPage, text), m.load("")
	default:
		return m, nil
	}
	if i < 0 && (key == "n" || key == "N") {
		m.told = map[string]string{"n": "nothing waits for a person", "N": "nothing has failed"}[key]
		return m, nil
	}
	return m.mark(rows[max(0, min(i, len(rows)-1))].Spot)
}

// mark moves to a row.
func (m boardModel) mark(at Spot) (boardModel, tea.Cmd) {
	if at == m.at {
		return m, nil
	}
	m.at = at
	return m, m.load("")
}

// nextRow is the next row that is so, round the end; -1 if none is.
func nextRow(rows []BoardRow, from int, so func(BoardRow) bool) int {
	for k := range rows {
		if i := (from + 1 + k) % len(rows); so(rows[i]) {
			return i
		}
	}
	return -1
}

// scrolled is a text after a key.
func (m boardModel) scrolled(key string) boardModel {
	rows := m.body()
	m.text.shown = slices.Clip(m.text.shown)
	switch key {
	case "j", "down", "enter":
		m.text.move(1, rows)
	case "k", "up":
		m.text.move(-1, rows)
	case "space", "pgdown", "ctrl+f", "ctrl+d":
		m.text.move(max(rows-1, 1), rows)
	case "b", "pgup", "ctrl+b", "ctrl+u":
		m.text.move(-max(rows-1, 1), rows)
	case "g", "home":
		m.text.top = 0
	case "G", "end":
		m.text.move(len(m.text.shown), rows)
	case "n", "N":
		return m.seek(map[string]int{"n": 1, "N": -1}[key])
	}
	return m
}

// finding is a key that is pressed while a pattern is being typed.
func (m boardModel) finding(k tea.KeyPressMsg) (boardModel, tea.Cmd) {
	switch k.String() {
	case "esc", "ctrl+c":
		m.typing = nil
	case "enter":
		if m.typing.text != "" {
			m.find = m.typing.text
		}
		if m.typing = nil; m.find == "" {
			return m, nil
		}
		if m.screen != onList {
			return m.seek(1), nil
		}
		rows := m.list()
		want := strings.ToLower(m.find)
		i := nextRow(rows, m.index(), func(r BoardRow) bool {
			return strings.Contains(strings.ToLower(string(r.Key)+" "+r.Title+" "+r.Word), want)
		})
		if i < 0 {
			m.told = "nothing here has " + m.find
			return m, nil
		}
		return m.mark(rows[i].Spot)
	default:
		t := m.typing.key(k)
		m.typing = &t
	}
	return m, nil
}

// seek goes to the next match in a text.
func (m boardModel) seek(by int) boardModel {
	switch {
	case m.find == "":
		m.told = "/ finds something first"
	case !m.text.find(m.find, by):
		m.told = "nothing here has " + m.find
	}
	return m
}
