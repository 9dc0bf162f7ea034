package view

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/internal/term"
)

// Runs prints a table of runs.
func Runs(out io.Writer, list []record.RunLine) error {
	var b strings.Builder
	g := &Grid{Paint: term.For(out)}
	g.Row(term.Faint, "started", "took", "by", "outcome", "exit", "attempts", "sprints", "trace", "why")
	for _, r := range list {
		took, exit, sprints, ink := "", "", "", term.Info
		if r.Ended != nil {
			took, sprints, ink = words.Brief(r.Ended.Sub(r.Started)), tallyOrUnknown(r.RunRecord), term.Bad
		}
		if r.Exit != nil {
			exit, ink = fmt.Sprint(*r.Exit), outcomeColour(*r.Exit)
		} else if r.Ended != nil { // killed: it lived on after what it wrote last
			took = "at least " + took
		}
		g.Row(ink, r.Started.Local().Format(time.DateTime), took, r.By, string(r.Outcome), exit,
			fmt.Sprint(r.Attempts), sprints, r.Trace, words.First(r.Error))
	}
	g.Write(&b)
	_, err := out.Write([]byte(b.String()))
	return err
}

// tallyOrUnknown counts nodes; a run that was killed had no time to.
func tallyOrUnknown(r journal.RunRecord) string {
	if len(r.Counts) == 0 {
		return "unknown"
	}
	return strings.Replace(words.Tally(r.Counts, r.GoesOn, true), " sprints done", " done", 1)
}

func outcomeColour(after int) term.Colour {
	switch after {
	case exit.Done:
		return term.Good
	case exit.Waiting:
		return term.Warn
	}
	return term.Bad
}
