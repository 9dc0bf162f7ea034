package machine

import (
	"fmt"
	"slices"
	"time"

	"github.com/ralph-compiler/ralph/executor"
)

// Todo is what a driver should do next.
type Todo struct {
	Record []executor.Event  // decisions to apply and journal before anything else; ask again afterwards
	Try    []BaseCheck       // to try on the bases, after a PreflightStarted; nothing starts before the PreflightEnded
	Start  []executor.Effect // to begin, each after its EffectStarted event is durable; the list is the next Todo's
	Stop   []executor.Effect // to cut: the grace of a draining run is over
	Wake   time.Time         // ask again then, at the latest; zero: only when something is reported
	Done   bool              // nothing is in flight and nothing will happen by itself
	Stuck  string            // a bug in ralph: something should happen and cannot
}

// Todo returns what to do at the time now, truncated to the millisecond. It changes
// nothing, and its cost grows with the amount of work due, not with the epic.
func (r *Run) Todo(now time.Time) Todo {
	now = executor.Millis(now)
	var t Todo
	if !r.runs.begun || r.runs.foreign {
		t.Stuck = "the run has not started"
		return t
	}
	if e, ok := r.onRun(now); ok {
		t.Record = []executor.Event{e}
		return t
	}
	if r.halt.draining && !now.Before(r.halt.until) {
		t.Stop = r.InFlight()
		t.Done = len(t.Stop) == 0
		return t
	}
	if !r.halt.draining && !r.halt.stopped() {
		if t.Try = r.try(); len(t.Try) > 0 || r.pre.running {
			return t
		}
	}
	rd := &round{now: now}
	for _, i := range r.queues.active {
		if e, ok := r.decide(r.nodes[i], rd); ok {
			t.Record = append(t.Record, e)
		}
	}
	if len(t.Record) > 0 {
		return t
	}
	if !r.halt.draining && !r.halt.stopped() {
		if t.Record = r.admit(now); len(t.Record) > 0 {
			return t
		}
	}
	t.Start = r.startable(now, &t.Wake)
	if !r.halt.draining {
		r.nextWake(now, &t.Wake)
	} else if len(r.queues.flying) > 0 || len(t.Start) > 0 {
		t.Wake = r.halt.until
	}
	late, next := r.lateFlights(now)
	t.Stop = append(r.queues.unwanted(), late...)
	sooner(&t.Wake, next)
	if len(r.queues.flying) == 0 && len(t.Start) == 0 {
		r.rest(&t)
	}
	return t
}

// sooner moves *wake to at, if that comes before it.
func sooner(wake *time.Time, at time.Time) {
	if !at.IsZero() && (wake.IsZero() || at.Before(*wake)) {
		*wake = at
	}
}

// nextWake finds the first time at which something may go on by itself.
func (r *Run) nextWake(now time.Time, wake *time.Time) {
	for _, list := range [2][]int{r.queues.timers, r.queues.expires} {
		for _, i := range list {
			if u := r.nodes[i].wait.Until; u.After(now) {
				sooner(wake, u)
				break
			}
		}
	}
	if r.halt.held.For == "" && r.queues.ready.n > 0 || len(r.queues.timers) > 0 {
		for name := range inOrder(r.parks.runners) {
			_, again := r.parks.mayAsk(name, 0, now)
			sooner(wake, again)
		}
	}
}

// runnerLimit is how many agents of a runner may be in flight; 0 = unlimited.
func (r *rules) runnerLimit(name string) int {
	limit := r.epic.Runners[name].Concurrent
	if l := r.epic.Run.Concurrency.PerRunner[name]; l > 0 && (limit <= 0 || l < limit) {
		limit = l
	}
	return limit
}

// startable lists the effects that running nodes need now, and moves wake to when
// a runner takes the next agent.
func (r *Run) startable(now time.Time, wake *time.Time) []executor.Effect {
	out := r.buffers.starting[:0]
	var planned map[string]int
	wallet := r.budget.wallet(now)
	for _, i := range r.queues.active {
		from := len(out)
		out = r.effects(r.nodes[i], out)
		kept := from
		for k := from; k < len(out); k++ {
			e := &out[k]
			if name := r.asks(e); name != "" {
				if ok, again := r.parks.mayAsk(name, planned[name], now); !ok {
					sooner(wake, again)
					continue
				}
				if !wallet.lets(r.nodes[i], turnOf(e)) {
					continue
				}
				wallet.plan(r.nodes[i], turnOf(e))
				if planned == nil {
					planned = map[string]int{}
				}
				planned[name]++
			}
			if kept != k {
				out[kept] = *e
			}
			kept++
		}
		out = out[:kept]
	}
	if r.buffers.starting = out; len(out) == 0 {
		return nil // whether or not there was something before
	}
	return out
}

// InFlight lists the effects that were started and not reported, in the order of the
// epic's nodes, each with the Seq of its start. After a replay these are the workers that
// a driver must listen to; a RunStarted gives them up, and they start over. Their lists
// must not be modified.
func (r *Run) InFlight() []executor.Effect {
	var out []executor.Effect
	for _, i := range r.queues.flying {
		out = append(out, r.nodes[i].life.flight...)
	}
	return out
}

// rest says what is left when nothing is in flight: a wait that ends by itself, the sum,
// people, the end, or a bug.
func (r *Run) rest(t *Todo) {
	switch {
	case r.halt.draining:
		t.Done = true
	case r.halt.stopped() && r.queues.unfinished():
		t.Done = !r.runs.started.Wait
	case len(r.queues.timers) > 0:
		if t.Wake.IsZero() {
			t.Stuck = "a wait is over and its node does not continue"
		}
	case len(r.queues.active) > 0:
		if t.Wake.IsZero() {
			t.Stuck = fmt.Sprintf("node %s runs and needs nothing", r.nodes[r.queues.active[0]].ir.Key)
		}
	case r.halt.held.For == executor.ForBudget && (r.queues.ready.n > 0 || slices.ContainsFunc(r.nodes, heldBack)):
		t.Done = !r.runs.started.Wait // and nothing is joined
	case r.queues.ready.n > 0:
		if t.Wake.IsZero() {
			t.Stuck = "nodes are ready and none may start"
		}
	default:
		if t.Record = r.sum.next(); len(t.Record) > 0 {
			return
		}
		t.Done = !r.runs.started.Wait || !r.awaited()
	}
}

// heldBack reports whether a node waits because the run is held.
func heldBack(n *node) bool {
	return n.status == executor.Waiting && n.wait.Cause == executor.CauseHeld
}

// unfinished reports whether nodes are running or ready, or would be if the run
// were not held: then nothing is joined yet.
func (q *queues) unfinished() bool {
	return q.running > 0 || q.ready.n > 0 || slices.ContainsFunc(q.nodes, func(n *node) bool { return heldBack(n) || n.status == executor.Waiting && n.wait.Timed() })
}
