package record

import (
	"time"

	"github.com/ralph-compiler/ralph/executor/journal"
)

// RunLine is a run as it is listed: one that has not ended has no end.
type RunLine struct {
	journal.RunRecord
	Ended *time.Time `json:"ended"`
}
