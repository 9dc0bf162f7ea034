package machine

import (
	"time"

	"github.com/ralph-compiler/ralph/executor"
)

// slots are the free places of one Todo, and what was given of them so far.
type slots struct {
	r       *Run
	now     time.Time
	holds   bool // a budget holds the run
	free    int
	lanes   map[string]int // nil until one is given
	runners map[string]int
	has     *wallet
	out     []executor.Event
}

// admit gives free slots to waiting nodes that go on, in the order of their time, and
// then to ready nodes. While a budget holds the run only what costs nothing begins; a
// node that needs an agent's turn waits for people.
func (r *Run) admit(now time.Time) []executor.Event {
	s := slots{
		r: r, now: now, holds: r.halt.held.For == executor.ForBudget,
		free: r.runs.started.Slots - r.queues.running, runners: r.headed(),
	}
	s.expired()
	s.timed()
	if s.free > 0 {
		for _, i := range r.queues.ready.take(s.free, s.room) {
			n := r.nodes[i]
			s.out = append(s.out, n.starts(r.inputs(n)))
		}
	}
	return s.out
}

// wallet is made on demand: mostly there is no free slot, and no demand.
func (s *slots) wallet() *wallet {
	if s.has == nil {
		s.has = s.r.admission(s.now, nil)
	}
	return s.has
}

// lane reports whether one more node may run in a lane.
func (s *slots) lane(name string) bool {
	limit := s.r.epic.Run.Concurrency.PerLane[name]
	return limit <= 0 || s.r.queues.lanes[name]+s.lanes[name] < limit
}

// give counts one more node in a lane.
func (s *slots) give(lane string) {
	if s.lanes == nil {
		s.lanes = map[string]int{}
	}
	s.lanes[lane]++
}

// expired ends the waits of nodes that wait for people, but not for ever.
func (s *slots) expired() {
	for _, i := range s.r.queues.expires {
		n := s.r.nodes[i]
		if n.wait.Until.After(s.now) {
			break
		}
		switch n.wait.Cause {
		case executor.CauseApproval:
			s.out = append(s.out, s.r.overdue(n))
		case executor.CausePull:
			s.resume(n)
		}
	}
}

// timed resumes the nodes whose time has come. While a budget holds the run, so do those
// that need an agent's turn, to wait for people.
func (s *slots) timed() {
	for _, i := range s.r.queues.timers {
		n := s.r.nodes[i]
		if s.free <= 0 {
			break
		}
		if n.wait.Until.After(s.now) && !(s.holds && s.r.nextTurn(n).agent != "") {
			if s.holds {
				continue
			}
			break
		}
		s.resume(n)
	}
}

// resume gives a slot to a waiting node, if there is one for it.
func (s *slots) resume(n *node) {
	if s.free <= 0 || !s.lane(n.ir.Lane) {
		return
	}
	next := s.r.nextTurn(n)
	if !s.holds && n.wait.For == executor.ForLimit && s.wallet().noRoom(n, next) != "" {
		return
	}
	if name := s.r.needsRunner(n); name != "" && !(s.holds && next.agent != "") {
		if ok, _ := s.r.parks.mayAsk(name, s.runners[name], s.now); !ok {
			return
		}
		s.runners[name]++
	}
	s.free--
	s.give(n.ir.Lane)
	s.wallet().plan(n, next)
	s.out = append(s.out, n.event(executor.NodeResumed{}))
}

// room reports whether a ready node of a class may begin, and counts it.
func (s *slots) room(c class) bool {
	if !s.lane(c.lane) || !s.wallet().lets(nil, c.first) {
		return false
	}
	if ok, _ := s.r.parks.mayAsk(c.runner, s.runners[c.runner], s.now); !ok {
		return false
	}
	s.give(c.lane)
	s.runners[c.runner]++
	s.wallet().plan(nil, c.first)
	return true
}

// starts is the event that begins a life of the node.
func (n *node) starts(inputs []executor.Result) executor.Event {
	return n.event(executor.NodeStarted{Key: n.ir.Key, Work: n.ir.Digest.Work, Judge: n.ir.Digest.Judge, Inputs: inputs})
}
