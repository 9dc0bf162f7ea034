package view

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/term"
)

// WatchBoard shows a board on the terminal out until a person quits with a key from in, the
// process is told to end, or ctx ends. The terminal is as it was then, also after a panic,
// which goes on.
func WatchBoard(ctx context.Context, d Desk, in, out *os.File) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // what is still being read ends
	m := &guarded{model: boardModel{door: doorOf(ctx, d), paint: term.For(out)}}
	_, err := tea.NewProgram(m, tea.WithInput(in), tea.WithOutput(out), tea.WithContext(ctx), tea.WithFPS(30)).Run()
	if m.broken != nil {
		panic(m.broken)
	}
	if errors.Is(err, tea.ErrInterrupted) || ctx.Err() != nil {
		return nil
	}
	return err
}

// guarded is a model whose panics end the program like a q, so that the terminal is as it
// was when they are told.
type guarded struct {
	model  boardModel
	drawn  string
	broken any
}

// brokenMsg is a panic of a command.
type brokenMsg struct{ why any }

func (g *guarded) Init() tea.Cmd { return guardedCmd(g.model.Init()) }

func (g *guarded) Update(msg tea.Msg) (_ tea.Model, cmd tea.Cmd) {
	defer func() {
		if r := recover(); r != nil {
			g.broken, cmd = r, tea.Quit
		}
	}()
	if b, is := msg.(brokenMsg); is {
		g.broken = b.why
		return g, tea.Quit
	}
	g.model, cmd = g.model.Update(msg)
	g.drawn = g.model.draw()
	return g, guardedCmd(cmd)
}

func (g *guarded) View() tea.View {
	v := tea.NewView(g.drawn)
	v.AltScreen = true
	return v
}

// guardedCmd is a command whose panic is a message.
func guardedCmd(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer func() {
			if r := recover(); r != nil {
				msg = brokenMsg{r}
			}
		}()
		msg = cmd()
		if list, is := msg.(tea.BatchMsg); is {
			for i := range list {
				list[i] = guardedCmd(list[i])
			}
		}
		return msg
	}
}

// doorOf asks a desk until ctx ends.
func doorOf(ctx context.Context, d Desk) door {
	return door{
		look: func() tea.Msg {
			b, err := d.Look(ctx)
			return lookedMsg{b, err}
		},
		page: func(at Spot, verb executor.Verb) tea.Msg {
			p, err := d.Page(ctx, at)
			p.Spot = at
			return pageMsg{p, verb, err}
		},
		diff: func(at Spot) tea.Msg {
			diff, err := d.Diff(ctx, at)
			return diffMsg{at, diff, err}
		},
		follow: func(at Spot) tea.Msg { return follow(ctx, d, at) },
		decide: func(at Spot, what executor.Decision, budget string) tea.Msg {
			said, err := d.Decide(ctx, at, what, budget)
			return decidedMsg{said, err}
		},
		after: func(wait time.Duration, msg tea.Msg) tea.Cmd {
			return tea.Tick(wait, func(time.Time) tea.Msg { return msg })
		},
	}
}

// follow begins to follow a log; the messages bring its lines.
func follow(ctx context.Context, d Desk, at Spot) tea.Msg {
	ctx, stop := context.WithCancel(ctx)
	lines := make(chan []string)
	var ended error // once lines is closed
	t := &tailed{at: at, stop: stop}
	go func() { // ends when it is stopped, or with the log
		defer close(lines)
		defer func() {
			if r := recover(); r != nil {
				ended = errors.New("this is a bug in ralph: the log cannot be followed")
			}
		}()
		ended = d.Follow(ctx, at, &lineWriter{ctx: ctx, to: lines})
	}()
	t.next = func() tea.Msg {
		list, more := <-lines
		if !more {
			return tailMsg{tail: t, over: true, err: ended}
		}
		return tailMsg{tail: t, lines: list}
	}
	return tailMsg{tail: t}
}

// lineWriter hands on whole lines, until nobody wants them any more.
type lineWriter struct {
	ctx  context.Context
	to   chan<- []string
	rest []byte
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.rest = append(w.rest, p...)
	var list []string
	for {
		line, rest, whole := bytes.Cut(w.rest, []byte("\n"))
		if !whole {
			break
		}
		list, w.rest = append(list, string(line)), rest
	}
	if len(list) == 0 {
		return len(p), nil
	}
	select {
	case w.to <- list:
		return len(p), nil
	case <-w.ctx.Done():
		return 0, io.ErrClosedPipe
	}
}
