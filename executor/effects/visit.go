package effects

import (
	"path/filepath"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/wall"
	"github.com/ralph-compiler/ralph/ir"
)

// Visited is a sandbox that a person has something run in.
type Visited struct {
	Wall    *wall.Spec                 // nil: nothing confines it
	Account func() *executor.Sandboxed // what it refused; nil if there was none
	Done    func() error               // takes away what is not kept, once all has ended
}

// Visit is the sandbox of a program that a person starts, or of a turn that a person asks
// for, where those of a node's agent were, or with gate those of a gate; dir is the worktree.
func (t *Tools) Visit(node ir.NodeID, step *ir.Step, agent, gate, dir string) (Visited, error) {
	sum := node == executor.Integration
	s := of(agent, gate)
	s.in, s.node, s.dir = t.Epic.StepConfined(step, sum), node, dir
	if gate != "" {
		kind := t.Epic.Gates[gate].Kind
		s.in, s.blind, s.brief = t.Epic.GateConfined(gate, sum), kind == "review", kind == "command"
	}
	c, err := t.confine(s)
	return Visited{c.spec(), c.account, c.done}, err
}

// Home is the directory that a confined agent of a node finds as its home, or with gate the
// agent of a gate; state is the epic's. It is there once a turn has run in a sandbox.
func Home(state string, node ir.NodeID, agent, gate string) string {
	s := of(agent, gate)
	return filepath.Join(sandboxes(state, node), s.home(), "home")
}

// of is the stay of an agent, or with gate of a gate.
func of(agent, gate string) stay {
	if gate != "" {
		return stay{whose: ofGate, who: gate, agent: agent}
	}
	return stay{whose: ofAgent, who: agent, agent: agent}
}
