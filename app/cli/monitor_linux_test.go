package cli

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// On a terminal without a keyboard the monitor draws one picture, in its place, over and over: what has
// changed stands where the old stood, nothing is wider than the terminal or longer than
// it. Ctrl-C leaves the last one there, and a cursor. S4-61, L0-08
func TestTheMonitorDrawsATerminalAnew(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", executortest.Epic([]string{"1.1", "1.2: 1.1"}, func(e *ir.Epic) {
		e.Gates["ann"] = ir.Gate{Kind: "human", From: "policy", Approvers: []string{"ann"}, OnFailure: "retry"}
		e.Nodes[0].Steps[0].Gates = append(e.Nodes[0].Steps[0].Gates, "ann")
	}))
	s.apply(exit.Waiting)
	const columns = 60
	x := newTerminal(t, columns, 20)
	watch := x.reading(nil, s, "monitor", "--watch")
	has := func(what string) func() bool {
		return func() bool { text, _ := x.screen(); return strings.Contains(text, what) }
	}
	s.until("what waits for ann is drawn", has("1.1  waiting: approval (gate ann, ann decides)"))
	s.until("what to type is drawn", has("ralph approve 1.1 --as ann"))
	if got := s.ralph("approve", "1.1", "--as", "ann"); got.code != exit.Done {
		t.Fatal(got.all())
	}
	s.apply(exit.Done)
	s.until("the end is drawn", has("2 of 2 sprints done"))
	// A picture may come in pieces.
	text := ""
	s.until("what is over is gone", func() bool {
		whole := false // with the cursor, at the end of a picture
		text, whole = x.screen()
		return whole && !strings.Contains(text, "waiting:") && !strings.Contains(text, "ralph approve") && strings.Count(text, string(s.epic.Epic.ID)) == 1 && strings.Count(text, "sprints done") == 1
	})
	for line := range strings.Lines(text) {
		if utf8.RuneCountInString(strings.TrimRight(line, "\n")) >= columns {
			t.Errorf("wider than the terminal: %s", line)
		}
	}
	x.types("\x03")
	if got := watch.wait(); got.code != exit.Done {
		t.Errorf("Ctrl-C ends it with %d", got.code)
	}
	s.until("the cursor is back", func() bool { _, cursor := x.screen(); return cursor })
	after, _ := x.screen()
	if !strings.HasPrefix(after, strings.TrimRight(text, "\n")) || strings.Count(strings.TrimPrefix(after, text), "\n") > 1 {
		t.Errorf("it leaves\n%s\nbehind\n%s", after, text)
	}

	// What does not fit is left out, not scrolled by.
	low := newTerminal(t, columns, 3)
	watch = low.reading(nil, s, "monitor", "--watch")
	s.until("it is drawn", func() bool { text, _ := low.screen(); return strings.Contains(text, string(s.epic.Epic.ID)) })
	if text, _ := low.screen(); strings.Count(text, "\n") > 2 {
		t.Errorf("on three lines it draws\n%s", text)
	}
	low.types("\x03")
	if got := watch.wait(); got.code != exit.Done {
		t.Errorf("Ctrl-C ends it with %d", got.code)
	}
}
