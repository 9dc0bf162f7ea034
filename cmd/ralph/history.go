package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/local"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/redact"
	"github.com/ralph-compiler/ralph/ir"
)

// detail says how much of a history is read; what is not asked for costs nothing.
type detail struct {
	files bool // of the attempts: prompts, answers, whole outcomes, what gates said in detail
	diffs bool // git is asked for the diff of each attempt
}

// historian writes what happened to an epic as codecs need it.
type historian struct {
	detail
	epic   *ir.Epic
	run    *executor.Run
	space  *workspace.Space
	times  *chronicle
	redact *redact.Redactor
	told   bd.Told // what the tracker has
	says   bool    // this is what the tracker is told now
}

// history is everything that is on record, whether a run is at work or not.
func (r *record) history(ctx context.Context, d detail) *ir.History {
	times := &chronicle{}
	times.tally.Key = keysOf(r.epic)
	for _, e := range r.events {
		times.add(e)
	}
	return newHistorian(d, r.epic, r.run, r.space, times).history(ctx)
}

// historian is for a run that goes on: it may be asked again and again, between
// events.
func (r *openedRun) historian(d detail) *historian {
	return newHistorian(d, r.epic, r.run, r.space, &r.times)
}

func newHistorian(d detail, epic *ir.Epic, run *executor.Run, space *workspace.Space, times *chronicle) *historian {
	h := &historian{detail: d, epic: epic, run: run, space: space, times: times}
	if epic.Run.Tracker != nil {
		h.told, _ = bd.ReadTold(space.State()) // what cannot be read confirms nothing
	}
	if d.files || d.diffs {
		h.redact, _ = redact.New(secretValues(epic, os.Environ()))
	}
	return h
}

// history is of all nodes; the sum is not one of the epic's.
func (h *historian) history(ctx context.Context) *ir.History {
	o := h.run.Overview()
	mode, _ := h.run.Mode()
	out := &ir.History{
		Top: h.space.Top(), Base: h.run.BaseBranch(), Started: h.times.started, Updated: h.times.updated, Ended: h.times.ended, By: o.By, Program: "ralph " + version(),
		Status: mode, Nodes: make(map[ir.NodeID]*ir.NodeHistory, len(h.epic.Nodes)),
	}
	for _, r := range h.times.runs {
		b, err := json.Marshal(r)
		if err != nil {
			panic("a run record that cannot be written: " + err.Error()) // it is plain
		}
		out.Runs = append(out.Runs, b)
	}
	for _, v := range h.run.Views() {
		out.Nodes[v.ID] = h.view(ctx, v)
	}
	return out
}

// node is the history of one node, nil if the epic has none of this id.
func (h *historian) node(ctx context.Context, id ir.NodeID) *ir.NodeHistory {
	v, ok := h.run.View(id)
	if !ok {
		return nil
	}
	return h.view(ctx, v)
}

func (h *historian) view(ctx context.Context, v executor.NodeView) *ir.NodeHistory {
	out := &ir.NodeHistory{
		Status: v.Status.String(), Words: map[string]string{}, Reason: v.Reason, Failure: v.FailureCode(), Waits: string(v.For),
		Gate: v.Gate, Step: v.Step, Started: v.Started, Updated: h.times.nodes[v.ID], Ended: v.Ended,
		Result: v.Result.Commit, Tree: v.Result.Tree, Worktree: h.space.Dir(v.ID), PRURL: v.Pull.URL, PRNumber: v.Pull.Number, Budget: v.Budget, Backoff: v.Backoff,
	}
	for _, words := range executor.Vocabularies {
		if w := v.Word(words); w != "" {
			out.Words[string(words)] = w
		}
	}
	if v.Spent.TokensKnown {
		out.Tokens = &v.Spent.Tokens
	}
	if v.Spent.USDKnown {
		out.USDMicro = &v.Spent.USDMicro
	}
	if s, ended := h.run.Scrum(v.ID, h.says || h.told.Ended[v.ID] == v.Status.String()); ended {
		b, err := json.Marshal(s)
		if err != nil {
			panic("a scrum result that cannot be written: " + err.Error()) // it is plain
		}
		out.Scrum = b
	}
	for _, c := range h.run.Comments(v.ID) {
		out.Comments = append(out.Comments, ir.Comment{Author: c.Author, Text: c.Text, At: c.At})
	}
	for _, a := range v.Attempts {
		out.Attempts = append(out.Attempts, h.attempt(ctx, v.ID, a))
	}
	return out
}

func (h *historian) attempt(ctx context.Context, id ir.NodeID, a executor.AttemptLog) ir.Attempt {
	out := ir.Attempt{
		Step: a.Step, Number: a.Number, Status: a.Status.String(), Words: map[string]string{}, Reason: a.Reason,
		Agent: a.Agent, AgentPath: h.epic.Agents[a.Agent].Path, Model: a.Model, Session: a.Session, Started: a.Started, Ended: a.Ended,
		Iterations: a.Turns, Feedback: a.Feedback, Summary: a.Outcome.Summary, Promise: a.Outcome.Promise, Response: a.Tail, From: a.From, Commit: a.Commit,
		Tokens: a.Cost().Tokens, USDMicro: a.Cost().USDMicro,
		Trace: h.times.trace(h.epic.Epic.ID, gateOf{node: id, step: a.Step, attempt: a.Number}),
	}
	for _, words := range executor.Vocabularies {
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
	for _, f := range a.Collected.Changes {
		out.Files = append(out.Files, ir.FileChange{Path: f.Path, From: f.From, Type: f.Type, Added: f.Added, Removed: f.Removed})
	}
	if !a.Outcome.None() && a.Outcome.Invalid == "" {
		b, err := json.Marshal(a.Outcome)
		if err != nil {
			panic("an outcome that cannot be written: " + err.Error()) // it is plain
		}
		out.Outcome = b
	}
	seen := map[string]int{} // verdicts of a gate so far
	for _, g := range a.Gates {
		span := h.times.gate(gateOf{id, a.Step, a.Number, g.Gate}, seen[g.Gate])
		seen[g.Gate]++
		g.Usage = a.CostOf(g)
		out.Gates = append(out.Gates, h.gate(g, span))
	}
	if h.files {
		h.readFiles(&out, local.Files(h.space.State(), id, a.Step, a.Number), a)
	}
	if h.diffs {
		h.readDiffs(ctx, &out, a)
	}
	return out
}

func (h *historian) gate(g executor.GateJudged, s span) ir.GateResult {
	out := ir.GateResult{
		Gate: g.Gate, Kind: h.epic.Gates[g.Gate].Kind, Agent: g.Agent, AgentPath: h.epic.Agents[cmp.Or(g.Agent, h.epic.Gates[g.Gate].Agent)].Path, Model: g.Model,
		Session: g.Session, Verdict: string(g.Verdict), Message: g.Message, Started: s.from, Ended: s.to, Millis: g.Millis, Tests: g.Tests,
		Failed: g.Failed, By: g.By, Tokens: g.Usage.Tokens, USDMicro: g.Usage.USDMicro,
	}
	if g.Counts != nil {
		out.Counts = &ir.TestCounts{Passed: g.Counts.Passed, Failed: g.Counts.Failed, Skipped: g.Counts.Skipped}
	}
	return out
}

// chronicle keeps what a history needs of events and the machine does not
// remember. The zero value is ready.
type chronicle struct {
	started, updated, ended time.Time
	nodes                   map[ir.NodeID]time.Time // last event of each
	gates                   map[gateOf][]span       // in the order of their verdicts
	open                    map[gateOf]time.Time    // being judged
	last                    map[ir.NodeID]gateOf    // attempt of each, without a gate
	events                  map[gateOf][2]int64     // first and last event of each attempt
	runs                    []journal.RunRecord
	tally                   journal.Tally
}

// gateOf is a gate of an attempt.
type gateOf struct {
	node    ir.NodeID
	step    string
	attempt int
	gate    string
}

// span is a time from and to; each may be unknown.
type span struct{ from, to time.Time }

// add takes the next event.
func (c *chronicle) add(e executor.Event) {
	if c.nodes == nil {
		c.nodes, c.gates, c.open = map[ir.NodeID]time.Time{}, map[gateOf][]span{}, map[gateOf]time.Time{}
		c.last = map[ir.NodeID]gateOf{}
		c.events = map[gateOf][2]int64{}
	}
	c.updated = e.At
	if e.Node != "" {
		c.nodes[e.Node] = e.At
	}
	of := gateOf{node: e.Node, step: e.Step, attempt: e.Attempt}
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
		if of.gate = b.Gate; b.Kind == executor.EffectGate {
			c.open[of] = e.At
		}
	case executor.AttemptStarted:
		c.last[e.Node] = of
	case executor.NodeWaiting:
		if of = c.last[e.Node]; b.Cause == executor.CauseApproval {
			of.gate = b.Gate
			c.open[of] = e.At
		}
	case executor.GateJudged:
		if of.gate = b.Gate; !b.Red {
			c.gates[of] = append(c.gates[of], span{c.open[of], e.At})
			delete(c.open, of)
		}
	}
	if done := c.tally.Add(e); done != nil {
		c.runs = append(c.runs, *done)
	}
}

// trace is the events of an attempt, as a trace id that ralph log resolves.
func (c *chronicle) trace(epic ir.NodeID, of gateOf) string {
	t, ok := c.events[of]
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s:%d-%d", epic, t[0], t[1])
}

// gate is when the n-th verdict of a gate was found.
func (c *chronicle) gate(of gateOf, n int) span {
	if list := c.gates[of]; n < len(list) {
		return list[n]
	}
	return span{}
}
