package view

import (
	"fmt"
	"io"
	"slices"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/columns"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/text"
)

// sayNextOf says what to type about everything that waits for a person.
func sayNextOf(r *record.Record, w io.Writer, views []machine.NodeView) {
	named := 0
	for _, v := range views {
		steps := r.NextSteps(v)
		if len(steps) == 0 || v.Status == executor.Skipped {
			continue
		}
		if named++; named > words.MostNamed {
			continue
		}
		fmt.Fprintf(w, "\n%s (%s):\n", reveal.Words(string(v.Key)), reveal.Words(words.Status(v)))
		WriteSteps(w, steps)
	}
	if named > words.MostNamed {
		fmt.Fprintf(w, "\nand %d more; ralph show KEY says the same about each\n", named-words.MostNamed)
	}
}

// sayOpen writes one line for each node that is not done, with its one reason.
func sayOpen(r *record.Record, w io.Writer, views []machine.NodeView) {
	const most = 60
	open := slices.DeleteFunc(slices.Clone(views), func(v machine.NodeView) bool {
		return v.Status == executor.Done || v.Status == executor.Running && r.Held || v.ID == executor.Integration && v.Status == executor.Pending
	})
	if len(open) == 0 {
		return
	}
	wide := 0
	for _, v := range open {
		wide = max(wide, min(columns.Of(reveal.Words(string(v.Key))), 24))
	}
	fmt.Fprintln(w, "\nNot done:")
	for i, v := range open {
		if i == most {
			fmt.Fprintf(w, "  and %d more\n", len(open)-most)
			return
		}
		fmt.Fprintf(w, "  %s  %s\n", words.PadTo(reveal.Words(string(v.Key)), wide), reveal.Words(whyNotOf(r, v)))
	}
}

// whyNotOf is the one reason why a node is not done, and what to type where only
// the next run is missing.
func whyNotOf(r *record.Record, v machine.NodeView) string {
	why, apply := words.WhyNot(v), "ralph apply"+record.Applies(r.File)
	switch {
	case r.Held:
	case v.Interrupted && v.GoesOn:
		return "interrupted: goes on with " + apply
	case v.Free: // the run was killed
		return "ready: " + apply + " begins it"
	}
	return why
}

// saySent tells what the tracker does not have, for status.
func saySent(r *record.Record, say func(format string, args ...any)) {
	t := r.Tracker()
	if t == nil {
		return
	}
	var lines []string
	switch {
	case t.Error != "":
		say("what bd was told cannot be read: %s", t.Error)
		return
	case t.Away != "":
		say("bd does not take what it is told; ralph goes on and tells it later: %s", words.First(t.Away))
	case r.Held: // it is on its way
	case len(t.Unsent) > 0:
		lines = words.UnsentLines(t.Unsent)
	case t.CommentsUnsent > 0: // the last ralph ended without a word
		say("bd was not told everything: %s; the next ralph apply goes on with it", text.Count(t.CommentsUnsent, "comment"))
	}
	lines = append(lines, words.LeftLines(t.Left)...)
	var refused []string // and not tried again
	for _, x := range t.Refused {
		if x.Over {
			refused = append(refused, fmt.Sprintf("%s: %s: %s", x.ID, x.What, x.Why))
		}
	}
	if len(refused) > 0 {
		lines = append(lines, words.Listed(fmt.Sprintf("bd refused %s, and took the others:", text.Count(len(refused), "thing")), refused)...)
	}
	for _, line := range lines {
		say("%s", line)
	}
}
