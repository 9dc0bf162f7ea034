package machine

import (
	"time"

	"github.com/ralph-compiler/ralph/executor"
)

// runs is what is on record of the applies of an epic: of the last one, and of the
// stretch of events that is applied now.
type runs struct {
	*graph
	*clock
	begun    bool // a RunStarted was applied
	numbered bool // its reports name the start that they are of
	ended    bool // RunEnded was, since
	foreign  bool // the present stretch of events belongs to another epic.json
	reviving bool // begin is deriving all statuses, in order
	deserted bool // no process is at work on it, for who looks at it

	started    executor.RunStarted
	startedSeq int64     // of the event that began the last run
	startedAt  time.Time // when that was
	firstSeq   int64     // of the event that began the first run since one ended; those between were killed
	firstAt    time.Time // when that was
	recovered  time.Time // from a tracker, because the journal was lost; zero: never
}
