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
	Cannot    string             `json:"cannot,omitempty"`  // why apply would not start
	AtWork    int                `json:"at_work,omitempty"` // process of the run that is at work: it is the next one that is planned
	First     []string           `json:"first,omitempty"`   // commands that have to come before apply, without --epic
}

type PlannedJSON struct {
	Key    ir.Key         `json:"key"`
	ID     ir.NodeID      `json:"id"`
	Title  string         `json:"title"`
	ByHand bool           `json:"by_hand,omitempty"` // a person does all of its work
	Action machine.Action `json:"action"`
	Cause  string         `json:"cause,omitempty"`
}

type DiskJSON struct {
	Need  int64 `json:"need"` // bytes: files of the base × worktrees, and a fifth more
	Trees int   `json:"worktrees"`
	Free  int64 `json:"free"`
}

// BaselineJSON is what is on record of a gate on a base, in `ralph plan --json`.
type BaselineJSON struct {
	Gate     string           `json:"gate"`
	Also     []string         `json:"also,omitempty"` // gates with the same command
	Base     string           `json:"base"`
	Verdict  executor.Verdict `json:"verdict,omitempty"` // "" is not tried yet
	Message  string           `json:"message,omitempty"`
	Green    bool             `json:"green,omitempty"`    // nothing starts while it is red
	Approved string           `json:"approved,omitempty"` // who let it be red
	Held     bool             `json:"held,omitempty"`     // nothing starts because of it
}

// held reports whether nothing would start because the base is red.
func (p PlanJSON) Held() bool {
	return slices.ContainsFunc(p.Baseline, func(b BaselineJSON) bool { return b.Held })
}
