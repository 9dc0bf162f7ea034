package ir

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Names of sandboxes with a meaning of their own: none is no sandbox, default holds
// wherever none is named. The compiler writes default where it holds, so that only what
// is in no epic has to look for it.
const (
	NoSandbox      = "none"
	DefaultSandbox = "default"
)

// Confined says what a program of a run can reach.
type Confined struct {
	Name    string   // of the sandbox, a key of Sandboxes; "": there is none, and the rest is empty
	Sandbox Sandbox  // never of kind none
	Network []string // hosts, "model", "*"; empty: none
}

// StepConfined says what the agent of a step can reach: one of the epic, or one that the
// executor makes up, for which it copies Sandbox from a step of the node where there is
// one. sum: the step belongs to the sum of all results, not to a node.
func (e *Epic) StepConfined(s *Step, sum bool) Confined {
	name := s.Sandbox
	if sum {
		name = cmp.Or(name, e.Epic.Integration.Sandbox)
	}
	c := e.confined(cmp.Or(name, e.usual()), nil)
	c.Network = c.Sandbox.Network
	return c
}

// GateConfined says what the command or the agent of a gate can reach. sum: it judges the
// sum of all results, not a node.
func (e *Epic) GateConfined(gate string, sum bool) Confined {
	g := e.Gates[gate]
	name, network := g.Sandbox, g.Network
	if in := &e.Epic.Integration; sum {
		name = cmp.Or(in.Sandbox, name)
		if g.Kind == "command" && len(in.Network) > 0 {
			network = in.Network
		}
	}
	return e.confined(name, network)
}

// Runs reports whether a gate starts a program: a command, or an agent that judges.
func (g Gate) Runs() bool { return slices.Contains([]string{"command", "agent", "review"}, g.Kind) }

// Alike is the same for gates that judge alike wherever they judge: of these the sum has one.
// They differ by their node's key and by the time that policies give them.
func (e *Epic) Alike(gate string) string {
	g := e.Gates[gate]
	if g.From == "plan" {
		return gate
	}
	return gate[strings.LastIndexByte(gate, '/')+1:] + "\x00" + g.Run + fmt.Sprint(g.Env, g.Secrets, g.Expect, g.Sandbox, g.Network)
}

// SetupConfined says what setup commands can reach.
func (e *Epic) SetupConfined() Confined {
	return e.confined(e.Run.Worktree.Sandbox, e.Run.Worktree.Network)
}

// usual is the sandbox that holds where none is named, "" if there is none.
func (e *Epic) usual() string {
	if _, declared := e.Sandboxes[DefaultSandbox]; declared {
		return DefaultSandbox
	}
	return ""
}

func (e *Epic) confined(name string, network []string) Confined {
	s, known := e.Sandboxes[name]
	if !known || s.Kind == NoSandbox {
		return Confined{}
	}
	return Confined{Name: name, Sandbox: s, Network: network}
}

// Limit is a limit as a number: bytes of memory, tmp and file, percent of one processor
// for cpu, processes and threads for pids. 0: there is none, or it is in the words of a
// container.
func (s *Sandbox) Limit(name string) int64 {
	n, err := strconv.ParseInt(s.Limits[name], 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
