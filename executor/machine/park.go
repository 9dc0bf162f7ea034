package machine

import (
	"fmt"
	"slices"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
)

// How long a runner is left alone.
const (
	parkFor    = 15 * time.Minute // if the end is unknown
	parkAtMost = 24 * time.Hour
	outage     = 6 * time.Hour // that a runner may keep failing before a person is asked
)

// parks count the agents in flight, and know the runners that take no further one.
type parks struct {
	*rules
	runners map[string]*park // that are left alone, or counted
	agents  map[string]int   // in flight, by runner
	limited bool             // some runner takes only so many
}

// park is what keeps agents from a runner.
type park struct {
	executor.RunnerParked
	down   time.Time   // since when it keeps failing; zero: it answers
	recent []time.Time // when its agents began, within the last minute
}

func (pk *parks) of(runner string) *park {
	p := pk.runners[runner]
	if p == nil {
		p = &park{}
		pk.runners[runner] = p
	}
	return p
}

// asked notes that an agent of a runner begins.
func (pk *parks) asked(runner string, at time.Time) {
	if pk.epic.Runners[runner].RPM <= 0 {
		return
	}
	p := pk.of(runner)
	p.recent = append(p.within(at), at)
}

// answered notes that a runner works: the reason for parking it is over.
func (pk *parks) answered(runner string) {
	if p := pk.runners[runner]; p != nil {
		p.down = time.Time{}
		if p.Probe {
			p.RunnerParked = executor.RunnerParked{}
		}
	}
}

// within are the starts of the minute before a time.
func (p *park) within(now time.Time) []time.Time {
	k := slices.IndexFunc(p.recent, func(t time.Time) bool { return t.After(now.Add(-time.Minute)) })
	if k < 0 {
		return nil
	}
	return p.recent[k:]
}

// failing notes that a runner did not work.
func (pk *parks) failing(runner string, at time.Time) {
	if p := pk.of(runner); p.down.IsZero() {
		p.down = at
	}
}

// mayAsk reports whether one more agent of a runner may begin now, beside those
// in flight and the planned ones; if not, when to look again, if that is known.
func (pk *parks) mayAsk(runner string, planned int, now time.Time) (ok bool, again time.Time) {
	if runner == "" {
		return true, again
	}
	if limit := pk.runnerLimit(runner); limit > 0 && pk.agents[runner]+planned >= limit {
		return false, again
	}
	p := pk.runners[runner]
	if p == nil {
		p = &park{} // its minute counts from the first agent on
	}
	if p.Until.After(now) {
		return false, p.Until
	}
	if p.Probe && pk.agents[runner]+planned > 0 {
		return false, again
	}
	if rpm := pk.epic.Runners[runner].RPM; rpm > 0 {
		if recent := p.within(now); len(recent)+planned >= rpm {
			if len(recent) > 0 {
				again = recent[0].Add(time.Minute)
			}
			return false, again
		}
	}
	return true, again
}

// shut reports whether a runner is parked, or another agent's probe of it is in flight.
func (pk *parks) shut(runner string, now time.Time) bool {
	p := pk.runners[runner]
	return runner != "" && p != nil && !p.Until.IsZero() && (p.Until.After(now) || p.Probe && pk.agents[runner] > 0)
}

// onLimit parks the runner whose limit is used up, and then lets the node wait.
func (pk *parks) onLimit(n *node, runner string, t *executor.EffectFailed, now time.Time) executor.Event {
	if p := pk.runners[runner]; p != nil && p.Until.After(now) {
		return n.event(executor.NodeWaiting{For: executor.ForLimit, Until: p.Until, Detail: t.Detail})
	}
	b := executor.RunnerParked{Runner: runner, Until: t.Until, Detail: text.Head(t.Detail, 300)}
	switch {
	case t.Class != executor.FailLimit || !t.Until.After(now):
		b.Until, b.Probe = later(now, parkFor.Milliseconds()), true
	case t.Until.After(now.Add(parkAtMost)):
		b.Until = later(now, parkAtMost.Milliseconds())
	}
	b.Until = executor.Millis(b.Until)
	if !b.Until.After(now) {
		b.Until = later(now, 1000)
	}
	return executor.Event{Body: b}
}

// waitForRunner lets a node give up its slot if the runners of all its agents are parked
// or full, or a budget has no room for them beside what runs.
func (r *Run) waitForRunner(n *node, now time.Time) (executor.Event, bool) {
	switch n.life.stage {
	case stageAgent, stageDiagnose, stageGate, stageRed:
	default:
		return executor.Event{}, false
	}
	if len(r.parks.runners) == 0 && !r.parks.limited && !r.budget.limited || len(n.life.flight) > 0 {
		return executor.Event{}, false
	}
	first, full, room := "", true, ""
	wallet := r.budget.wallet(now)
	for _, e := range r.effects(n, nil) {
		name := r.asks(&e)
		switch {
		case r.parks.shut(name, now):
			full = false
		case r.parks.full(name, now):
		default:
			if room = wallet.noRoom(n, turnOf(&e)); room == "" {
				return executor.Event{}, false
			}
		}
		if first == "" {
			first = name
		}
	}
	switch {
	case first == "":
		return executor.Event{}, false
	case full && !r.wanted(n, now):
		return executor.Event{}, false // no other node could use its slot
	case full && room != "":
		return n.event(executor.NodeWaiting{For: executor.ForLimit, Detail: room}), true
	case full:
		_, again := r.parks.mayAsk(first, 0, now)
		return n.event(executor.NodeWaiting{For: executor.ForLimit, Until: again, Detail: fmt.Sprintf("runner %s accepts no more agents now", first)}), true
	}
	p := r.parks.runners[first]
	return n.event(executor.NodeWaiting{For: executor.ForLimit, Until: p.Until, Detail: fmt.Sprintf("runner %s is parked: %s", first, p.Detail)}), true
}

// full reports whether a runner accepts no more agents now.
func (pk *parks) full(runner string, now time.Time) bool {
	ok, _ := pk.mayAsk(runner, 0, now)
	return !ok
}

// wanted reports whether another node could go on at once if this one gave up its
// slot.
func (r *Run) wanted(n *node, now time.Time) bool {
	if r.halt.draining || r.halt.held.For != "" {
		return false
	}
	free := r.queues.running < r.runs.started.Slots
	lane := func(name string) bool {
		limit := r.epic.Run.Concurrency.PerLane[name]
		return limit > 0 && r.queues.lanes[name] >= limit
	}
	wallet := r.admission(now, n)
	helps := func(runner, in string, next turn, who *node) bool {
		if r.parks.full(runner, now) || !wallet.lets(who, next) {
			return false
		}
		mine := in == n.ir.Lane
		if free { // the other waits only for its lane
			return mine && lane(in)
		}
		return mine || !lane(in)
	}
	for _, c := range r.queues.ready.classes {
		if len(r.queues.ready.items[c]) > 0 && helps(c.runner, c.lane, c.first, nil) {
			return true
		}
	}
	for _, i := range r.queues.timers {
		other := r.nodes[i]
		if other.wait.Until.After(now) {
			break
		}
		if helps(r.needsRunner(other), other.ir.Lane, r.nextTurn(other), other) {
			return true
		}
	}
	return false
}

// headed counts, by runner, the running nodes whose agent comes next. Their places are
// not given to other nodes.
func (r *Run) headed() map[string]int {
	out := map[string]int{}
	if !r.parks.limited && len(r.parks.runners) == 0 {
		return out
	}
	for _, list := range [2]set{r.queues.active, r.queues.flying} {
		for _, i := range list {
			n := r.nodes[i]
			l := &n.life
			s := n.stepNow()
			switch l.stage {
			case stageBase, stageOpen, stagePrepare, stageRed, stageAgent:
			default:
				continue
			}
			if s == nil || n.status != executor.Running || l.onlyJudges() || l.attempt.collected.Result.Commit != "" && l.stage == stagePrepare || len(n.agentsInFlight()) > 0 || !n.hasAgent(s) || r.byPerson(n) {
				continue
			}
			out[r.runnerOf(s)]++
		}
	}
	return out
}

// needsRunner names the runner that a waiting node asks next, "" if it needs none.
func (r *Run) needsRunner(n *node) string {
	if n.wait.For != executor.ForLimit {
		return ""
	}
	for _, e := range r.effects(n, nil) {
		if name := r.asks(&e); name != "" {
			return name
		}
	}
	if s := n.stepNow(); n.life.stage == stagePrepare && s != nil && n.life.attempt.collected.Result.Commit == "" {
		return r.epic.Agents[n.life.attempt.agent].Runner
	}
	return ""
}

// parkedFor names the parked runner that a node waits for, "" if there is none.
func (r *Run) parkedFor(n *node) string {
	if n.status != executor.Waiting || n.wait.For != executor.ForLimit || n.life.stale {
		return ""
	}
	name := r.needsRunner(n)
	if t := n.life.trouble; name == "" && t != nil {
		name = r.epic.Agents[t.agent].Runner
	}
	if p := r.parks.runners[name]; name == "" || p == nil || p.Until.IsZero() {
		return ""
	}
	return name
}

// unpark lets a runner be asked again at once, because a person says that the reason for
// parking it is over: all nodes that wait for it go on.
func (r *Run) unpark(runner, by string) error {
	freed := lists.Keep(r.nodes, func(n *node) bool { return r.parkedFor(n) == runner })
	p := r.parks.of(runner)
	p.RunnerParked, p.down = executor.RunnerParked{}, time.Time{}
	for _, n := range freed {
		if err := r.release(n, "retried by "+by); err != nil {
			return err
		}
		r.queues.touch(n)
	}
	return nil
}

// since is how long ago something was, at least nothing.
func since(now, at time.Time) time.Duration { return max(now.Sub(at), 0) }
