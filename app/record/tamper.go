package record

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/ir"
)

// ChangesOf lists the changes by others, open tampering first. undone reports which have
// been undone; nil: none.
func ChangesOf(run *machine.Run, key func(ir.NodeID) string, about string, undone func([]executor.Drift) []bool) []words.Change {
	var failing, rest []words.Change
	tampers := run.Watch().Tampers()
	isBack := make([]bool, len(tampers))
	if undone != nil && len(tampers) > 0 {
		isBack = undone(lists.Map(tampers, func(t machine.Tamper) executor.Drift { return t.Drift }))
	}
	for i, t := range tampers {
		v := words.Change{
			ID: t.ID, Grade: string(t.Grade), What: t.What, Was: t.Was, Is: t.Is, During: words.During(t.During, key),
			State: string(t.State), By: t.Accepted, Text: t.Drift.String(), Earlier: t.Earlier, At: t.At,
		}
		if open := t.State == machine.TamperOpen; open && isBack[i] && t.Grade == machine.Noticed {
			v.State = string(machine.TamperIsUndone)
		} else if open {
			v.IsBack = isBack[i]
			if !v.IsBack {
				v.Back, v.Look = t.Back, t.Look
			}
			if t.Grade == machine.Tampered {
				v.Accept = "ralph approve --tamper " + t.ID + about
			}
		}
		if v.Failing = v.Accept != "" && run.Watch().Tampered(); v.Failing {
			failing = append(failing, v)
		} else {
			rest = append(rest, v)
		}
	}
	return append(failing, rest...)
}

// OfThisRun drops changes that were only noticed in earlier runs; status shows those.
func OfThisRun(list []words.Change) []words.Change {
	return slices.DeleteFunc(list, func(c words.Change) bool { return c.Earlier > 0 && c.Grade == string(machine.Noticed) })
}

// MostChanges is how many changes are shown.
const MostChanges = 20

// tamperedWords says, as the text of a comment, what a person has to look at before an
// issue that is done is closed.
func tamperedWords(rec *Record) string {
	var b strings.Builder
	b.WriteString("it is done, and the repository was tampered with while agents were at work")
	for _, c := range rec.changes() {
		if !c.Failing {
			continue
		}
		fmt.Fprintf(&b, "\n- %s", c.Text)
		if len(c.During) > 0 {
			b.WriteString("; at work: " + words.ListOf(c.During))
		}
		if c.Back != "" {
			fmt.Fprintf(&b, "\n  - `%s`: put it back, then", c.Back)
		}
		fmt.Fprintf(&b, "\n  - `%s`: settle it", c.Accept)
	}
	return reveal.Words(b.String())
}
