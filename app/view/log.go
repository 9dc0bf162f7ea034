package view

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/effects"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/ir"
)

// Log prints the events of one node, or of all.
type Log struct {
	R     *record.Record
	Out   io.Writer
	Node  ir.NodeID // "" is all
	JSON  bool
	Raw   bool             // streams alone
	Last  int64            // event printed
	Until int64            // event to end with; 0: none
	day   string           // that was printed last
	Lines int              // how much of what was written in the past is printed of each file; below 0: all
	Seen  map[string]int64 // by file: how much of it was printed
	dir   string           // files of the present attempt
	at    string           // the present attempt: "implement #2"
	who   string           // the agent that works in it

	begun map[string]bool // its turns that are known to have begun, by the base names of their files; nil: all have
}

// All prints the past: events, the last lines of output, and the files.
func (l *Log) All() error {
	if err := l.tell(l.R.Events, l.lastOutput); err != nil {
		return err
	}
	if err := l.lastOutput(ofAny, false); err != nil { // of what is open
		return err
	}
	if l.Last == 0 && !l.JSON {
		fmt.Fprintln(l.Out, "nothing has happened yet")
	}
	if l.Node == "" || l.JSON {
		return nil
	}
	return l.files()
}

func (l *Log) print(events []executor.Event) error {
	var b bytes.Buffer
	for _, e := range events {
		if e.Seq <= l.Last || l.Until > 0 && e.Seq > l.Until || l.Node != "" && e.Node != l.Node {
			continue
		}
		l.Last = e.Seq
		if b, ok := e.Body.(executor.EffectStarted); ok && !l.JSON && quiet(b) {
			continue
		}
		l.enter(e)
		if l.JSON {
			line, err := e.MarshalJSON()
			if err != nil {
				return err
			}
			b.Write(append(reveal.JSON(line), '\n'))
			continue
		}
		if day := e.At.Local().Format(time.DateOnly); day != l.day {
			l.day = day
			fmt.Fprintf(&b, "%s\n", day)
		}
		who := ""
		if l.Node == "" && e.Node != "" {
			who = l.R.Key(e.Node) + "  "
		}
		fmt.Fprintf(&b, "%s  %s\n", e.At.Local().Format(time.TimeOnly), reveal.Words(who+words.Event(e, l.R.Key)))
	}
	_, err := l.Out.Write(b.Bytes())
	return err
}

// quiet are beginnings whose end says it all.
func quiet(b executor.EffectStarted) bool {
	return !b.Redo && !slices.Contains([]executor.EffectKind{executor.EffectAgent, executor.EffectGate, executor.EffectRed, executor.EffectDiagnose}, b.Kind)
}

// files lists what the attempts of the node left.
func (l *Log) files() error {
	v, ok := l.R.Run.View(l.Node)
	if !ok || len(v.Attempts) == 0 {
		return nil
	}
	var b strings.Builder
	for _, a := range v.Attempts {
		dir := effects.Files(l.R.Space.State(), l.Node, a.Step, a.Number)
		fmt.Fprintf(&b, "\n%s #%d (%s): %s\n", a.Step, a.Number, words.Attempt(v, a), dir)
		for _, f := range record.AttemptFiles(dir) {
			fmt.Fprintf(&b, "  %9s  %s\n", words.Size(f.Size), f.Name)
		}
	}
	return write(l.Out, reveal.Words(b.String()))
}

// tell prints the events that were not printed yet, and before those that end a program
// what output says of what that printed.
func (l *Log) tell(events []executor.Event, output func(of func(turn string) bool, over bool) error) error {
	if !l.Raw && (l.Node == "" || l.JSON) { // nothing of what programs print
		return l.print(events)
	}
	for _, e := range events {
		if e.Seq <= l.Last || l.Node != "" && e.Node != l.Node {
			continue
		}
		if of := endedBy(e.Body); of != nil {
			if err := output(of, true); err != nil {
				return err
			}
		}
		if l.Raw {
			l.enter(e)
			l.Last = e.Seq
			continue
		}
		if err := l.print([]executor.Event{e}); err != nil {
			return err
		}
	}
	return nil
}
