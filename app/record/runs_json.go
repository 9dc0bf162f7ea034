package record

import (
	"time"

	"github.com/ralph-compiler/ralph/executor/journal"
)

// RunLine is a run in a list; a run that has not ended has no end time.
type RunLine struct {
	journal.RunRecord
	Ended *time.Time `json:"ended"`
}
