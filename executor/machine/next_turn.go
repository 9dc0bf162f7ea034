package machine

import (
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// firstTurn is the turn with which a node begins; its agent is "" if it begins
// with something that costs nothing, as a person's work or gates do.
func (r *Run) firstTurn(n *node) turn {
	if len(n.ir.Steps) == 0 || r.byPerson(n) {
		return turn{}
	}
	s := &n.ir.Steps[0]
	if !n.hasAgent(s) || s.Agent == "" || len(n.successes) > 0 && n.match(n.ir.Digest.Work, fingerprint(r.inputs(n)), "") != nil {
		return turn{}
	}
	return turn{agent: s.Agent, step: s.Name}
}

// nextTurn is the turn that comes next for a node that has begun and has nothing
// in flight; its agent is "" if what comes next costs nothing.
func (r *Run) nextTurn(n *node) turn {
	l := &n.life
	switch s := n.stepNow(); l.stage {
	case stageGate, stageRed, stageDiagnose:
		var first turn
		for _, e := range r.effects(n, nil) {
			if e.Agent == "" {
				return turn{}
			}
			if first.agent == "" {
				first = turnOf(&e)
			}
		}
		return first
	case stageBase, stageOpen, stagePrepare, stageAgent, stageFailed:
		if s == nil || l.attempt.collected.Result.Commit != "" && l.stage == stagePrepare || !r.startsWork(n) {
			return turn{}
		}
		t := turn{agent: s.Agent, step: s.Name}
		if (l.stage == stagePrepare || l.stage == stageAgent) && l.attempt.agent != "" {
			t.agent = l.attempt.agent
		}
		return t
	}
	return turn{}
}

// wantsTurn reports whether a node could not go on without a turn of an agent, as
// far as that is known.
func (r *Run) wantsTurn(n *node) bool {
	switch n.status {
	case executor.Pending, executor.Ready:
		return n.selected && !n.sum && !n.people.skip && r.spends(n)
	case executor.Running, executor.Waiting:
		return !n.busy() && !n.life.stale && r.nextTurn(n).agent != ""
	}
	return false
}

// spends reports whether an agent works in the node, or judges it.
func (r *rules) spends(n *node) bool {
	for s := range lists.Refs(n.ir.Steps) {
		if s.Agent != "" && n.hasAgent(s) && n.ir.Kind != ir.Manual && !r.epic.Agents[s.Agent].Human {
			return true
		}
		for _, g := range s.Gates {
			if r.epic.Gates[g].Agent != "" {
				return true
			}
		}
	}
	return false
}
