package machine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// NodeView is the state of one node, for people and tools.
type NodeView struct {
	ID       ir.NodeID
	Key      ir.Key
	Title    string
	Status   executor.NodeStatus
	Reason   string // why it is not done, or how it came to be done
	For      executor.WaitFor
	Cause    executor.Cause
	Until    time.Time
	Attempt  string        // "implement #2", while something of it is in flight
	Doing    string        // "implement #2: gate unit", while something is in flight
	Asked    bool          // an agent of its step is in flight
	Result   executor.Tree // zero if it has none of its own
	Attempts []AttemptLog

	Kind      ir.Kind
	Phase     string
	Step      string    // the present one
	Gate      string    // human gate that is waited for
	Approvers []string  // of that gate; empty: anybody
	Needs     []ir.Key  // what it waits for, while pending
	Since     time.Time // when it came to its status
	Changed   int64     // number of its last event
	Started   time.Time // of its present or last life; zero: never
	Ended     time.Time
	Spent     Spent
	Worked    time.Duration // in all, up to the last event; what it waited is none of it
	Pull      executor.Pull
	Decisions []executor.Decision // about it, oldest first
	Budget    ir.Budget           // with what was added; 0 = unlimited
	Over      string              // how far what was spent in its allowance exceeds it; "" if it does not
	More      string              // what to add to the budget that it waits for, as ralph resume --budget reads it
	Ways      []Way               // what people can do now
	SameAs    ir.Key              // of a sum that waits over a conflict that this node waits over, too: it is resolved there
	Selected  bool                // by --only, or because all are; with --only the sum is not
	Paused    string              // by whom; "" if not
	BlockedBy executor.BlockedBy  // "" if it is not, or unknown
	Merge     string              // commit that a person has to merge into their work in its worktree; "" if none
	Keeps     []ir.Key            // of a sum that waits because of older results: those that ralph retry KEY --keep-old would count
	Backoff   time.Duration       // the last one that this run computed; 0: nothing was tried again yet
	Human     time.Time           // when a person last wrote in a session of its agents; zero: never

	Free        bool // it is ready, and only a free place is missing
	Interrupted bool // it runs by the record, and nothing is at work on it
	GoesOn      bool // without anybody: it is interrupted, or waits for a time, or for nothing any more; with the next run, where none is open
}

// Tries counts its attempts, except those that only lay out a conflict for a person.
func (v NodeView) Tries() (n int) {
	for i := range v.Attempts {
		if !v.Attempts[i].ByHand {
			n++
		}
	}
	return n
}

// AttemptIndex is the index of an attempt; -1 if there is none.
func (v NodeView) AttemptIndex(step string, number int) int {
	return slices.IndexFunc(v.Attempts, func(a AttemptLog) bool { return a.Step == step && a.Number == number })
}

// Spent is a cost so far. A sum with an unknown part says so.
type Spent struct {
	Tokens      int64
	USDMicro    int64
	Millis      int64 // agents and gates, not waiting
	TokensKnown bool  // every turn reported its tokens
	USDKnown    bool
}

// RunView is the state of the run as a whole.
type RunView struct {
	Begun        bool      // a run has started at some time
	Open         bool      // and has not ended
	Recovered    time.Time // from a tracker, because the journal was lost; zero: never
	Started      time.Time
	By           string
	Slots        int
	Sandbox      string                  // that a person asked for in place of the policy's when it was last applied; "": nobody did
	Draining     string                  // reason, "" if not
	Cancelled    string                  // by whom; "" if not
	Held         executor.RunHeld        // For is "" if not
	HeldBy       int64                   // the event since which it is
	Parked       []executor.RunnerParked // that are parked now
	Budget       ir.Budget               // with what was added
	Spent        Spent                   // in the present allowance of its budget
	Over         string                  // how far that exceeds it: "$4.80 of $1.00 are spent"; "" if it does not
	More         string                  // what to add so that it goes on, as ralph resume --budget reads it; "" if nothing has to
	All          Spent                   // since it was first applied
	PlanApproved bool                    // for the present epic
	Proposals    []Proposed
}

// Proposed is work found by an agent, and the agent.
type Proposed struct {
	executor.Proposal
	Node  ir.Key `json:"node"`
	Agent string `json:"agent,omitempty"`
}

// View returns the state of a node.
func (r *Run) View(id ir.NodeID) (NodeView, bool) {
	n := r.byID[id]
	if n == nil || n.ir == nil {
		return NodeView{}, false
	}
	return r.view(n, r.onHold()), true
}

// Attempt returns the record of an attempt.
func (o Node) Attempt(step string, number int) (AttemptLog, bool) {
	if n := o.r.byID[o.id]; n != nil {
		if l := n.logNumbered(step, number); l != nil {
			return *l, true
		}
	}
	return AttemptLog{}, false
}

func (n *node) logNumbered(step string, number int) *AttemptLog {
	return newest(n.logs, func(l *AttemptLog) bool { return l.Step == step && l.Number == number })
}

// Views returns the state of every node, in the epic's order, the sum last. The sum is
// included only if it is due or was made.
func (r *Run) Views() []NodeView {
	out := make([]NodeView, 0, len(r.nodes))
	h := r.onHold()
	for _, n := range r.nodes {
		if n.sum && n.status == executor.Pending && len(r.sum.inputs()) == 0 {
			continue
		}
		out = append(out, r.view(n, h))
	}
	return out
}

// doing says what is in flight, and of which attempt.
func doing(flight []executor.Effect) (attempt, what string) {
	var all []string
	for _, e := range flight {
		w := string(e.Kind)
		if e.Gate != "" {
			w += " " + e.Gate
		}
		all = append(all, w)
	}
	what = strings.Join(all, ", ")
	if len(flight) == 0 || flight[0].Step == "" {
		return "", what
	}
	attempt = fmt.Sprintf("%s #%d", flight[0].Step, flight[0].Attempt)
	return attempt, attempt + ": " + what
}

// Key is the key of a node, also of one that is no longer in the epic; its id if the
// key is unknown.
func (o Node) Key() ir.Key { return o.r.keyOf(o.id) }

func (gr *graph) keyOf(id ir.NodeID) ir.Key {
	if n := gr.byID[id]; n != nil {
		return n.keyOf()
	}
	return ir.Key(id)
}

// Succeeded reports whether a success of the node is on record, for any digest of work.
func (o Node) Succeeded() bool {
	n := o.r.byID[o.id]
	return n != nil && len(n.successes) > 0
}

// Gone returns the ids of nodes that are on record but not in the epic, sorted.
func (x Summary) Gone() []ir.NodeID { return x.r.gone() }

// Ticked are the nodes that the plan calls done, that have no success on record, and that
// began here all the same: the next run takes them for done.
func (x Summary) Ticked() (out []ir.NodeID) {
	for _, n := range x.r.nodes {
		began := n.status == executor.Blocked || n.status == executor.Waiting || n.status == executor.Running
		if began && !n.sum && n.ir.Done && len(n.successes) == 0 && n.after == 0 {
			out = append(out, n.id)
		}
	}
	return out
}

func (gr *graph) gone() []ir.NodeID {
	return lists.Map(gr.former, func(n *node) ir.NodeID { return n.id })
}

// Joined reports whether ralph has ever set the integration branch, or was about to when
// it ended.
func (v Integration) Joined() bool {
	return v.r.sum.ref != "" || v.r.sum.meant != "" || v.r.sum.last() != nil
}

// Base returns the base pinned by the first run; zero before.
func (v Bases) Base() executor.Tree { return v.r.runs.started.Base }

// Branch is the branch that the base was taken from, "" if unknown.
func (v Bases) Branch() string { return cmp.Or(v.r.epic.Epic.Base, v.r.runs.started.Branch) }

// Named returns the pinned bases of roots that name their own.
func (v Bases) Named() []executor.NamedTree { return slices.Clone(v.r.runs.started.Bases) }

// Open reports whether a run has started and not ended: it was interrupted.
func (r *Run) Open() bool { return r.runs.open() }

func (r *runs) open() bool { return r.begun && !r.ended }
