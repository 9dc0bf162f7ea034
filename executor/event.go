package executor

import (
	"time"

	"github.com/ralph-compiler/ralph/ir"
)

// Event is a fact in the journal. Node, Step and Attempt address what it is
// about; they are empty where they do not apply.
type Event struct {
	Seq     int64     // consecutive, from 1
	At      time.Time // UTC, to the millisecond; never used for order
	Node    ir.NodeID
	Step    string
	Attempt int // from 1
	Body    Body
}

// Body is what happened. The set is closed: see kinds in event_json.go.
type Body interface{ kind() string }

// Kind returns the word that stands for the event in the journal, such as
// "attempt.started"; "" if it has no body.
func (e Event) Kind() string {
	if e.Body == nil {
		return ""
	}
	return e.Body.kind()
}

// Events about the run as a whole.
type (
	// RunStarted begins a run or goes on with an interrupted one: starting
	// `ralph apply` is the approval of the plan, by By.
	RunStarted struct {
		Epic   ir.NodeID   `json:"epic"`
		Plan   string      `json:"plan"`
		Digest string      `json:"digest"`          // of the whole epic.json
		Base   Tree        `json:"base"`            // the pinned base
		Bases  []NamedTree `json:"bases,omitempty"` // pinned bases of roots that name their own
		Slots  int         `json:"slots"`           // nodes that may run at the same time
		Only   []ir.NodeID `json:"only,omitempty"`  // only these and what they need
		Rerun  []ir.NodeID `json:"rerun,omitempty"` // as if their success were not recorded
		By     string      `json:"by"`
	}
	// RunDraining says that nothing new starts and that what runs is stopped at Until.
	RunDraining struct {
		Until time.Time `json:"until"`
	}
	// RunEnded closes a run.
	RunEnded struct {
		Interrupted bool           `json:"interrupted,omitempty"`
		Counts      map[string]int `json:"counts"` // nodes by status
	}
)

// Events about a node. All but NodeStarted and NodeResumed end its running.
type (
	// NodeStarted begins a life of the node: it is run for this work and these inputs.
	NodeStarted struct {
		Key    ir.Key   `json:"key"`
		Work   string   `json:"work"`
		Judge  string   `json:"judge"`
		Inputs []Result `json:"inputs"`
	}
	// NodeResumed ends a wait.
	NodeResumed struct{}
	// NodeWaiting says for what the node waits; Until is zero if nobody knows.
	NodeWaiting struct {
		For    WaitFor   `json:"for"`
		Until  time.Time `json:"until,omitzero"`
		Cause  Cause     `json:"cause,omitempty"`
		Detail string    `json:"detail,omitempty"`
	}
	// NodeBlocked says that nothing more is tried, and why.
	NodeBlocked struct {
		Reason string `json:"reason"`
	}
	// NodeDone records a success for (work, inputs), judged by Judge.
	NodeDone struct {
		Work   string `json:"work"`
		Judge  string `json:"judge"`
		Result Tree   `json:"result"`
	}
)

// Events about an attempt.
type (
	// AttemptStarted begins an attempt. From is the commit that the worktree
	// starts at, Start the one that the step as a whole started from.
	AttemptStarted struct {
		Start   string `json:"start"`
		From    string `json:"from"`
		Rejudge bool   `json:"rejudge,omitempty"` // only the gates run, on From
	}
	// AttemptEnded is the verdict on an attempt.
	AttemptEnded struct {
		Status    AttemptStatus `json:"status"`
		Reason    string        `json:"reason,omitempty"`
		Signature string        `json:"signature,omitempty"` // of the failure, for the breaker
		Next      string        `json:"next,omitempty"`      // step that a failure goes to
	}
)

// Events about effects.
type (
	// EffectStarted is recorded before an effect begins.
	EffectStarted struct {
		Kind      EffectKind `json:"effect"`
		Gate      string     `json:"gate,omitempty"`
		Iteration int        `json:"iteration,omitempty"`
		Redo      bool       `json:"redo,omitempty"` // it began before, and ralph ended meanwhile
	}
	// EffectFailed says that an effect did not happen, for a reason that is not
	// the agent's doing.
	EffectFailed struct {
		Class  FailureClass `json:"class"`
		Detail string       `json:"detail"`
	}
	// BaseMade is the commit that a node starts from.
	BaseMade struct {
		Base Tree `json:"base"`
	}
	// Prepared says that the worktree stands at the attempt's commit.
	Prepared struct {
		Saved string `json:"saved,omitempty"` // ref under which what was left there is kept
	}
	// AgentEnded is what the agent reported.
	AgentEnded struct {
		Outcome  Outcome  `json:"outcome"`
		ExitCode int      `json:"exit_code"`
		End      AgentEnd `json:"end"`
		Millis   int64    `json:"ms"`
		Tail     string   `json:"tail,omitempty"` // end of its output, at most MaxNote bytes
	}
	// Collected is the commit that the attempt left, and what ralph's own checks
	// found; any problem fails the attempt before a gate is paid for.
	Collected struct {
		Result   Tree     `json:"result"`
		Files    int      `json:"files"`             // changed since the step's start
		Changed  []string `json:"changed,omitempty"` // the first of them
		Problems []string `json:"problems,omitempty"`
	}
	// GateJudged is a gate's verdict on the collected commit.
	GateJudged struct {
		Gate      string  `json:"gate"`
		Verdict   Verdict `json:"verdict"`
		Message   string  `json:"message"` // at most MaxNote bytes
		Signature string  `json:"signature,omitempty"`
		Tests     string  `json:"tests"` // pass, fail, skip
		Millis    int64   `json:"ms"`
	}
	// Published says that the node's result is pinned (or, for the sum, that the
	// integration branch has moved to it).
	Published struct {
		Result Tree   `json:"result"`
		Branch string `json:"branch,omitempty"`
	}
)

// MaxNote bounds, in bytes, every text from outside that an event carries;
// events stay below 4 KB so that a distributed engine can carry them.
const MaxNote = 2000

// Tree is a commit and the tree that it holds, as hexadecimal object names.
type Tree struct {
	Commit string `json:"commit"`
	Tree   string `json:"tree"`
}

// NamedTree is a pinned base that some roots name themselves.
type NamedTree struct {
	Name string `json:"name"`
	Tree
}

// Result is what a node gives to those that depend on it.
type Result struct {
	Node ir.NodeID `json:"node"`
	Tree
}

// FailureClass says what kind of failure an effect met.
type FailureClass string

// Classes of failure.
const (
	FailConflict    FailureClass = "conflict"      // results do not merge: a person
	FailConfig      FailureClass = "configuration" // cannot work until somebody changes something: a person
	FailTransient   FailureClass = "transient"     // may work next time: tried again with backoff
	FailCrash       FailureClass = "crash"         // the agent was killed by a signal that was not ours
	FailInterrupted FailureClass = "interrupted"   // by ralph's own end; counts nothing
)

// AgentEnd says how an agent's program ended.
type AgentEnd string

// Ends of an agent.
const (
	EndExited  AgentEnd = "exited"
	EndTimeout AgentEnd = "timeout"
	EndStalled AgentEnd = "stalled"
)

// Outcome is what an agent says about its work. A claim, never a verdict.
type Outcome struct {
	Result        string `json:"result"`                // success, partial, failed, or "" if it gave none
	NextAction    string `json:"next_action,omitempty"` // advance_phase, repeat_phase, need_human, none
	Summary       string `json:"summary,omitempty"`     // at most MaxNote bytes
	SuggestedNext string `json:"suggested_next_phase,omitempty"`
	NeedsHuman    bool   `json:"needs_human,omitempty"`
	Invalid       string `json:"invalid,omitempty"` // why what it wrote is no outcome
}

func (RunStarted) kind() string     { return "run.started" }
func (RunDraining) kind() string    { return "run.draining" }
func (RunEnded) kind() string       { return "run.ended" }
func (NodeStarted) kind() string    { return "node.started" }
func (NodeResumed) kind() string    { return "node.resumed" }
func (NodeWaiting) kind() string    { return "node.waiting" }
func (NodeBlocked) kind() string    { return "node.blocked" }
func (NodeDone) kind() string       { return "node.done" }
func (AttemptStarted) kind() string { return "attempt.started" }
func (AttemptEnded) kind() string   { return "attempt.ended" }
func (EffectStarted) kind() string  { return "effect.started" }
func (EffectFailed) kind() string   { return "effect.failed" }
func (BaseMade) kind() string       { return "base.made" }
func (Prepared) kind() string       { return "prepared" }
func (AgentEnded) kind() string     { return "agent.ended" }
func (Collected) kind() string      { return "collected" }
func (GateJudged) kind() string     { return "gate.judged" }
func (Published) kind() string      { return "published" }
