package cli

import (
	"fmt"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/internal/text"
)

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
	lines = append(append(lines, words.LeftLines(t.Left)...), refusedLines(t.Refused)...)
	for _, line := range lines {
		say("%s", line)
	}
}

// refusedLines say what bd did not take, and what is not tried again.
func refusedLines(refused []bd.Refusal) []string {
	var lines []string
	for _, x := range refused {
		if x.Over {
			lines = append(lines, fmt.Sprintf("%s: %s: %s", x.ID, x.What, x.Why))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return words.Listed(fmt.Sprintf("bd refused %s, and took the others:", text.Count(len(lines), "thing")), lines)
}
