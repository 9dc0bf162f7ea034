package executor

import (
	"cmp"
)

// Events of a preflight. They are about the run as a whole, and may stand before
// the first run: a preflight can be asked for alone.
type (
	// PreflightStarted says which gates are about to be tried.
	PreflightStarted struct {
		Setup string   `json:"setup"` // digest of what prepares a worktree
		Gates []string `json:"gates"`
	}
	// BaselineJudged is what a gate said about a base, before any work. Its verdict
	// holds for the tree of the base, the gate's digest and the setup.
	BaselineJudged struct {
		Gate    string      `json:"gate"`
		Also    []string    `json:"also,omitempty"` // gates with the same digest
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
	}
	// PreflightEnded closes a preflight; Detail says why not all were tried.
	PreflightEnded struct {
		Detail string `json:"detail,omitempty"`
	}
)

// Red reports whether the gate fails on the base: a missing verdict is neither red nor
// green.
func (b BaselineJudged) Red() bool { return b.Verdict == Fail || b.Verdict == Stop }

// Binding is what a verdict on a base, and a person's word about it, hold for.
type Binding struct{ Tree, Digest, Setup string }

func (b Binding) Compare(o Binding) int {
	return cmp.Or(cmp.Compare(b.Tree, o.Tree), cmp.Compare(b.Digest, o.Digest), cmp.Compare(b.Setup, o.Setup))
}

func (b BaselineJudged) Binding() Binding { return Binding{b.Base.Tree, b.Digest, b.Setup} }
