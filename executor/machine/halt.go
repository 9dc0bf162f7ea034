package machine

import (
	"time"

	"github.com/ralph-compiler/ralph/executor"
)

// halt is what keeps anything new from beginning in a run: it is held, cancelled, or
// draining.
type halt struct {
	*clock
	held      executor.RunHeld // For is "" if it is not
	heldAt    time.Time        // since when
	heldSeq   int64            // the event of it
	cancelled string           // who cancelled the run
	draining  bool
	until     time.Time // draining; zero: not
	drained   string    // why it drains
}
