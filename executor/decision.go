package executor

import (
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/ir"
)

// Verb is what a person can decide.
type Verb string

// Verbs. All but pause, resume, cancel and approve need a node.
const (
	Approve   Verb = "approve" // a human gate, a question, a manual node; without a node: the plan
	Reject    Verb = "reject"  // the next attempt begins with Message; it costs none
	RetryNode Verb = "retry"   // see How
	Skip      Verb = "skip"    // satisfied, transparent
	Pause     Verb = "pause"   // of a node, or of the run
	Resume    Verb = "resume"  // the same back; with Budget, more of it
	Cancel    Verb = "cancel"  // not satisfied; without a node the run ends
)

// How is the variant of a verb.
type How string

// Ways of retry, approve and skip.
const (
	HowPlain  How = ""
	GatesOnly How = "gates-only" // retry: the tree as it is becomes an attempt by that person; all gates judge it
	Discard   How = "discard"    // retry: what is in the worktree is saved, then reset
	KeepOld   How = "keep-old"   // retry: an earlier success counts for the present work and inputs
	Override  How = "override"   // approve: in spite of a gate that could not be judged
	Forced    How = "force"      // skip: also while it runs
	Baseline  How = "baseline"   // approve, without a node: begin although gates are red on the base
	Drafted   How = "drafted"    // approve, without a node: the plan was approved as ralph draft wrote it
)

// ViaBd says that a decision was made in bd.
const ViaBd = "bd"

// Decision is what a person decided. By is a claim; User is the operating system's user.
type Decision struct {
	ID      string    `json:"id"` // unique; the same one is decided once
	Verb    Verb      `json:"verb"`
	How     How       `json:"how,omitempty"`
	Message string    `json:"message,omitempty"` // at most MaxNote bytes
	By      string    `json:"by"`
	User    string    `json:"user"`
	Via     string    `json:"via,omitempty"`   // tracker in which it was made; By then ends with it: "ann (bd)"
	Act     string    `json:"act,omitempty"`   // what was done there: "closed", the status or the label that was set
	From    string    `json:"from,omitempty"`  // program that sent it to ralph ui, as the system knows it; "unknown" if it does not
	At      time.Time `json:"at"`              // when it was said
	Budget  ir.Budget `json:"budget,omitzero"` // resume: what is added

	Tamper string `json:"tamper,omitempty"` // approve: the change that is accepted, by its id

	// Seen is what the sender of a letter saw (Run.Bind). The letter is refused when that
	// is stale; it is not kept. About is the same in a letter of an earlier ralph.
	Seen  Sight  `json:"seen,omitzero"`
	About string `json:"about,omitempty"`

	// What it is bound to; Consider fills it in. An approval that says a gate or
	// trees itself is refused when they are not the present ones.
	Gate   string `json:"gate,omitempty"`
	Digest string `json:"digest,omitempty"` // of the gate; of the epic, for the plan; of the work, for keep-old; of what is red, for the base; of the older results that were named, for the sum
	Result string `json:"result,omitempty"` // tree that is approved, or kept, or that others have put on the integration branch
	Base   string `json:"base,omitempty"`   // tree that it started from; digest of the inputs, for keep-old
}

// Name is who decided, without the tracker.
func (d Decision) Name() string { return strings.TrimSuffix(d.By, " ("+d.Via+")") }

// Refused says why a decision does not apply, and what would.
type Refused struct {
	Why, Hint string
	Already   bool // what it asks for is already so, or over: not an error
}

func (r *Refused) Error() string {
	if r.Hint == "" {
		return r.Why
	}
	return r.Why + "\n  " + r.Hint
}

// Unless keeps a decision only if its variant is h.
func (d Decision) Unless(h How) Decision {
	if d.How == h {
		return d
	}
	return Decision{}
}
