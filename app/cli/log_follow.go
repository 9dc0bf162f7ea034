package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/effects"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// followTick is how often journal and files are looked at.
const followTick = 300 * time.Millisecond

// follow prints what is there, and then what comes, until the node is settled
// or no run is at work.
func (l *eventLog) follow(ctx context.Context) error {
	state := l.r.Space.State()
	events := l.r.Events
	if l.raw {
		l.enterLast(events)
	} else if err := l.past(); err != nil {
		return err
	}
	if err := l.backlog(); err != nil {
		return err
	}
	tick := time.NewTicker(followTick)
	defer tick.Stop()
	mark := record.JournalMark(state)
	for !l.ended(events) {
		_, held, err := journal.Holder(state)
		if err != nil {
			return exit.Inputf("%w", err)
		}
		if now := record.JournalMark(state); now != mark || !held {
			mark = now
			if events, err = record.ReadEvents(ctx, state, l.r.Epic.Epic.ID); err != nil && ctx.Err() == nil {
				return exit.Inputf("%w", err)
			}
			if err := l.news(events); err != nil {
				return err
			}
		}
		if err := l.output(); err != nil {
			return err
		}
		if !held {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
	return l.output()
}

// past prints the events that there are, and before those that end a program the last
// lines of what that printed.
func (l *eventLog) past() error {
	if l.node == "" || l.json {
		return l.print(l.r.Events)
	}
	for _, e := range l.r.Events {
		if e.Node != l.node {
			continue
		}
		if of := endedBy(e.Body); of != nil {
			if err := l.lastOutput(of, true); err != nil {
				return err
			}
		}
		if err := l.print([]executor.Event{e}); err != nil {
			return err
		}
	}
	return nil
}

// news prints new events, and before those that end a program what that printed.
func (l *eventLog) news(events []executor.Event) error {
	for _, e := range events {
		if e.Seq <= l.last || l.node != "" && e.Node != l.node {
			continue
		}
		if of := endedBy(e.Body); of != nil {
			if err := l.outputWhere(of, true); err != nil {
				return err
			}
		}
		if l.raw {
			l.enter(e)
			l.last = e.Seq
			continue
		}
		if err := l.print([]executor.Event{e}); err != nil {
			return err
		}
	}
	return nil
}

// endedBy tells which files of an attempt are complete when an event has come, nil
// if it ends nothing.
func endedBy(body executor.Body) func(turn string) bool {
	ofGate := func(gate string) func(string) bool {
		return func(turn string) bool {
			name, ok := strings.CutPrefix(turn, "gate-")
			if !ok {
				name, ok = strings.CutPrefix(turn, "red-")
			}
			return ok && strings.TrimSuffix(name, "-again") == text.FileName(gate)
		}
	}
	switch b := body.(type) {
	case executor.AgentEnded:
		return func(turn string) bool { return strings.HasPrefix(turn, "agent-") }
	case executor.Diagnosed:
		return func(turn string) bool { return strings.HasPrefix(turn, "diagnose-") }
	case executor.GateJudged:
		return ofGate(b.Gate)
	case executor.EffectFailed:
		if b.Gate != "" {
			return ofGate(b.Gate)
		}
		return func(turn string) bool { return !strings.HasPrefix(turn, "gate-") }
	case executor.AttemptEnded, executor.AttemptStarted:
		return func(string) bool { return true }
	}
	return nil
}

// turnOf is the base name of the files of a turn: "agent-1", "gate-qa".
func turnOf(file string) string {
	base := filepath.Base(file)
	if b, ok := strings.CutSuffix(base, runner.StreamExt); ok {
		return b
	}
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// enter notes in which attempt a node is by now, and who works there.
func (l *eventLog) enter(e executor.Event) {
	if e.Step == "" {
		return
	}
	if dir := effects.Files(l.r.Space.State(), e.Node, e.Step, e.Attempt); dir != l.dir {
		l.dir, l.begun = dir, map[string]bool{}
	}
	l.at = fmt.Sprintf("%s #%d", e.Step, e.Attempt)
	switch b := e.Body.(type) {
	case executor.EffectStarted:
		switch b.Kind {
		case executor.EffectAgent:
			l.begun[fmt.Sprintf("agent-%d", max(b.Iteration, 1))] = true
		case executor.EffectGate:
			l.begun["gate-"+text.FileName(b.Gate)] = true
		case executor.EffectRed:
			l.begun["red-"+text.FileName(b.Gate)] = true
		}
	case executor.AttemptStarted:
		n := l.r.Node(e.Node)
		i := slices.IndexFunc(n.Steps, func(s ir.Step) bool { return s.Name == e.Step })
		if l.who = b.Agent; l.who == "" && i >= 0 {
			l.who = n.Steps[i].Agent
		}
	case executor.AgentSession:
		if b.Gate == "" && strings.HasPrefix(b.Turn, "agent-") {
			l.who = b.Agent
		}
	}
}

// enterLast goes to the attempt that the node is in.
func (l *eventLog) enterLast(events []executor.Event) {
	for _, e := range events {
		if l.node == "" || e.Node == l.node {
			l.enter(e)
		}
		l.last = e.Seq
	}
}

// ended reports whether nothing more will happen to the node.
func (l *eventLog) ended(events []executor.Event) bool {
	if l.node == "" {
		return false
	}
	for _, e := range slices.Backward(events) {
		if e.Node == l.node {
			switch e.Body.(type) {
			case executor.NodeDone, executor.NodeBlocked:
				return true
			}
			return false
		}
	}
	return false
}

// followed reports whether a file of an attempt is printed as it grows.
func (l *eventLog) followed(name string) bool {
	turn := strings.TrimSuffix(turnOf(name), "-again")
	for _, kind := range []string{"agent-", "gate-", "red-"} {
		if strings.HasPrefix(turn, kind) && !l.begun[turn] && l.begun != nil {
			return false // what says that it begins is not printed yet
		}
	}
	if l.raw {
		return strings.HasSuffix(name, runner.StreamExt)
	}
	switch filepath.Ext(name) {
	case runner.OutExt, runner.ErrExt, ".log":
		return !l.json && l.node != ""
	}
	return false
}

// backlog prints the last lines of what the present attempt has written so far.
func (l *eventLog) backlog() error {
	return l.lastOutput(func(string) bool { return true }, false)
}

// lastOutput prints the last lines of the present attempt's files of which nothing was
// printed yet.
func (l *eventLog) lastOutput(of func(turn string) bool, over bool) error {
	for _, f := range record.AttemptFiles(l.dir) {
		path := filepath.Join(l.dir, f.Name)
		if _, printed := l.seen[path]; printed || !l.followed(f.Name) || !of(turnOf(f.Name)) {
			continue
		}
		from := int64(0)
		if l.lines >= 0 {
			most := min(tailRead, max(int64(l.lines), 10)*tailLine)
			if l.raw { // half an object is none
				most = tailRead
			}
			from = lastLines(path, f.Size, l.lines, most, over)
		}
		l.seen[path] = from
		if from > 0 && l.lines > 0 && !l.raw {
			if err := l.printLines(f.Name, "", []byte("… (more: --lines -1)\n")); err != nil {
				return err
			}
		}
		if err := l.outputOf(f, "", over); err != nil {
			return err
		}
	}
	return nil
}

// tailRead is how much of a file is read at a time, and of its end at most looked at
// for its last lines; tailLine is how much there is room for in each of these, on
// the average: who wrote a million bytes without a line break fills no screen.
const (
	tailRead = 256 << 10
	tailLine = 2 << 10
)

// lastLines is where the last n lines of a file begin, those of its last most bytes;
// of one that is longer it is where its part of them begins. over says that nothing
// more comes, so that a line without an end is whole.
func lastLines(path string, size int64, n int, most int64, over bool) int64 {
	from := max(size-most, 0)
	text, err := readPart(path, from, most)
	if err != nil {
		return size
	}
	end := len(text)
	switch i := bytes.LastIndexByte(text, '\n'); {
	case end > 0 && i == end-1:
		end--
	case over:
	case i >= 0: // one that is not whole yet comes later
		if end = i; n == 0 {
			return from + int64(i) + 1
		}
	case from == 0:
		return 0
	}
	if n == 0 {
		return size
	}
	whole := end
	for ; n > 0; n-- {
		i := bytes.LastIndexByte(text[:end], '\n')
		switch {
		case i < 0 && from == 0:
			return 0
		case i < 0 && end == whole: // not even one line begins here
			for i = 0; i < min(end, utf8.UTFMax-1) && !utf8.RuneStart(text[i]); i++ {
			}
			return from + int64(i)
		case i < 0:
			return from + int64(end) + 1
		}
		end = i
	}
	return from + int64(end) + 1
}

// output prints the new whole lines that the present attempt's programs wrote.
func (l *eventLog) output() error {
	return l.outputWhere(func(string) bool { return true }, false)
}

// outputWhere prints what is new of some files; over says that nothing more comes.
func (l *eventLog) outputWhere(of func(turn string) bool, over bool) error {
	for _, f := range record.AttemptFiles(l.dir) {
		if l.followed(f.Name) && of(turnOf(f.Name)) {
			if err := l.outputOf(f, time.Now().Local().Format(time.TimeOnly), over); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *eventLog) outputOf(f record.AttemptFile, now string, over bool) error {
	path := filepath.Join(l.dir, f.Name)
	if f.Size < l.seen[path] {
		l.seen[path] = 0 // the turn began anew
	}
	for f.Size > l.seen[path] {
		text, err := readPart(path, l.seen[path], tailRead)
		if err != nil || len(text) == 0 {
			return nil // it may be gone by now
		}
		end := bytes.LastIndexByte(text, '\n') + 1
		if end == 0 {
			if len(text) < tailRead && !over {
				return nil
			}
			end = len(text) // a line without an end
		}
		l.seen[path] += int64(end)
		if err := l.printLines(f.Name, now, text[:end]); err != nil {
			return err
		}
	}
	return nil
}

func (l *eventLog) printLines(name, now string, text []byte) error {
	if l.raw {
		_, err := l.out.Write(reveal.JSON(text))
		return err
	}
	var b strings.Builder
	prefix := term.For(l.out).Paint(term.Faint, fmt.Sprintf("%8s  %s %s |", now, reveal.Words(l.at), reveal.Words(l.writer(name))))
	for line := range bytes.Lines(text) {
		b.WriteString(strings.TrimRight(prefix+" "+reveal.Words(strings.TrimRight(string(line), "\r\n")), " ") + "\n")
	}
	_, err := io.WriteString(l.out, b.String())
	return err
}

// writer says whose output a file of an attempt is: the agent, in its second turn
// and later with the number, or a gate.
func (l *eventLog) writer(name string) string {
	ext := filepath.Ext(name)
	base := turnOf(name)
	if turn, ok := strings.CutPrefix(base, "agent-"); ok {
		base = cmp.Or(l.who, "agent")
		if turn != "1" {
			base += " turn " + turn
		}
	} else if gate, ok := strings.CutPrefix(base, "gate-"); ok {
		base = "gate " + gate
	} else if gate, ok := strings.CutPrefix(base, "red-"); ok {
		base = "gate " + gate + " before the work"
	}
	if ext == runner.ErrExt {
		base += " (stderr)"
	}
	return base
}

// rawAll prints what the programs of a node's agents streamed, as they did: all
// attempts, in order.
func (l *eventLog) rawAll() error {
	v, ok := l.r.Run.View(l.node)
	found := false
	for i := 0; ok && i < len(v.Attempts); i++ {
		l.dir = effects.Files(l.r.Space.State(), l.node, v.Attempts[i].Step, v.Attempts[i].Number)
		for _, f := range record.AttemptFiles(l.dir) {
			if !l.followed(f.Name) {
				continue
			}
			found = true
			if err := l.outputOf(f, "", true); err != nil {
				return err
			}
		}
	}
	if !found {
		return exit.Inputf("no agent of %s streamed anything: agents that are run as commands do not, and nothing may have run yet", l.key(l.node))
	}
	return nil
}

func readPart(path string, from, most int64) ([]byte, error) {
	f, err := regular.OpenOwn(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.NewSectionReader(f, from, most))
}
