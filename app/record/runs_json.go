package record

import (
	"time"

	"github.com/ralph-compiler/ralph/executor/journal"
)

// RunsJSON is the output of ralph runs --json.
type RunsJSON struct {
	Version int       `json:"version"`
	Runs    []RunLine `json:"runs"` // oldest first
}

// RunLine is a run in a list; a run that has not ended has no end time.
type RunLine struct {
	journal.RunRecord
	Ended *time.Time `json:"ended"`
}
