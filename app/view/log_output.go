package view

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/executor/effects"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
)

// turnOf is the base name of the files of a turn: "agent-1", "gate-qa".
func turnOf(file string) string {
	base := filepath.Base(file)
	if b, ok := strings.CutSuffix(base, runner.StreamExt); ok {
		return b
	}
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// followed reports whether a file of an attempt is printed as it grows.
func (l *Log) followed(name string) bool {
	turn := strings.TrimSuffix(turnOf(name), "-again")
	for _, kind := range []string{"agent-", "gate-", "red-"} {
		if strings.HasPrefix(turn, kind) && !l.begun[turn] && l.begun != nil {
			return false // what says that it begins is not printed yet
		}
	}
	if l.Raw {
		return strings.HasSuffix(name, runner.StreamExt)
	}
	switch filepath.Ext(name) {
	case runner.OutExt, runner.ErrExt, ".log":
		return !l.JSON && l.Node != ""
	}
	return false
}

// ofAny is every turn of an attempt.
func ofAny(string) bool { return true }

// lastOutput prints the last lines of the present attempt's files of which nothing was
// printed yet.
func (l *Log) lastOutput(of func(turn string) bool, over bool) error {
	for _, f := range record.AttemptFiles(l.dir) {
		path := filepath.Join(l.dir, f.Name)
		if _, printed := l.Seen[path]; printed || !l.followed(f.Name) || !of(turnOf(f.Name)) {
			continue
		}
		from := int64(0)
		if l.Lines >= 0 {
			most := min(tailRead, max(int64(l.Lines), 10)*tailLine)
			if l.Raw { // half an object is none
				most = tailRead
			}
			from = lastLines(path, f.Size, l.Lines, most, over)
		}
		l.Seen[path] = from
		if from > 0 && l.Lines > 0 && !l.Raw {
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

// output prints what is new of some files of the present attempt: whole lines, unless over,
// which says that nothing more comes.
func (l *Log) output(of func(turn string) bool, over bool) error {
	for _, f := range record.AttemptFiles(l.dir) {
		if l.followed(f.Name) && of(turnOf(f.Name)) {
			if err := l.outputOf(f, time.Now().Local().Format(time.TimeOnly), over); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *Log) outputOf(f record.AttemptFile, now string, over bool) error {
	path := filepath.Join(l.dir, f.Name)
	if f.Size < l.Seen[path] {
		l.Seen[path] = 0 // the turn began anew
	}
	for f.Size > l.Seen[path] {
		text, err := readPart(path, l.Seen[path], tailRead)
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
		l.Seen[path] += int64(end)
		if err := l.printLines(f.Name, now, text[:end]); err != nil {
			return err
		}
	}
	return nil
}

func (l *Log) printLines(name, now string, text []byte) error {
	if l.Raw {
		_, err := l.Out.Write(reveal.JSON(text))
		return err
	}
	var b strings.Builder
	prefix := term.For(l.Out).Paint(term.Faint, fmt.Sprintf("%8s  %s %s |", now, reveal.Words(l.at), reveal.Words(l.writer(name))))
	for line := range bytes.Lines(text) {
		b.WriteString(strings.TrimRight(prefix+" "+reveal.Words(strings.TrimRight(string(line), "\r\n")), " ") + "\n")
	}
	return write(l.Out, b.String())
}

// writer says whose output a file of an attempt is: the agent, in its second turn
// and later with the number, or a gate.
func (l *Log) writer(name string) string {
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

// RawAll prints the unchanged streams of a node's agent programs: all attempts, in
// order.
func (l *Log) RawAll() error {
	v, ok := l.R.Run.View(l.Node)
	found := false
	for i := 0; ok && i < len(v.Attempts); i++ {
		l.dir = effects.Files(l.R.Space.State(), l.Node, v.Attempts[i].Step, v.Attempts[i].Number)
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
		return exit.Inputf("no agent of %s streamed anything: agents that run as commands do not, or nothing has run yet", l.R.Key(l.Node))
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
