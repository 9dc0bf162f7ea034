package executor

import (
	"cmp"
	"fmt"
	"slices"
)

// Events of a preflight. They are about the run as a whole, and may be before
// the first run: a preflight can be asked for alone.
type (
	// PreflightStarted says which gates are about to be tried.
	PreflightStarted struct {
		Setup string   `json:"setup"`          // digest of what prepares a worktree
		Gates []string `json:"gates"`          // the first of them
		More  int      `json:"more,omitempty"` // that are not named
	}
	// BaselineJudged is what a gate said about a base, before any work. Its verdict
	// holds for the tree of the base, the gate's digest and the setup.
	BaselineJudged struct {
		Gate    string      `json:"gate"`
		Also    []string    `json:"also,omitempty"` // gates with the same digest, the first of them
		Digest  string      `json:"digest"`         // of the gate
		Setup   string      `json:"setup"`
		Base    Tree        `json:"base"`
		Of      string      `json:"of,omitempty"`    // name of the base, where a root names its own
		Green   bool        `json:"green,omitempty"` // the gate says baseline = "green"
		Verdict Verdict     `json:"verdict"`
		Message string      `json:"message,omitempty"` // at most MaxNote bytes
		Millis  int64       `json:"ms"`
		Log     string      `json:"log,omitempty"`    // its output: a file below the epic's state
		Counts  *TestCounts `json:"counts,omitempty"` // nil: it printed no results that ralph reads

		Sandbox *Sandboxed `json:"sandbox,omitempty"` // that it ran in; nil: none
	}
	// PreflightEnded closes a preflight; Detail says why not all were tried.
	PreflightEnded struct {
		Detail string `json:"detail,omitempty"`
	}
)

// roomAlso bounds the names of gates, in bytes, in an event that has a message besides.
const roomAlso = 400

// Trying is the event's body for these gates, with as many names as an event takes.
func Trying(setup string, gates []string) PreflightStarted {
	n := fitting(gates, mostListed, nameSize)
	return PreflightStarted{Setup: setup, Gates: gates[:n], More: len(gates) - n}
}

// All names all gates that are tried, "…" for an unnamed one.
func (b PreflightStarted) All() []string {
	return slices.Concat(b.Gates, slices.Repeat([]string{"…"}, b.More))
}

// Also are gates with the same digest, as many as a BaselineJudged takes.
func Also(gates []string) []string {
	if n := fitting(gates, roomAlso, nameSize); n < len(gates) {
		return append(gates[:n:n], fmt.Sprintf("%d more", len(gates)-n))
	}
	return gates
}

// nameSize bounds the bytes that a name takes in a list of JSON.
func nameSize(name string) int { return 2*len(name) + 3 }

// Red reports whether the gate fails on the base: a missing verdict is neither red nor
// green.
func (b BaselineJudged) Red() bool { return b.Verdict == Fail || b.Verdict == Stop }

// Binding is what a verdict on a base, and a person's word about it, apply to.
type Binding struct{ Tree, Digest, Setup string }

func (b Binding) Compare(o Binding) int {
	return cmp.Or(cmp.Compare(b.Tree, o.Tree), cmp.Compare(b.Digest, o.Digest), cmp.Compare(b.Setup, o.Setup))
}

func (b BaselineJudged) Binding() Binding { return Binding{b.Base.Tree, b.Digest, b.Setup} }
