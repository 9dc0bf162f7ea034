package executor

import (
	"fmt"
	"slices"
	"time"
)

// Todo is what a driver should do next.
type Todo struct {
	Record []Event   // decisions to apply and journal before anything else; ask again afterwards
	Start  []Effect  // to begin, each after its EffectStarted event is durable
	Stop   []Effect  // to cut: the grace of a draining run is over
	Wake   time.Time // ask again then, at the latest; zero: only when something is reported
	Done   bool      // nothing is in flight and nothing will happen by itself
	Stuck  string    // a bug in ralph: something should happen and cannot
}

// Todo looks at the state and says what to do at the time now. It changes
// nothing, and its cost grows with what there is to do, not with the epic.
func (r *Run) Todo(now time.Time) Todo {
	var t Todo
	if !r.begun || r.foreign {
		t.Stuck = "the run has not started"
		return t
	}
	if e, ok := r.onRun(now); ok {
		t.Record = []Event{e}
		return t
	}
	if r.draining && !now.Before(r.until) {
		t.Stop = r.inFlight()
		t.Done = len(t.Stop) == 0
		return t
	}
	for _, i := range r.active {
		if e, ok := r.decide(r.nodes[i], now); ok {
			t.Record = append(t.Record, e)
		}
	}
	if len(t.Record) > 0 {
		return t
	}
	if !r.draining && r.held.For == "" {
		if t.Record = r.admit(now); len(t.Record) > 0 {
			return t
		}
	}
	t.Start = r.startable()
	if !r.draining {
		for _, i := range r.timers {
			if u := r.nodes[i].wait.Until; u.After(now) {
				t.Wake = u
				break
			}
		}
	} else if len(r.flying) > 0 || len(t.Start) > 0 {
		t.Wake = r.until
	}
	late, next := r.lateFlights(now)
	t.Stop = append(r.unwanted(), late...)
	if !next.IsZero() && (t.Wake.IsZero() || next.Before(t.Wake)) {
		t.Wake = next
	}
	if len(r.flying) == 0 && len(t.Start) == 0 {
		r.rest(&t)
	}
	return t
}

// admit gives free slots to nodes that go on, in the order of their time, and
// then to nodes that are ready.
func (r *Run) admit(now time.Time) []Event {
	free := r.started.Slots - r.running
	if free <= 0 {
		return nil
	}
	var out []Event
	lanes := map[string]int{}
	runners := map[string]int{}
	lane := func(name string) bool {
		limit := r.epic.Run.Concurrency.PerLane[name]
		return limit <= 0 || r.lanes[name]+lanes[name] < limit
	}
	for _, i := range r.timers {
		n := r.nodes[i]
		if len(out) == free || n.wait.Until.After(now) {
			break
		}
		if lane(n.ir.Lane) {
			lanes[n.ir.Lane]++
			out = append(out, n.event(NodeResumed{}))
		}
	}
	room := func(c class) bool {
		limit := r.runnerLimit(c.runner)
		if !lane(c.lane) || limit > 0 && r.agents[c.runner]+runners[c.runner] >= limit {
			return false
		}
		lanes[c.lane]++
		runners[c.runner]++
		return true
	}
	for _, i := range r.ready.take(free-len(out), room) {
		n := r.nodes[i]
		out = append(out, n.event(NodeStarted{
			Key: n.ir.Key, Work: n.ir.Digest.Work, Judge: n.ir.Digest.Judge, Inputs: r.inputs(n),
		}))
	}
	return out
}

// runnerLimit is how many agents of a runner may be in flight; 0 is no limit.
func (r *Run) runnerLimit(name string) int {
	limit := r.epic.Runners[name].Concurrent
	if l := r.epic.Run.Concurrency.PerRunner[name]; l > 0 && (limit <= 0 || l < limit) {
		limit = l
	}
	return limit
}

// startable lists the effects that running nodes need now.
func (r *Run) startable() []Effect {
	var out []Effect
	planned := map[string]int{}
	for _, i := range r.active {
		n := r.nodes[i]
		e, ok := r.effect(n)
		if !ok {
			continue
		}
		if e.Kind == EffectAgent {
			name := r.runnerOf(n.stepNow())
			if limit := r.runnerLimit(name); limit > 0 && r.agents[name]+planned[name] >= limit {
				continue
			}
			planned[name]++
		}
		out = append(out, e)
	}
	return out
}

// effect returns the effect that a running node needs now, if it needs one.
func (r *Run) effect(n *node) (Effect, bool) {
	l := &n.life
	a := &l.attempt
	e := Effect{Node: n.id, Redo: l.redo, Base: l.base.Commit}
	if l.trouble != nil {
		return e, false
	}
	switch l.stage {
	case stageBase:
		e.Kind, e.Inputs = EffectBase, l.inputs
		return e, true
	case stagePublish:
		e.Kind, e.Inputs, e.Commit = EffectPublish, l.inputs, a.collected.Result.Commit
		if n.sum {
			e.Old = r.sumRef
		}
		return e, true
	case stagePrepare, stageAgent, stageCollect, stageGate:
		e.Step, e.Attempt, e.Start, e.Commit = a.step, a.number, l.starts[l.step], a.from
	default:
		return e, false
	}
	switch l.stage {
	case stagePrepare:
		e.Kind = EffectPrepare
		e.Person = r.byPerson(n) && len(n.logs) > l.first+1 // its own work stays as it is
		if c := a.collected.Result.Commit; c != "" {
			e.Commit = c
		}
	case stageAgent:
		if r.byPerson(n) {
			return e, false
		}
		e.Kind, e.Iteration = EffectAgent, a.iteration+1
	case stageCollect:
		e.Kind, e.Person = EffectCollect, a.person != ""
	case stageGate:
		gates := n.stepNow().Gates
		if a.gate >= len(gates) {
			return e, false
		}
		e.Kind, e.Gate, e.Commit = EffectGate, gates[a.gate], a.collected.Result.Commit
	}
	return e, true
}

func (r *Run) inFlight() []Effect {
	var out []Effect
	for _, i := range r.flying {
		out = append(out, r.nodes[i].life.effect)
	}
	return out
}

// rest says what remains when nothing is in flight: a wait that ends by itself,
// the sum, the end, or a bug.
func (r *Run) rest(t *Todo) {
	switch {
	case r.draining:
		t.Done = true
	case r.held.For != "":
		t.Done = !r.started.Wait
	case len(r.timers) > 0:
		if t.Wake.IsZero() {
			t.Stuck = "a wait is over and its node does not go on"
		}
	case len(r.active) > 0:
		t.Stuck = fmt.Sprintf("node %s runs and needs nothing", r.nodes[r.active[0]].ir.Key)
	case r.ready.n > 0:
		t.Stuck = "nodes are ready and none may start"
	case r.sumDue():
		n := r.sum
		t.Record = []Event{n.event(NodeStarted{
			Key: n.ir.Key, Work: n.ir.Digest.Work, Judge: n.ir.Digest.Judge, Inputs: r.sumInputs(),
		})}
	default:
		t.Done = !r.started.Wait || !r.awaited()
	}
}

// sumDue reports whether the results have to be joined: there are some, the run
// is about the whole epic, and they are not what was joined last.
func (r *Run) sumDue() bool {
	if r.sum == nil || len(r.started.Only) > 0 || r.sum.status != Pending {
		return false
	}
	inputs := r.sumInputs()
	return len(inputs) > 0 && r.sumDone(inputs) == nil
}

// sumDone returns the record that says that these inputs are joined already.
func (r *Run) sumDone(inputs []Result) *success {
	if len(r.sum.successes) == 0 {
		return nil
	}
	last := &r.sum.successes[len(r.sum.successes)-1]
	if last.print == fingerprint(inputs) && last.judge == r.sum.ir.Digest.Judge &&
		slices.EqualFunc(last.inputs, inputs, func(a, b Result) bool { return a == b }) {
		return last
	}
	return nil
}
