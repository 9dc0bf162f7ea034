package record

import (
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// ShowJSON is `ralph show --json`: the node as in status, and the fields of show only.
type ShowJSON struct {
	Version int `json:"version"`
	NodeJSON
	Spec      *ir.Node            `json:"spec,omitempty"`
	Feedback  []string            `json:"feedback,omitempty"` // of the open attempt, else for the next
	Decisions []executor.Decision `json:"decisions,omitempty"`
	Refs      []string            `json:"refs"`
	MovedOut  []MovedJSON         `json:"moved_out,omitempty"` // from its worktree: the only copy
	Plan      string              `json:"plan,omitempty"`      // from the project's top
	PlanLine  int                 `json:"plan_line,omitempty"` // of its heading as the plan is now; 0: it is not there

	// What the text says besides.
	Now   time.Time `json:"-"`
	Draft bool      `json:"-"` // it is the one sprint of a draft
	Place Place     `json:"-"` // in its plan
}

// ChangeJSON is `ralph show --diff --json`.
type ChangeJSON struct {
	Version  int                   `json:"version"`
	Key      ir.Key                `json:"key"`
	ID       ir.NodeID             `json:"id"`
	Title    string                `json:"title"`
	Status   string                `json:"status"`
	Cause    string                `json:"cause,omitempty"`
	Step     string                `json:"step,omitempty"`
	Attempt  int                   `json:"attempt,omitempty"`
	From     executor.Tree         `json:"from"` // a commit or tree that is "" is not known
	To       executor.Tree         `json:"to"`   // both are "": there is nothing yet
	Approval *ApprovalJSON         `json:"approval,omitempty"`
	Files    []executor.FileChange `json:"files"`
	Gates    []GateJSON            `json:"gates"`
	Notes    []string              `json:"notes,omitempty"`
	Next     []NextStep            `json:"next,omitempty"`
}

// ApprovalJSON is the state that an approval would be bound to.
type ApprovalJSON struct {
	Gate      string   `json:"gate"`
	Digest    string   `json:"gate_digest"`
	Result    string   `json:"result"` // tree
	Base      string   `json:"base"`   // tree
	Approvers []string `json:"approvers,omitempty"`
}

// BeadJSON is `ralph show --json` of a bead that is in no epic here: the data in beads.
type BeadJSON struct {
	Version  int            `json:"version"`
	Epic     ir.NodeID      `json:"epic"`
	ID       string         `json:"id"`
	Kept     *executor.Kept `json:"kept"` // null: nothing has happened to it
	Plan     string         `json:"plan"`
	PlanLine int            `json:"plan_line"`
	Section  string         `json:"section"`
	Status   string         `json:"status"`
	Title    string         `json:"title"`
}
