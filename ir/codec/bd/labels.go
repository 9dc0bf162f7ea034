package bd

import (
	"cmp"

	"github.com/ralph-compiler/ralph/ir"
)

// Labels are the words that people and ralph use on beads, by their meaning.
type Labels struct {
	Needs    string // ralph asks a person
	Approved string // a person's answer
	Changes  string // the other one
	Exclude  string // ralph leaves it alone
}

// LabelsOf returns the labels of a run: those that tracker { labels } names, else those
// of hitl { labels }, else Agent Shepherd's.
func LabelsOf(run ir.Run) Labels {
	word := func(meaning, otherwise string) string {
		if run.Tracker != nil && run.Tracker.Labels[meaning] != "" {
			return run.Tracker.Labels[meaning]
		}
		return cmp.Or(run.HITL.Labels[meaning], otherwise)
	}
	return Labels{
		Needs: word("needs_approval", "needs:human_approval"), Approved: word("approved", "human:approved"),
		Changes: word("changes_requested", "human:changes_requested"), Exclude: word("exclude", ExcludedLabel),
	}
}
