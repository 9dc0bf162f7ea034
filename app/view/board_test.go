package view

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/columns"
	"github.com/ralph-compiler/ralph/ir"
)

// boardOf is a model about a desk, in a terminal of 80 × 24, that was told all it asked for.
func boardOf(t *testing.T, d Desk) boardModel {
	t.Helper()
	m := boardModel{door: doorOf(t.Context(), d)}
	m.door.after = func(time.Duration, tea.Msg) tea.Cmd { return nil } // time stands still
	m = told(m, tea.WindowSizeMsg{Width: 80, Height: 24})
	return answers(m, m.Init())
}

// told is the model after a message, and after the answers to all that it then asked for.
func told(m boardModel, msg tea.Msg) boardModel {
	m, cmd := m.Update(msg)
	return answers(m, cmd)
}

func answers(m boardModel, cmd tea.Cmd) boardModel {
	if cmd == nil {
		return m
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			m = answers(m, c)
		}
	default:
		m = told(m, msg)
	}
	return m
}

// press presses keys: each is a character, or a name.
func press(m boardModel, keys ...string) boardModel {
	names := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "down": tea.KeyDown, "backspace": tea.KeyBackspace}
	for _, k := range keys {
		if code, is := names[k]; is {
			m = told(m, tea.KeyPressMsg{Code: code})
			continue
		}
		for _, r := range k {
			m = told(m, tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
	return m
}

func wants(t *testing.T, m boardModel, want ...string) {
	t.Helper()
	shown := m.draw()
	for _, w := range want {
		if !strings.Contains(shown, w) {
			t.Errorf("%q is not on the screen:\n%s", w, shown)
		}
	}
	lines := strings.Split(shown, "\n")
	if len(lines) > m.rows {
		t.Errorf("%d lines on %d rows:\n%s", len(lines), m.rows, shown)
	}
	for _, l := range lines {
		if columns.Of(l) > m.columns {
			t.Errorf("a line is wider than %d columns: %q", m.columns, l)
		}
	}
}

// needs asks for the text of a decision, if it is refused without one.
func needs(w machine.Way) string {
	if (machine.NodeView{}).Must(w) {
		return words.OfferNeeds(w, "")
	}
	return ""
}

// morning is a desk with an epic: 2.1 waits, 1.2 has failed, 1.3 runs, 1.1 is done.
type morning struct {
	seq     int64
	decided []executor.Decision
	at      []Spot
	refuse  error
}

func (d *morning) desk() Desk {
	row := func(key, title, word string, need Need) BoardRow {
		return BoardRow{Spot: Spot{Epic: "e", Key: ir.Key(key)}, Title: title, Word: word, Need: need}
	}
	return Desk{
		Look: func(context.Context) (Board, error) {
			return Board{Epics: []BoardEpic{{ID: "e", Dir: "/src/shop", Title: "A shop", Says: "ended", Tally: "1 of 4 sprints done", Rows: []BoardRow{
				row("2.1", "Sign-in \x1b[31m\u202e", "waiting: approval", NeedWaits), row("1.2", "Refunds", "blocked", NeedFailed), row("1.3", "Receipts", "running", NeedRuns), row("1.1", "Prices", "done", NeedRest),
			}}}}, nil
		},
		Page: func(_ context.Context, at Spot) (BoardPage, error) {
			p := BoardPage{Spot: at, Title: "title of " + string(at.Key), Seq: d.seq, Brief: "what " + string(at.Key) + " wants", Text: "all about " + string(at.Key) + "\n" + strings.Repeat("more\n", 40) + "the end", Flag: " --epic x.json"}
			way := func(verb executor.Verb, message bool) record.Offer {
				w := machine.Way{Verb: verb, Key: at.Key, Message: message}
				return record.Offer{Way: w, Label: words.Offer(w, ""), Text: words.OfferText(w, ""), Needs: needs(w), What: "effect of " + string(verb), As: "ada", Command: w.Line(string(at.Key), " --as ada", "TEXT") + " --epic x.json"}
			}
			if at.Key == "2.1" {
				p.Offers = []record.Offer{way(executor.Approve, false), way(executor.Reject, true)}
				p.Approval = &record.ApprovalJSON{Gate: "sign-off", Digest: "dd", Result: "rr", Base: "bb"}
			}
			if at.Key == "1.2" {
				p.Offers = []record.Offer{way(executor.RetryNode, true), way(executor.Skip, false), way(executor.Cancel, false)}
			}
			return p, nil
		},
		Diff: func(ctx context.Context, at Spot) (BoardDiff, error) {
			return BoardDiff{Page: BoardPage{Spot: at, Seq: 40, Offers: []record.Offer{{Way: machine.Way{Verb: executor.Approve, Key: at.Key}, Label: "approve", Command: "ralph approve " + string(at.Key)}}, Approval: &record.ApprovalJSON{Gate: "sign-off", Digest: "dd", Result: "seen", Base: "bb"}}, Text: "+new\n" + strings.Repeat("x", 100) + "!"}, nil
		},
		Follow: func(_ context.Context, at Spot, w io.Writer) error {
			for i := range 30 {
				if _, err := fmt.Fprintf(w, "line %d of %s\n", i, at.Key); err != nil {
					return err
				}
			}
			return nil
		},
		Decide: func(_ context.Context, at Spot, what executor.Decision, _ string) (string, error) {
			d.decided, d.at = append(d.decided, what), append(d.at, at)
			return "it is decided", d.refuse
		},
	}
}

func TestTheBoardListsWhatWaitsFirst(t *testing.T) {
	d := &morning{seq: 7}
	m := boardOf(t, d.desk())
	wants(t, m, "1 waits, 1 failed, 1 running", "A shop  ended", "/src/shop: 1 of 4 sprints done", "> 2.1", "what 2.1 wants", `Sign-in \x1b[31m\u202e`)
	wants(t, press(m, "j"), "> 1.2", "what 1.2 wants")
	wants(t, press(m, "j", "down", "j", "j"), "> 1.1", "what 1.1 wants")
	wants(t, press(m, "jjk"), "> 1.2")
	wants(t, press(m, "N"), "> 1.2")
	wants(t, press(m, "Nn"), "> 2.1")
	wants(t, press(m, "/receipt", "enter"), "> 1.3")
	wants(t, press(m, "/nosuch", "enter"), "> 2.1", "nothing here has nosuch")
	wants(t, press(m, "?"), "Every decision shows the command")
	wants(t, press(m, "?", "esc"), "> 2.1")
	small := told(m, tea.WindowSizeMsg{Width: 30, Height: 8})
	wants(t, small, "> 2.1", "? keys  q quit")
	wants(t, press(small, "G"), "> 1.1")
}

func TestTheBoardOpensASprint(t *testing.T) {
	d := &morning{seq: 7}
	m := press(boardOf(t, d.desk()), "enter")
	wants(t, m, "2.1", "all about 2.1", "line 1 of 42")
	wants(t, press(m, "G"), "the end")
	wants(t, press(m, "/THE END", "enter"), "the end")
	wants(t, press(m, "esc"), "> 2.1", "A shop")
	wants(t, press(m, "l"), "log of 2.1", "line 29 of 2.1", "ended")
	wants(t, press(m, "l", "esc"), "all about 2.1")
	wants(t, press(m, "l", "esc", "esc"), "A shop")
	wants(t, press(m, "d"), "diff of 2.1", "+new", strings.Repeat("x", 80), strings.Repeat("x", 20)+"!")
	if got := told(press(m, "l"), tea.WindowSizeMsg{Width: 40, Height: 10}); got.text.top == 0 {
		t.Errorf("a log stays at its end:\n%s", got.draw())
	}
}

// A decision is made only after it was confirmed, about what was shown.
func TestTheBoardDecidesAboutWhatItShowed(t *testing.T) {
	d := &morning{seq: 7}
	m := press(boardOf(t, d.desk()), "a")
	wants(t, m, "Approve  2.1  title of 2.1", "gate sign-off", "ralph approve 2.1 --as ada --epic x.json", "as ada", "y decides it")
	d.seq = 9 // something happens before the answer
	if m = told(m, lookMsg{}); len(d.decided) > 0 {
		t.Fatal("it was not confirmed")
	}
	wants(t, press(m, "n"), "nothing was decided")
	if m = press(m, "y"); len(d.decided) != 1 {
		t.Fatalf("%d decisions", len(d.decided))
	}
	wants(t, m, "it is decided")
	if got, want := d.decided[0], (executor.Decision{Verb: executor.Approve, By: "ada", Seen: executor.Sight{Seq: 7}, Gate: "sign-off", Digest: "dd", Result: "rr", Base: "bb"}); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("decided\n%+v, want\n%+v", got, want)
	}
	press(m, "d", "a", "y")
	if got := d.decided[1]; got.Seen.Seq != 40 || got.Result != "seen" {
		t.Errorf("from the diff: %+v", got)
	}
}

func TestTheBoardAsksForTheReason(t *testing.T) {
	d := &morning{seq: 7}
	m := press(boardOf(t, d.desk()), "r")
	wants(t, m, "the reason")
	wants(t, press(m, "enter"), "the reason") // there must be one
	m = press(m, "too longg", "backspace")
	m = told(m, tea.PasteMsg{Content: "; y\nshorten it"})
	m = press(m, "enter")
	wants(t, m, "ralph reject 2.1 --as ada -m 'too long; y shorten it' --epic x.json")
	press(m, "y")
	if len(d.decided) != 1 || d.decided[0].Message != "too long; y shorten it" || d.decided[0].Gate != "" {
		t.Errorf("decided %+v", d.decided)
	}

	m = press(boardOf(t, d.desk()), "N", "t", "enter") // a hint may be left out
	wants(t, m, "ralph retry 1.2 --as ada --epic x.json")
	press(m, "y")
	if len(d.decided) != 2 || d.decided[1].Verb != executor.RetryNode || d.at[1].Key != "1.2" {
		t.Errorf("decided %+v", d.decided)
	}
	wants(t, press(boardOf(t, d.desk()), "N", "enter", "3"), "Cancel  1.2")
	wants(t, press(boardOf(t, d.desk()), "s"), "skip cannot be decided about 2.1 now")
	d.refuse = errors.New("it has changed since")
	wants(t, press(boardOf(t, d.desk()), "N", "s", "enter", "y"), "not done: it has changed since")
}

// What a program panics with comes out when the terminal is as it was.
func TestAPanicEndsTheBoard(t *testing.T) {
	d := (&morning{}).desk()
	d.Look = func(context.Context) (Board, error) { panic("broken") }
	g := &guarded{model: boardModel{door: doorOf(t.Context(), d)}}
	if _, cmd := g.Update(g.Init()()); g.broken != "broken" || cmd == nil {
		t.Fatalf("%v", g.broken)
	} else if _, is := cmd().(tea.QuitMsg); !is {
		t.Error("it does not quit")
	}
}

// A sprint that goes while it is open leaves the list, with another one marked.
func TestTheBoardSurvivesWhatGoes(t *testing.T) {
	d := (&morning{}).desk()
	m := press(boardOf(t, d), "enter")
	m = told(m, lookedMsg{board: Board{Epics: []BoardEpic{{ID: "e", Title: "A shop", Rows: []BoardRow{{Spot: Spot{Epic: "e", Key: "1.2"}, Title: "Refunds"}}}}}})
	wants(t, m, "> 1.2")
	m = told(m, lookedMsg{err: errors.New("the disk is gone")})
	wants(t, m, "> 1.2", "this may be old: the disk is gone")
	wants(t, told(m, lookedMsg{}), "nothing has been applied here yet")
	wants(t, told(m, tea.WindowSizeMsg{Width: 1, Height: 1}))
}

func TestACostThatDoesNotFitHasALineOfItsOwn(t *testing.T) {
	t.Parallel()
	e := BoardEpic{Dir: "/src/shop", Tally: "6 of 8 sprints done, 1 waiting, 1 pending"}
	m := boardModel{columns: 80}
	for spent, want := range map[string][]string{
		"":      {"  /src/shop: " + e.Tally},
		"$0.38": {"  /src/shop: " + e.Tally + "; spent $0.38"},
		"57k tokens, $0.38, 13s; in all ≥ $1.51": {"  /src/shop: " + e.Tally, "  spent 57k tokens, $0.38, 13s; in all ≥ $1.51"},
	} {
		e.Spent = spent
		if got := m.sums(e); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestEpicsThatWaitForAPersonComeFirst(t *testing.T) {
	epic := func(id string, atWork bool, needs ...Need) BoardEpic {
		e := BoardEpic{ID: id, AtWork: atWork}
		for _, n := range needs {
			e.Rows = append(e.Rows, BoardRow{Need: n})
		}
		return e
	}
	epics := []BoardEpic{
		epic("at rest", false, NeedRest), epic("at work", true, NeedRuns, NeedRest), epic("failed", false, NeedFailed), epic("empty", false),
		epic("waits", false, NeedWaits, NeedFailed), epic("at work, waits", true, NeedWaits, NeedRuns),
	}
	SortBoard(epics)
	var got []string
	for _, e := range epics {
		got = append(got, e.ID)
	}
	if want := []string{"waits", "at work, waits", "failed", "at work", "at rest", "empty"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
