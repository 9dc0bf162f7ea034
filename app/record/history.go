package record

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/effects"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/redact"
	"github.com/ralph-compiler/ralph/internal/version"
	"github.com/ralph-compiler/ralph/ir"
)

// Historian builds an epic's history in the form that codecs need.
type Historian struct {
	project.Detail
	Epic   *ir.Epic
	Run    *machine.Run
	Space  *workspace.Space
	times  *Chronicle
	redact *redact.Redactor
	told   bd.Told // what the tracker was sent
	Says   bool    // the history is being sent to the tracker now
}

// History is everything on record, whether or not a run is at work.
func (r *Record) History(ctx context.Context, d project.Detail) *ir.History {
	times := &Chronicle{}
	times.Tally.Key = KeysOf(r.Epic)
	for _, e := range r.Events {
		times.Add(e)
	}
	return NewHistorian(d, r.Epic, r.Run, r.Space, times).History(ctx)
}

// NewHistorian returns a Historian for a run. It reads what was sent to the tracker; if d
// asks for files or diffs, it redacts the epic's secrets from them.
func NewHistorian(d project.Detail, epic *ir.Epic, run *machine.Run, space *workspace.Space, times *Chronicle) *Historian {
	h := &Historian{Detail: d, Epic: epic, Run: run, Space: space, times: times}
	if epic.Run.Tracker != nil {
		h.told, _ = bd.ReadTold(space.State()) // an unreadable record confirms nothing
	}
	if d.Files || d.Diffs {
		h.redact, _ = redact.New(SecretValues(epic, os.Environ()))
	}
	return h
}

// History is the history of all nodes of the epic, without the integration node.
func (h *Historian) History(ctx context.Context) *ir.History {
	mode, _ := h.Run.Summary().Mode()
	out := &ir.History{
		Top: h.Space.Top(), Base: h.Run.Bases().Branch(), Started: h.times.started, Ended: h.times.ended, Program: "ralph " + version.Ralph(),
		Status: mode, Nodes: make(map[ir.NodeID]*ir.NodeHistory, len(h.Epic.Nodes)),
	}
	out.Runs = lists.Map(h.times.runs, func(r journal.RunRecord) json.RawMessage { return plain(r) })
	for _, v := range h.Run.Views() {
		out.Nodes[v.ID] = h.View(ctx, v)
	}
	return out
}

// Node is the history of one node, nil if the epic has none of this id.
func (h *Historian) Node(ctx context.Context, id ir.NodeID) *ir.NodeHistory {
	v, ok := h.Run.View(id)
	if !ok {
		return nil
	}
	return h.View(ctx, v)
}

// View is the history of the node that v describes.
func (h *Historian) View(ctx context.Context, v machine.NodeView) *ir.NodeHistory {
	out := &ir.NodeHistory{
		Status: v.Status.String(), Words: map[string]string{}, Reason: v.Reason, Failure: v.FailureCode(), Waits: string(v.For),
		Started: v.Started, Updated: h.times.nodes[v.ID], Ended: v.Ended,
		Worktree: h.Space.Dir(v.ID), PRURL: v.Pull.URL, PRNumber: v.Pull.Number, Budget: v.Budget, Backoff: v.Backoff,
	}
	for _, words := range machine.Vocabularies {
		if w := v.Word(words); w != "" {
			out.Words[string(words)] = w
		}
	}
	if v.Spent.TokensKnown {
		out.Tokens = &v.Spent.Tokens
	}
	if s, ended := h.Run.Node(v.ID).Scrum(h.Says || h.told.Ended[v.ID] == v.Status.String()); ended {
		out.Scrum = plain(s)
	}
	out.Comments = lists.Map(h.Run.Node(v.ID).Comments(), func(c machine.Comment) ir.Comment {
		return ir.Comment{Author: c.Author, Text: c.Text, At: c.At}
	})
	out.Attempts = lists.Map(v.Attempts, func(a machine.AttemptLog) ir.Attempt { return h.Attempt(ctx, v.ID, a) })
	return out
}

// Attempt is the history of an attempt of the node id, as detailed as h.Detail asks.
func (h *Historian) Attempt(ctx context.Context, id ir.NodeID, a machine.AttemptLog) ir.Attempt {
	out := ir.Attempt{
		Step: a.Step, Number: a.Number, Status: a.Status.String(), Words: map[string]string{}, Reason: a.Reason,
		Agent: a.Agent, AgentPath: h.Epic.Agents[a.Agent].Path, Model: a.Model, Session: a.Session, Started: a.Started, Ended: a.Ended,
		Iterations: a.Turns, Feedback: a.Feedback, Summary: a.Outcome.Summary, Promise: a.Outcome.Promise, Response: a.Tail, From: a.From, Commit: a.Commit,
		Tokens: a.Cost().Tokens, USDMicro: a.Cost().USDMicro,
		Trace: h.times.trace(h.Epic.Epic.ID, GateOf{Node: id, Step: a.Step, Attempt: a.Number}),
	}
	for _, words := range machine.Vocabularies {
		if w := a.Status.Word(words); w != "" {
			out.Words[string(words)] = w
		}
	}
	if len(a.Gates) > 0 && out.Words[string(executor.WordsExecution)] == "failed" {
		// The agent did its part, whatever the gates said about it: their verdicts are
		// executions of their own.
		out.Words[string(executor.WordsExecution)] = "completed"
	}
	out.Errors = append(append(out.Errors, a.Outcome.Errors...), a.Problems...)
	out.Files = changesOf(a.Collected.Changes)
	if !a.Outcome.None() && a.Outcome.Invalid == "" {
		out.Outcome = plain(a.Outcome)
	}
	seen := map[string]int{} // verdicts of a gate so far
	for _, g := range a.Gates {
		span := h.times.gate(GateOf{id, a.Step, a.Number, g.Gate}, seen[g.Gate])
		seen[g.Gate]++
		g.Usage = a.CostOf(g)
		out.Gates = append(out.Gates, h.gate(g, span))
	}
	if h.Files {
		h.readFiles(&out, effects.Files(h.Space.State(), id, a.Step, a.Number), a)
	}
	if h.Diffs {
		h.readDiffs(ctx, &out, a)
	}
	return out
}

// plain is a value as JSON, which it can always be written as.
func plain(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("a %T that cannot be written: %v", v, err))
	}
	return b
}

func (h *Historian) gate(g executor.GateJudged, s span) ir.GateResult {
	out := ir.GateResult{
		Gate: g.Gate, Kind: h.Epic.Gates[g.Gate].Kind, Agent: g.Agent, AgentPath: h.Epic.Agents[cmp.Or(g.Agent, h.Epic.Gates[g.Gate].Agent)].Path, Model: g.Model,
		Session: g.Session, Verdict: string(g.Verdict), Message: g.Message, Started: s.from, Ended: s.to, Millis: g.Millis, Tests: g.Tests,
		Failed: g.Failed, By: g.By, Tokens: g.Usage.Tokens, USDMicro: g.Usage.USDMicro,
	}
	if g.Counts != nil {
		out.Counts = &ir.TestCounts{Passed: g.Counts.Passed, Failed: g.Counts.Failed, Skipped: g.Counts.Skipped}
	}
	return out
}

// Chronicle collects the facts from events that a history needs and the machine does not
// keep. The zero value is ready to use.
type Chronicle struct {
	started, ended time.Time
	nodes          map[ir.NodeID]time.Time // last event of each
	Gates          map[GateOf][]span       // in the order of their verdicts
	Open           map[GateOf]time.Time    // being judged
	last           map[ir.NodeID]GateOf    // attempt of each, without a gate
	events         map[GateOf][2]int64     // first and last event of each attempt
	runs           []journal.RunRecord
	Tally          journal.Tally
}

// GateOf is a gate of an attempt.
type GateOf struct {
	Node    ir.NodeID
	Step    string
	Attempt int
	Gate    string
}

// span is a start and an end time; either may be unknown (zero).
type span struct{ from, to time.Time }

// Add takes the next event.
func (c *Chronicle) Add(e executor.Event) {
	if c.nodes == nil {
		c.nodes, c.Gates, c.Open = map[ir.NodeID]time.Time{}, map[GateOf][]span{}, map[GateOf]time.Time{}
		c.last = map[ir.NodeID]GateOf{}
		c.events = map[GateOf][2]int64{}
	}
	if e.Node != "" {
		c.nodes[e.Node] = e.At
	}
	of := GateOf{Node: e.Node, Step: e.Step, Attempt: e.Attempt}
	if e.Attempt > 0 {
		c.events[of] = [2]int64{cmp.Or(c.events[of][0], e.Seq), e.Seq}
	}
	switch b := e.Body.(type) {
	case executor.RunStarted:
		c.ended = time.Time{}
		if c.started.IsZero() {
			c.started = e.At
		}
	case executor.RunEnded:
		c.ended = e.At
	case executor.EffectStarted:
		if of.Gate = b.Gate; b.Kind == executor.EffectGate {
			c.Open[of] = e.At
		}
	case executor.AttemptStarted:
		c.last[e.Node] = of
	case executor.NodeWaiting:
		if of = c.last[e.Node]; b.Cause == executor.CauseApproval {
			of.Gate = b.Gate
			c.Open[of] = e.At
		}
	case executor.GateJudged:
		if of.Gate = b.Gate; !b.Red {
			c.Gates[of] = append(c.Gates[of], span{c.Open[of], e.At})
			delete(c.Open, of)
		}
	}
	if done := c.Tally.Add(e); done != nil {
		c.runs = append(c.runs, *done)
	}
}

// trace is the events of an attempt, as a trace id that ralph log resolves.
func (c *Chronicle) trace(epic ir.NodeID, of GateOf) string {
	t, ok := c.events[of]
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s:%d-%d", epic, t[0], t[1])
}

// gate is the time span of a gate's n-th verdict.
func (c *Chronicle) gate(of GateOf, n int) span {
	if list := c.Gates[of]; n < len(list) {
		return list[n]
	}
	return span{}
}
