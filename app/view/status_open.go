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
func sayNextOf(s record.StatusJSON, w io.Writer) {
	named := 0
	for _, n := range s.Nodes {
		if len(n.Next) == 0 || n.View.Status == executor.Skipped {
			continue
		}
		if named++; named > words.MostNamed {
			continue
		}
		fmt.Fprintf(w, "\n%s (%s):\n", reveal.Words(string(n.Key)), reveal.Words(words.Status(n.View)))
		WriteSteps(w, n.Next)
	}
	if named > words.MostNamed {
		fmt.Fprintf(w, "\nand %d more; ralph show KEY%s shows the same for each\n", named-words.MostNamed, record.AboutEpic(s.File))
	}
}

// sayOpen writes one line for each node that is not done, with its one reason.
func sayOpen(s record.StatusJSON, w io.Writer) {
	const most = 60
	open := slices.DeleteFunc(slices.Clone(s.Nodes), func(n record.NodeJSON) bool {
		status := n.View.Status
		return status == executor.Done || status == executor.Running && s.Run.AtWork() || n.ID == executor.Integration && status == executor.Pending
	})
	if len(open) == 0 {
		return
	}
	wide := 0
	for _, n := range open {
		wide = max(wide, min(columns.Of(reveal.Words(string(n.Key))), 24))
	}
	fmt.Fprintln(w, "\nNot done:")
	for i, n := range open {
		if i == most {
			fmt.Fprintf(w, "  and %d more\n", len(open)-most)
			return
		}
		fmt.Fprintf(w, "  %s  %s\n", words.PadTo(reveal.Words(string(n.Key)), wide), reveal.Words(whyNotOf(s, n.View)))
	}
}

// whyNotOf is the one reason why a node is not done, and what to type where only
// the next run is missing.
func whyNotOf(s record.StatusJSON, v machine.NodeView) string {
	apply := "ralph apply" + record.Applies(s.File)
	switch {
	case s.Run.AtWork():
	case v.Interrupted && v.GoesOn:
		return "interrupted: resume with " + apply
	case v.Free: // the run was killed
		return "ready: " + apply + " begins it"
	}
	return words.WhyNot(v)
}

// saySent prints what the tracker does not have, for status.
func saySent(s record.StatusJSON, say func(format string, args ...any)) {
	t := s.Tracker
	if t == nil {
		return
	}
	var lines []string
	switch {
	case t.Error != "":
		say("the record of writes to bd cannot be read: %s", t.Error)
		return
	case t.Away != "":
		say("bd rejects updates; ralph continues and sends them later: %s", words.First(t.Away))
	case s.Run.AtWork(): // it is on its way
	case len(t.Unsent) > 0:
		lines = words.UnsentLines(t.Unsent)
	case t.CommentsUnsent > 0: // the last ralph ended without a word
		say("bd is missing updates: %s; the next ralph apply sends them", text.Count(t.CommentsUnsent, "comment"))
	}
	lines = append(lines, words.LeftLines(t.Left)...)
	var refused []string // and not tried again
	for _, x := range t.Refused {
		if x.Over {
			refused = append(refused, fmt.Sprintf("%s: %s: %s", x.ID, x.What, x.Why))
		}
	}
	if len(refused) > 0 {
		lines = append(lines, words.Listed(fmt.Sprintf("bd rejected %s and accepted the others:", text.Count(len(refused), "thing")), refused)...)
	}
	for _, line := range lines {
		say("%s", line)
	}
}
