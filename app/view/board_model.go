package view

import (
	"slices"
	"strings"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/term"
)

// screen is what fills the terminal.
type screen uint8

const (
	onList screen = iota
	onPage
	onLog
	onDiff
	onHelp
)

// boardModel is the state of `ralph monitor --watch` with keys. It is a value: keys and
// answers go in, what is drawn comes out; all else is done by commands.
type boardModel struct {
	door          door
	paint         term.Style
	columns, rows int

	board  Board
	trying string // why the board may be old
	loaded bool
	at     Spot // the row that is marked

	screen screen
	before []screen
	page   BoardPage // of at, once it is there
	diff   BoardDiff
	text   scroll // of the page, the log, the diff or the help
	tail   *tailed
	told   string // what the last decision led to, or why it was refused

	typing *typing // /
	find   string
	asking *asking // a decision
}

// door is a Desk that can be asked; its answers are messages.
type door struct {
	look   func() tea.Msg
	page   func(at Spot, verb executor.Verb) tea.Msg
	diff   func(Spot) tea.Msg
	follow func(Spot) tea.Msg
	decide func(at Spot, d executor.Decision, budget string) tea.Msg
	after  func(time.Duration, tea.Msg) tea.Cmd
}

// What commands answer.
type (
	lookedMsg struct {
		board Board
		err   error
	}
	lookMsg struct{} // it is time to look
	pageMsg struct {
		page BoardPage
		verb executor.Verb // that was asked for; "": none
		err  error
	}
	diffMsg struct {
		at   Spot
		diff BoardDiff
		err  error
	}
	decidedMsg struct {
		said string
		err  error
	}
	tailMsg struct {
		tail  *tailed
		lines []string
		over  bool
		err   error
	}
)

// tailed is a log that is being followed.
type tailed struct {
	at   Spot
	next func() tea.Msg // waits for more
	stop func()
	over bool
}

// lookEvery is how often the board is read.
const lookEvery = time.Second

// Init begins to look.
func (m boardModel) Init() tea.Cmd { return m.door.look }

// Update is the state after a message, and what to do.
func (m boardModel) Update(msg tea.Msg) (boardModel, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.columns, m.rows = msg.Width, msg.Height
		m.text.wrap(m.columns)
	case lookMsg:
		return m, m.door.look
	case lookedMsg:
		return m.looked(msg)
	case pageMsg:
		return m.paged(msg)
	case diffMsg:
		return m.differs(msg)
	case decidedMsg:
		m.told = msg.said
		if msg.err != nil {
			m.told = "not done: " + msg.err.Error()
		}
		return m, m.door.look
	case tailMsg:
		return m.tailed(msg)
	case tea.PasteMsg:
		return m.pasted(msg.Content), nil
	case tea.KeyPressMsg:
		return m.pressed(msg)
	}
	return m, nil
}

// looked takes a board in. What is marked stays marked while it is there.
func (m boardModel) looked(msg lookedMsg) (boardModel, tea.Cmd) {
	next := m.door.after(lookEvery, lookMsg{})
	if m.trying = ""; msg.err != nil {
		m.trying = msg.err.Error()
		return m, next
	}
	was := m.index()
	m.board, m.loaded = msg.board, true
	if rows := m.list(); m.index() < 0 && len(rows) > 0 {
		m.at = rows[max(0, min(was, len(rows)-1))].Spot
		if m.screen == onPage {
			m = m.back()
		}
	}
	next = tea.Batch(next, m.load(""))
	if at := m.at; m.screen == onLog && m.tail != nil && m.tail.over && m.runs(at) { // it has begun again
		return m.show(onLog, ""), tea.Batch(next, func() tea.Msg { return m.door.follow(at) })
	}
	return m, next
}

// runs reports whether a sprint runs.
func (m boardModel) runs(at Spot) bool {
	return slices.ContainsFunc(m.list(), func(r BoardRow) bool { return r.Spot == at && r.Need == NeedRuns })
}

// load asks for the page of what is marked, to decide something about it.
func (m boardModel) load(verb executor.Verb) tea.Cmd {
	if at := m.at; at != (Spot{}) {
		return func() tea.Msg { return m.door.page(at, verb) }
	}
	return nil
}

// paged takes a page in, unless something else is marked by now.
func (m boardModel) paged(msg pageMsg) (boardModel, tea.Cmd) {
	if msg.page.Spot != m.at {
		return m, nil
	}
	if msg.err != nil {
		m.page = BoardPage{Spot: m.at, Brief: msg.err.Error(), Text: msg.err.Error()}
	} else {
		m.page = msg.page
	}
	if m.screen == onPage {
		m.text.set(m.page.Text, m.columns)
	}
	if msg.verb != "" && m.asking == nil {
		return m.ask(m.page, msg.verb)
	}
	return m, nil
}

func (m boardModel) differs(msg diffMsg) (boardModel, tea.Cmd) {
	if m.screen != onDiff || msg.at != m.at {
		return m, nil
	}
	if m.diff = msg.diff; msg.err != nil {
		m.diff = BoardDiff{Text: msg.err.Error()}
	}
	m.text.set(m.diff.Text, m.columns)
	return m, nil
}

// tailed takes lines of a log in, and waits for more.
func (m boardModel) tailed(msg tailMsg) (boardModel, tea.Cmd) {
	if m.screen != onLog || m.tail != nil && m.tail != msg.tail || msg.tail.at != m.at {
		if msg.tail != nil && msg.tail.stop != nil {
			msg.tail.stop()
		}
		return m, nil
	}
	m.tail = msg.tail
	m.text.add(msg.lines, m.columns, m.body())
	if !msg.over {
		return m, m.tail.next
	}
	if m.tail.over = true; strings.Join(m.text.lines, "") == "" {
		m.text.add([]string{"nothing has happened yet"}, m.columns, m.body())
	}
	if msg.err != nil {
		m.text.add([]string{msg.err.Error()}, m.columns, m.body())
	}
	return m, nil
}

// show puts a screen on top of the present one.
func (m boardModel) show(s screen, text string) boardModel {
	m = m.leave()
	if m.screen == onList || m.screen == onPage && s != onPage {
		m.before = append(m.before[:len(m.before):len(m.before)], m.screen)
	}
	m.screen, m.text = s, scroll{}
	m.text.set(text, m.columns)
	return m
}

// back goes to the screen before.
func (m boardModel) back() boardModel {
	m = m.leave()
	m.screen = onList
	if k := len(m.before); k > 0 {
		m.screen, m.before = m.before[k-1], m.before[:k-1]
	}
	m.text = scroll{}
	if m.screen == onPage {
		m.text.set(m.page.Text, m.columns)
	}
	return m
}

// leave ends the following of a log.
func (m boardModel) leave() boardModel {
	if m.tail != nil {
		m.tail.stop()
		m.tail = nil
	}
	return m
}

// list is every row of the board.
func (m boardModel) list() []BoardRow {
	var out []BoardRow
	for _, e := range m.board.Epics {
		out = append(out, e.Rows...)
	}
	return out
}

// index is where the marked row is; -1 if it is gone.
func (m boardModel) index() int {
	for i, r := range m.list() {
		if r.Spot == m.at {
			return i
		}
	}
	return -1
}

// typing is a line that is being typed.
type typing struct{ text string }

// key edits the line.
func (t typing) key(k tea.KeyPressMsg) typing {
	runes := []rune(t.text)
	switch k.String() {
	case "backspace", "ctrl+h":
		t.text = string(runes[:max(len(runes)-1, 0)])
	case "ctrl+u":
		t.text = ""
	case "ctrl+w":
		t.text = t.text[:strings.LastIndexFunc(strings.TrimRight(t.text, " "), unicode.IsSpace)+1]
	default:
		t.text += k.Text
	}
	return t
}

// pasted adds to the line that is typed; a paste presses no keys.
func (m boardModel) pasted(text string) boardModel {
	text = strings.Join(strings.Fields(text), " ")
	switch {
	case m.asking != nil && m.asking.text != nil:
		a := *m.asking
		a.text = &typing{a.text.text + text}
		m.asking = &a
	case m.typing != nil:
		m.typing = &typing{m.typing.text + text}
	}
	return m
}

// asking is a decision that is about to be made.
type asking struct {
	page  BoardPage // as it is shown
	offer record.Offer
	text  *typing // what is being typed; nil: it is to be confirmed
	said  string  // that was typed
	must  bool    // it needs a text
}
