package machine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ralph-compiler/ralph/executor"
)

// ErrLate refuses the report of a start that is not in flight: its worker was given
// up, and the effect may have been restarted since.
var ErrLate = errors.New("it reports a start that is not in flight")

// expects refuses a report of another start than those in flight; nothing has
// changed then. Reports of earlier releases do not say of which start they are: they
// are taken for the one of their kind, until a report has said it. What was applied in
// a stretch of another epic's events was checked when it was written.
func (r *runs) expects(e executor.Event) error {
	n := r.byID[e.Node]
	if n == nil || r.foreign || !r.reports(e) {
		return nil
	}
	if e.Of == 0 {
		if r.numbered {
			return fmt.Errorf("%w: it does not say of which start it is", ErrLate)
		}
		return nil
	}
	kind, gate := reportOf(e)
	if !slices.ContainsFunc(n.life.flight, func(f executor.Effect) bool {
		return f.Seq == e.Of && (kind == "" || f.Kind == kind) && (gate == "" || f.Gate == gate)
	}) {
		return fmt.Errorf("%w: it is of event %d", ErrLate, e.Of)
	}
	r.numbered = true
	return nil
}

// reports reports whether the worker of an effect says an event, which ends the effect;
// verdicts of human gates come from people, or from their time being over.
func (r *rules) reports(e executor.Event) bool {
	switch b := e.Body.(type) {
	case executor.EffectFailed:
		return true
	case executor.InputsListed:
		return e.Of > 0
	case executor.GateJudged:
		return b.By == "" && r.epic.Gates[b.Gate].Kind != "human"
	}
	return reports[e.Kind()] != ""
}
