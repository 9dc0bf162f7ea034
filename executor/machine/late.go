package machine

import (
	"errors"
	"fmt"

	"github.com/ralph-compiler/ralph/executor"
)

// ErrLate refuses the report of a start that is not in flight: its worker was given
// up, and the effect may have been restarted since.
var ErrLate = errors.New("it reports a start that is not in flight")

// expects refuses a report of another start than those in flight; nothing has
// changed then. Reports of earlier releases do not say of which start they are: they
// are taken for the one of their kind, until a report has said it. What was applied in
// a stretch of another epic's events was checked when it was written.
func (r *runs) expects(n *node, e executor.Event) error {
	if n == nil || r.foreign {
		return nil
	}
	rep, ok := reportOf(e)
	switch b := e.Body.(type) {
	case executor.InputsListed:
		ok = rep.of > 0
	case executor.GateJudged: // of human gates by people, or because their time is over
		ok = b.By == "" && r.epic.Gates[b.Gate].Kind != "human"
	}
	switch {
	case !ok:
		return nil
	case rep.of == 0 && r.numbered:
		return fmt.Errorf("%w: it does not say of which start it is", ErrLate)
	case rep.of == 0:
		return nil
	case rep.among(n.life.flight) < 0:
		return fmt.Errorf("%w: it is of event %d", ErrLate, rep.of)
	}
	r.numbered = true
	return nil
}
