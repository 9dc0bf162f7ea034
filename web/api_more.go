package web

import (
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/ir"
)

type (
	// TailLine is the data of an event "line" of GET …/tail: whole lines of the file, or a
	// part of one that is very long. The id of the event is the offset behind them, in bytes.
	TailLine struct {
		Text string `json:"text"`
	}

	// TailEnd is the data of its event "end": nothing more comes. Next is what can be
	// followed now, null if there is nothing.
	TailEnd struct {
		Next *TailOf `json:"next"`
	}
)

type (
	// Plan is GET /epics/{epic}/plan: its plan as it is now, and what it compiles to.
	Plan struct {
		File        string                  `json:"file"` // from the project's top
		Lines       []string                `json:"lines"`
		Keys        []PlanKey               `json:"keys"` // sprints, in the order of the plan
		Diagnostics project.DiagnosticsJSON `json:"diagnostics"`
		Cannot      string                  `json:"cannot,omitempty"` // why it is not compiled
		Stale       bool                    `json:"stale"`            // it compiles to another epic.json
		Changes     *ir.Difference          `json:"changes"`          // from epic.json to that; null if there is none, or it has errors
		Text        string                  `json:"text,omitempty"`   // changes, in words
		Command     string                  `json:"command,omitempty"`
	}

	// PlanKey is where a sprint stands in its plan.
	PlanKey struct {
		Line   int    `json:"line"` // of its heading, from 1
		Key    ir.Key `json:"key"`
		Status string `json:"status,omitempty"` // "": it is new
		Word   string `json:"word,omitempty"`
	}

	// Next is GET /epics/{epic}/next: what the next apply would do, as ralph plan --json says
	// it, and how long the rest may take.
	Next struct {
		record.PlanJSON
		Forecast *Forecast `json:"forecast"`
	}
)
