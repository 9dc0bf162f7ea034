package record

import (
	"slices"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

// PlanJSON is `ralph plan --json`.
type PlanJSON struct {
	Version   int                `json:"version"`
	Base      string             `json:"base"`
	Nodes     []PlannedJSON      `json:"nodes"`
	Counts    map[string]int     `json:"counts"` // of sprints, by action
	Changes   bool               `json:"changes"`
	Disk      DiskJSON           `json:"disk"`
	Baseline  []BaselineJSON     `json:"baseline,omitempty"`
	Proposals []machine.Proposed `json:"proposals,omitempty"`
	Warnings  []string           `json:"warnings,omitempty"`
	Notes     []string           `json:"notes,omitempty"`
	Cannot    string             `json:"cannot,omitempty"`  // why apply would refuse to start
	AtWork    int                `json:"at_work,omitempty"` // pid of the run at work: the plan is for the next run
	First     []string           `json:"first,omitempty"`   // commands to type before apply, without --epic
}

// PlannedJSON is one node of PlanJSON: the planned action and its cause.
type PlannedJSON struct {
	Key    ir.Key         `json:"key"`
	ID     ir.NodeID      `json:"id"`
	Title  string         `json:"title"`
	ByHand bool           `json:"by_hand,omitempty"` // a person does all of its work
	Action machine.Action `json:"action"`
	Needs  ir.Key         `json:"needs,omitempty"` // the sprint that is blocked, if it is not this one
	Cause  string         `json:"cause,omitempty"`
}

// DiskJSON is the disk space that the next run needs and what is free, in bytes.
type DiskJSON struct {
	Need  int64 `json:"need"` // bytes: files of the base × worktrees, and a fifth more
	Trees int   `json:"worktrees"`
	Free  int64 `json:"free"`
}

// BaselineJSON is the record of a gate on a base, in `ralph plan --json`.
type BaselineJSON struct {
	Gate     string           `json:"gate"`
	Also     []string         `json:"also,omitempty"` // gates with the same command
	Base     string           `json:"base"`
	Verdict  executor.Verdict `json:"verdict,omitempty"` // "": not tried yet
	Message  string           `json:"message,omitempty"`
	Green    bool             `json:"green,omitempty"`    // nothing starts while it is red
	Approved string           `json:"approved,omitempty"` // who let it be red
	Held     bool             `json:"held,omitempty"`     // nothing starts because of it

	Sandbox *executor.Sandboxed `json:"sandbox,omitempty"` // that the gate ran in; absent: none
}

// Held reports whether nothing would start because the base is red.
func (p PlanJSON) Held() bool {
	return slices.ContainsFunc(p.Baseline, func(b BaselineJSON) bool { return b.Held })
}
