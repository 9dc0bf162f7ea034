package journal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/ir"
)

// RunRecord is one line of runs.jsonl: a finished run.
type RunRecord struct {
	Epic     ir.NodeID      `json:"epic"`
	Digest   string         `json:"digest"` // of epic.json
	Plan     string         `json:"plan"`
	Started  time.Time      `json:"started"`
	Ended    time.Time      `json:"ended"`
	Events   int64          `json:"events"`            // how many it wrote
	Exit     *int           `json:"exit"`              // nil: it was killed, or has not ended
	Counts   map[string]int `json:"counts"`            // nodes by status
	GoesOn   int            `json:"goes_on,omitempty"` // of those that wait: with the next run, without anybody
	Result   string         `json:"result,omitempty"`
	Attempts int            `json:"attempts"` // in this run

	By      string              `json:"by,omitempty"`
	Outcome executor.RunOutcome `json:"outcome"`
	Trace   string              `json:"trace"`           // decision trace id: the journal's events of this run, "epic:first-last"
	Error   string              `json:"error,omitempty"` // the first reason why it is not done
}

// ExitCode is the command line's exit code after a run with this outcome.
func ExitCode(o executor.RunOutcome) int {
	switch o {
	case executor.RunDone:
		return 0
	case executor.RunWaiting:
		return 4
	case executor.RunInterrupted:
		return 130
	}
	return 3
}

// Tally makes run records from events: pass it all of a journal, in order. The zero
// value is ready.
type Tally struct {
	now     RunRecord
	open    bool
	first   int64
	last    executor.Event
	nodes   map[ir.NodeID]standing
	changed []ir.NodeID // in order of their first change

	Key func(ir.NodeID) ir.Key // how people call a node; nil: by its id, until it has begun
}

// standing is what the last event of a node says about it.
type standing struct {
	outcome executor.RunOutcome // "", RunWaiting, RunBlocked
	reason  string
	key     ir.Key
}

// Add takes the next event. If that ended a run, its record is returned. A run that
// ended without an event is known when the next one starts.
func (t *Tally) Add(e executor.Event) (done *RunRecord) {
	switch b := e.Body.(type) {
	case executor.RunStarted:
		if t.open {
			r := t.close(executor.RunKilled, "it ended without a word")
			done = &r
		}
		if t.nodes == nil {
			t.nodes = map[ir.NodeID]standing{}
		}
		t.open, t.first = true, e.Seq
		t.now = RunRecord{Epic: b.Epic, Digest: b.Digest, Plan: b.Plan, Started: e.At, By: b.By, Result: t.now.Result}
	case executor.RunEnded:
		t.last = e
		t.now.Counts, t.now.GoesOn = b.Counts, b.GoesOn
		r := t.close(t.verdict(b))
		code := ExitCode(r.Outcome)
		r.Exit = &code
		return &r
	case executor.NodeStarted:
		t.stand(e.Node, standing{key: b.Key})
	case executor.NodeResumed, executor.NodeDone:
		t.stand(e.Node, standing{})
	case executor.NodeWaiting:
		s := standing{reason: b.Detail}
		if b.For == executor.ForHuman || b.For == executor.ForBudget && b.Until.IsZero() {
			s.outcome = executor.RunWaiting
		}
		t.stand(e.Node, s)
	case executor.NodeBlocked:
		t.stand(e.Node, standing{outcome: executor.RunBlocked, reason: b.Reason})
	case executor.Decided:
		switch b.Verb {
		case executor.Skip, executor.RetryNode:
			t.stand(e.Node, standing{})
		case executor.Cancel:
			if e.Node != "" {
				t.stand(e.Node, standing{outcome: executor.RunBlocked, reason: "cancelled by " + b.By})
			}
		}
	case executor.AttemptStarted:
		if !b.ByHand {
			t.now.Attempts++
		}
	case executor.Published:
		if e.Node == executor.Integration {
			t.now.Result = b.Result.Commit
		}
	}
	t.last = e
	return done
}

func (t *Tally) stand(id ir.NodeID, s standing) {
	old, known := t.nodes[id]
	if !known {
		t.changed = append(t.changed, id)
	}
	if s.key == "" {
		s.key = old.key
	}
	if t.nodes == nil {
		t.nodes = map[ir.NodeID]standing{}
	}
	t.nodes[id] = s
}

// verdict is how a run ended, and the first reason why it is not done. An earlier
// ralph did not say how: then its nodes do, blocked before waiting before done.
func (t *Tally) verdict(b executor.RunEnded) (outcome executor.RunOutcome, why string) {
	outcome = executor.RunDone
	stopped := b.Counts[executor.Blocked.String()] + b.Counts[executor.Cancelled.String()]
	for _, id := range t.changed {
		s := t.nodes[id]
		if id != executor.Integration && (s.outcome == executor.RunBlocked && stopped == 0 || s.outcome == executor.RunWaiting && b.Counts[executor.Waiting.String()] == 0) {
			continue // it is gone from the epic
		}
		if s.outcome == executor.RunBlocked && outcome != executor.RunBlocked || s.outcome == executor.RunWaiting && outcome == executor.RunDone {
			name := string(s.key)
			if name == "" && t.Key != nil {
				name = string(t.Key(id))
			}
			name = cmp.Or(name, string(id))
			outcome, why = s.outcome, name+": "+s.reason
		}
	}
	switch {
	case b.Outcome == executor.RunDone:
		return b.Outcome, ""
	case b.Outcome != "":
		return b.Outcome, cmp.Or(b.Reason, why)
	case b.Interrupted:
		return executor.RunInterrupted, why
	case stopped > 0:
		return executor.RunBlocked, why
	}
	return outcome, why
}

func (t *Tally) close(outcome executor.RunOutcome, why string) RunRecord {
	r := t.now
	r.Outcome, r.Error = outcome, why
	r.Ended, r.Events = t.last.At, t.last.Seq-t.first+1
	r.Trace = fmt.Sprintf("%s:%d-%d", r.Epic, t.first, t.last.Seq)
	t.open = false
	return r
}

// Open returns the record of the run that has not ended: it is active, or was killed.
// Its outcome and exit code have no meaning yet.
func (t *Tally) Open() (r RunRecord, ok bool) {
	if !t.open {
		return RunRecord{}, false
	}
	again := *t
	r = again.close("", "")
	r.Ended = time.Time{}
	return r, true
}

// Runs rebuilds the record of every run from the journal's events. A run that has not
// ended, because it is active or was killed and not resumed, is not included; the tally
// has it.
func (l *Log) Runs(ctx context.Context, key func(ir.NodeID) ir.Key) ([]RunRecord, *Tally, error) {
	t := &Tally{Key: key}
	var out []RunRecord
	for e, err := range l.Events(ctx) {
		if err != nil {
			return nil, nil, err
		}
		if r := t.Add(e); r != nil {
			out = append(out, *r)
		}
	}
	return out, t, nil
}

// AppendRun adds a line to runs.jsonl in dir and makes it durable.
func AppendRun(dir string, r RunRecord) error {
	b, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("record run: %w", err)
	}
	f, err := regular.AppendOwn(filepath.Join(dir, "runs.jsonl"), 0o600)
	if err != nil {
		return fmt.Errorf("record run: %w", err)
	}
	_, err = f.Write(append(b, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("record run: %w", err)
	}
	return nil
}
