package executor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/ir"
)

// NodeView is where one node stands, for people and tools.
type NodeView struct {
	ID       ir.NodeID
	Key      ir.Key
	Title    string
	Status   NodeStatus
	Reason   string // why it is not done, or how it came to be done
	For      WaitFor
	Cause    Cause
	Until    time.Time
	Doing    string // "implement #2: gate unit", while something is in flight
	Result   Tree   // zero if it has none of its own
	Attempts []AttemptLog

	Kind      ir.Kind
	Phase     string
	Step      string    // the present one
	Gate      string    // human gate that is waited for
	Approvers []string  // of that gate; empty: anybody
	Needs     []ir.Key  // what it waits for, while pending
	Since     time.Time // when it came to its status
	Started   time.Time // of its present or last life; zero: never
	Ended     time.Time
	Spent     Spent
	Pull      Pull
	Decisions []Decision // about it, oldest first
	Budget    ir.Budget  // with what was added; 0 is no limit
	Ways      []string   // commands that apply now, for people
	LeftOut   []LeftOut  // of the sum: what it does not hold
}

// LeftOut is a node whose present work the integration branch does not hold.
type LeftOut struct {
	Key ir.Key
	Why string // "blocked: gate check failed"
}

// Spent is what something has cost so far. A sum with an unknown part says so.
type Spent struct {
	Tokens      int64
	USDMicro    int64
	Millis      int64 // agents and gates, not waiting
	TokensKnown bool  // every turn reported its tokens
	USDKnown    bool
}

// RunView is where the run as a whole stands.
type RunView struct {
	Begun        bool // a run has started at some time
	Open         bool // and has not ended
	Started      time.Time
	By           string
	Slots        int
	Draining     string         // reason, "" if not
	Held         RunHeld        // For is "" if not
	Parked       []RunnerParked // that are parked now
	Budget       ir.Budget      // with what was added
	Spent        Spent
	PlanApproved bool // for the present epic
	Proposals    []Proposal
}

// View returns where a node stands.
func (r *Run) View(id ir.NodeID) (NodeView, bool) {
	n := r.byID[id]
	if n == nil || n.ir == nil {
		return NodeView{}, false
	}
	return r.view(n), true
}

// Views returns where every node stands, in the epic's order, the sum last. The
// sum is there only if it is due or was made.
func (r *Run) Views() []NodeView {
	out := make([]NodeView, 0, len(r.nodes))
	for _, n := range r.nodes {
		if n.sum && n.status == Pending && len(r.sumInputs()) == 0 {
			continue
		}
		out = append(out, r.view(n))
	}
	return out
}

func doing(n *node) string {
	if !n.life.flying {
		return ""
	}
	e := n.life.effect
	what := string(e.Kind)
	if e.Gate != "" {
		what += " " + e.Gate
	}
	if e.Step == "" {
		return what
	}
	return fmt.Sprintf("%s #%d: %s", e.Step, e.Attempt, what)
}

// Succeeded reports whether a success of the node is on record, of whatever work.
func (r *Run) Succeeded(id ir.NodeID) bool {
	n := r.byID[id]
	return n != nil && len(n.successes) > 0
}

// Gone returns the ids of nodes that are on record and not in the epic, sorted.
func (r *Run) Gone() []ir.NodeID {
	var out []ir.NodeID
	for id, n := range r.byID {
		if n.ir == nil {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

// Base returns the base that was pinned by the first run; zero before.
func (r *Run) Base() Tree { return r.started.Base }

// Bases returns the pinned bases of roots that name their own.
func (r *Run) Bases() []NamedTree { return slices.Clone(r.started.Bases) }

// Open reports whether a run has started and not ended: it was interrupted.
func (r *Run) Open() bool { return r.begun && !r.ended }

// Feedback is what ralph tells the agent of the next attempt about the last one
// of this life: which checks and gates it failed, with their output. It is
// empty on a first attempt.
func (r *Run) Feedback(id ir.NodeID) []string {
	n := r.byID[id]
	if n == nil || n.ir == nil {
		return nil
	}
	return append(n.told(), r.lastFailure(n)...)
}

// told is what people said to the agent of this life, each once.
func (n *node) told() []string {
	var out []string
	for i := max(n.life.first, 0); i < len(n.logs); i++ {
		for _, d := range n.logs[i].Said {
			out = append(out, d.By+" says:", "", quote(d.Message), "")
		}
	}
	return out
}

func (r *Run) lastFailure(n *node) []string {
	for i := len(n.logs) - 1; i >= n.life.first && i >= 0; i-- {
		switch l := n.logs[i]; l.Status {
		case AttemptFailed, AttemptTimeout, AttemptStalled:
			return feedback(l)
		case AttemptPassed:
			return nil
		}
	}
	return nil
}

func feedback(l AttemptLog) []string {
	out := []string{fmt.Sprintf("Attempt %d of step %s %s: %s.", l.Number, l.Step, pastTense(l.Status), strings.TrimRight(firstLine(l.Reason), "."))}
	if l.Outcome.Summary != "" {
		out = append(out, "", "What the agent said:", "", quote(l.Outcome.Summary))
	}
	for _, p := range l.Problems {
		out = append(out, "", "ralph's own check: "+p)
	}
	for _, g := range l.Gates {
		out = append(out, "", fmt.Sprintf("Gate %s: %s", g.Gate, g.Verdict))
		if g.Verdict != Pass && g.Message != "" {
			out = append(out, "", quote(g.Message))
		}
	}
	if len(l.Gates) == 0 && len(l.Problems) == 0 && l.Tail != "" {
		out = append(out, "", "The end of its output:", "", quote(l.Tail))
	}
	return out
}

func pastTense(s AttemptStatus) string {
	switch s {
	case AttemptTimeout:
		return "ran out of time"
	case AttemptStalled:
		return "stalled"
	}
	return "failed"
}

// quote indents text from outside, so that it reads as a block of its own.
func quote(s string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n    ")
}
