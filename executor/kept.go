package executor

import (
	"time"

	"github.com/ralph-compiler/ralph/ir"
)

// Kept is the state needed to continue a node without a journal: in another clone, on
// another machine. A tracker keeps it as JSON. It is small; what does not fit is
// omitted, the least needed first: reasons, older attempts, lists that can be rebuilt
// from the epic, results of steps.
type Kept struct {
	Status    string         `json:"status"`           // its word: done, blocked, …
	Reason    string         `json:"reason,omitempty"` // why it is blocked, or waits
	BlockedBy BlockedBy      `json:"blocked_by,omitempty"`
	By        string         `json:"by,omitempty"` // who skipped, cancelled or paused it
	Paused    bool           `json:"paused,omitempty"`
	Success   *KeptSuccess   `json:"success,omitempty"`
	Life      *KeptLife      `json:"life,omitempty"`    // of a node that is not done
	Numbers   map[string]int `json:"numbers,omitempty"` // last attempt number by step: never given again
	Attempts  []KeptAttempt  `json:"attempts,omitempty"`
	Pull      Pull           `json:"pull,omitzero"`
	Spent     KeptSpent      `json:"spent,omitzero"` // in all
	Added     ir.Budget      `json:"added,omitzero"` // to its budget, by people
}

// KeptSuccess is a success for (work, inputs): NodeDone with what it was made from.
type KeptSuccess struct {
	Work   string     `json:"work"`
	Judge  string     `json:"judge"`
	Print  string     `json:"inputs_digest"`  // of the ordered list of inputs: ids and trees
	Base   string     `json:"base,omitempty"` // tree of the merged inputs, if it identifies them
	Inputs []Result   `json:"inputs,omitempty"`
	Result Tree       `json:"result"`
	Steps  []StepDone `json:"steps,omitempty"`
	At     time.Time  `json:"at"`
	Merged bool       `json:"merged,omitempty"` // the pinned base holds it
	Aside  bool       `json:"aside,omitempty"`  // put aside by --rerun
}

// KeptLife is the progress of a node that is not done, for one work and one base.
type KeptLife struct {
	Work   string         `json:"work"`
	Judge  string         `json:"judge"`
	Print  string         `json:"inputs_digest"`
	Step   string         `json:"step,omitempty"`  // the present one
	Used   map[string]int `json:"used,omitempty"`  // attempts that count, by the step that they went to
	Steps  []StepDone     `json:"steps,omitempty"` // those before Step
	Tip    string         `json:"tip,omitempty"`   // commit that the next attempt starts from
	Sign   string         `json:"sign,omitempty"`  // of the last failure, for the breaker
	Streak int            `json:"streak,omitempty"`
	Logs   int            `json:"logs,omitempty"` // how many of the last attempts were in it
	Spent  KeptSpent      `json:"spent,omitzero"` // in this allowance
}

// KeptAttempt is an attempt in short.
type KeptAttempt struct {
	Step   string        `json:"step"`
	Number int           `json:"n"`
	Status AttemptStatus `json:"status"` // running: its result is unjudged
	Reason string        `json:"reason,omitempty"`
	Commit string        `json:"commit,omitempty"`
	Tree   string        `json:"tree,omitempty"`
	Agent  string        `json:"agent,omitempty"`
	At     time.Time     `json:"at"` // when it began
}

// KeptSpent is a cost; unreported costs are counted separately.
type KeptSpent struct {
	Tokens   int64 `json:"tokens,omitempty"`
	USDMicro int64 `json:"usd_micro,omitempty"`
	Millis   int64 `json:"ms,omitempty"`
	NoTokens int   `json:"no_tokens,omitempty"` // turns that said nothing about it
	NoUSD    int   `json:"no_usd,omitempty"`
}

// Events that begin a journal that has to be written anew, because the old one is
// lost: what a tracker kept of it. They precede the first RunStarted; commits
// without a known verdict precede them, in a TailLost.
type (
	// RunRecovered says on which base the run was, and where ralph put the
	// integration branch.
	RunRecovered struct {
		From   string      `json:"from"`   // the tracker and the epic's name in it: "bd bd-epic"
		Digest string      `json:"digest"` // of the epic.json that the lost journal was about
		Base   Tree        `json:"base"`   // the pinned one
		Bases  []NamedTree `json:"bases,omitempty"`
		Head   string      `json:"head,omitempty"`   // where ralph put the integration branch, if it stands there
		Others []string    `json:"others,omitempty"` // heads of accepted commits of others that are in it
		Holds  []string    `json:"holds,omitzero"`   // the base, results and heads of others that are in it, as git says; nil: not checked
		Lost   int64       `json:"lost"`             // last event of the lost journal, as far as that is known
		Spent  KeptSpent   `json:"spent,omitzero"`
		Added  ir.Budget   `json:"added,omitzero"`
		By     string      `json:"by"`
		ListRef
	}
	// NodeRecovered is what was kept of a node, without what was not found: a success
	// whose commit no longer exists is dropped.
	NodeRecovered struct {
		Kept
		Key  ir.Key `json:"key"`
		Note string `json:"note,omitempty"` // what was kept and is not taken over, and why
	}
)
