package machine

import (
	"fmt"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/text"
)

// How long a runner is left alone.
const (
	parkFor    = 15 * time.Minute // when nobody said until when
	parkAtMost = 24 * time.Hour
	outage     = 6 * time.Hour // that a runner may keep failing before a person is asked
)

// park is what keeps agents from a runner.
type park struct {
	executor.RunnerParked
	down   time.Time   // since when it keeps failing; zero: it answers
	recent []time.Time // when its agents began, within the last minute
}

func (r *Run) parkOf(runner string) *park {
	p := r.parks[runner]
	if p == nil {
		p = &park{}
		r.parks[runner] = p
	}
	return p
}

func (r *Run) parked(b executor.RunnerParked) {
	r.parkOf(b.Runner).RunnerParked = b
}

// asked notes that an agent of a runner begins.
func (r *Run) asked(runner string, at time.Time) {
	if r.epic.Runners[runner].RPM <= 0 {
		return
	}
	p := r.parkOf(runner)
	k := 0
	for k < len(p.recent) && !p.recent[k].After(at.Add(-time.Minute)) {
		k++
	}
	p.recent = append(p.recent[k:], at)
}

// answered notes that a runner works: what it was parked for is over.
func (r *Run) answered(runner string) {
	if p := r.parks[runner]; p != nil {
		p.down = time.Time{}
		if p.Probe {
			p.RunnerParked = executor.RunnerParked{}
		}
	}
}

// failing notes that a runner did not work.
func (r *Run) failing(runner string, at time.Time) {
	if p := r.parkOf(runner); p.down.IsZero() {
		p.down = at
	}
}

// mayAsk reports whether one more agent of a runner may begin now, beside those
// in flight and the planned ones; if not, when to look again, if that is known.
func (r *Run) mayAsk(runner string, planned int, now time.Time) (ok bool, again time.Time) {
	if runner == "" {
		return true, again
	}
	if limit := r.runnerLimit(runner); limit > 0 && r.agents[runner]+planned >= limit {
		return false, again
	}
	p := r.parks[runner]
	if p == nil {
		return true, again
	}
	if p.Until.After(now) {
		return false, p.Until
	}
	if p.Probe && r.agents[runner]+planned > 0 {
		return false, again
	}
	if rpm := r.epic.Runners[runner].RPM; rpm > 0 {
		k := 0
		for k < len(p.recent) && !p.recent[k].After(now.Add(-time.Minute)) {
			k++
		}
		if len(p.recent)-k+planned >= rpm {
			if k < len(p.recent) {
				again = p.recent[k].Add(time.Minute)
			}
			return false, again
		}
	}
	return true, again
}

// shut reports whether a runner is parked, or answers only to a probe that is
// another's.
func (r *Run) shut(runner string, now time.Time) bool {
	p := r.parks[runner]
	return runner != "" && p != nil && !p.Until.IsZero() && (p.Until.After(now) || p.Probe && r.agents[runner] > 0)
}

// onLimit parks the runner whose limit is used up, and then lets the node wait.
func (r *Run) onLimit(n *node, runner string, t *executor.EffectFailed, now time.Time) executor.Event {
	if p := r.parks[runner]; p != nil && p.Until.After(now) {
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

// waitForRunner lets a node whose agents are all of runners that are left alone,
// or find no room in a budget beside what runs, give up its slot.
func (r *Run) waitForRunner(n *node, now time.Time) (executor.Event, bool) {
	switch n.life.stage {
	case stageAgent, stageDiagnose, stageGate, stageRed:
	default:
		return executor.Event{}, false
	}
	if len(r.parks) == 0 && !r.limited && !r.budgeted || len(n.life.flight) > 0 {
		return executor.Event{}, false
	}
	first, full, room := "", true, ""
	wallet := r.wallet(now)
	for _, e := range r.effects(n, nil) {
		name := r.asks(&e)
		switch {
		case r.shut(name, now):
			full = false
		case r.full(name, now):
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
		return executor.Event{}, false // nobody else could use its slot
	case full && room != "":
		return n.event(executor.NodeWaiting{For: executor.ForLimit, Detail: room}), true
	case full:
		_, again := r.mayAsk(first, 0, now)
		return n.event(executor.NodeWaiting{For: executor.ForLimit, Until: again, Detail: fmt.Sprintf("runner %s takes no further agent now", first)}), true
	}
	p := r.parks[first]
	return n.event(executor.NodeWaiting{For: executor.ForLimit, Until: p.Until, Detail: fmt.Sprintf("runner %s is parked: %s", first, p.Detail)}), true
}

// full reports whether a runner takes no further agent now.
func (r *Run) full(runner string, now time.Time) bool {
	ok, _ := r.mayAsk(runner, 0, now)
	return !ok
}

// wanted reports whether another node could go on at once if this one gave up its
// slot.
func (r *Run) wanted(n *node, now time.Time) bool {
	if r.draining || r.held.For != "" {
		return false
	}
	free := r.running < r.started.Slots
	lane := func(name string) bool {
		limit := r.epic.Run.Concurrency.PerLane[name]
		return limit > 0 && r.lanes[name] >= limit
	}
	wallet := r.admission(now)
	helps := func(runner, in string, next turn, who *node) bool {
		mine := in == n.ir.Lane
		return !r.full(runner, now) && wallet.lets(who, next) && (!free || mine && lane(in)) && (mine || !lane(in))
	}
	for _, c := range r.ready.classes {
		if len(r.ready.items[c]) > 0 && helps(c.runner, c.lane, c.first, nil) {
			return true
		}
	}
	for _, i := range r.timers {
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

// headed counts, by runner, the running nodes whose agent comes next: places that
// no other node is begun for.
func (r *Run) headed() map[string]int {
	out := map[string]int{}
	if !r.limited && len(r.parks) == 0 {
		return out
	}
	for _, list := range [2]set{r.active, r.flying} {
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
	if p := r.parks[name]; name == "" || p == nil || p.Until.IsZero() {
		return ""
	}
	return name
}

// unpark lets a runner be asked again at once, because a person says that what it
// was parked for is over: everybody who waits for it goes on.
func (r *Run) unpark(runner, by string) error {
	var freed []*node
	for _, n := range r.nodes {
		if r.parkedFor(n) == runner {
			freed = append(freed, n)
		}
	}
	p := r.parkOf(runner)
	p.RunnerParked, p.down = executor.RunnerParked{}, time.Time{}
	for _, n := range freed {
		if err := r.release(n, "retried by "+by); err != nil {
			return err
		}
		r.touch(n)
	}
	return nil
}

// since is how long ago something was, at least nothing.
func since(now, at time.Time) time.Duration { return max(now.Sub(at), 0) }
