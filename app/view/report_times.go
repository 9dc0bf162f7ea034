package view

import (
	"fmt"
	"time"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
)

// reportTimes fills the table of times, with each attempt as a bar.
func reportTimes(r *record.Record, p *pageData, views []machine.NodeView) {
	var from, to time.Time
	for _, v := range views {
		for _, a := range v.Attempts {
			if !a.Started.IsZero() && (from.IsZero() || a.Started.Before(from)) {
				from = a.Started
			}
			if end := endOf(r, a); end.After(to) {
				to = end
			}
		}
	}
	if from.IsZero() {
		return
	}
	span := max(to.Sub(from), time.Millisecond)
	p.Span = words.Brief(span)
	for _, v := range views {
		if len(v.Attempts) == 0 {
			continue
		}
		t := reportTime{
			Key: string(v.Key), Anchor: Anchor(v.Key), Status: v.Status.String(), Attempts: fmt.Sprint(v.Tries()),
		}
		if words.SpentShort(v.Spent) != "" { // an agent was asked
			t.Tokens = words.Figure(v.Spent.Tokens, v.Spent.TokensKnown, words.Counted(v.Spent.Tokens), "unknown")
			t.Cost = words.Figure(v.Spent.USDMicro, v.Spent.USDKnown, words.Dollars(v.Spent.USDMicro), "unknown")
		}
		var agents, gates int64
		work := v.Worked
		if v.Status == executor.Running && r.Held {
			work += max(r.Now.Sub(r.Events[len(r.Events)-1].At), 0)
		}
		for i, a := range v.Attempts {
			agents += a.Millis
			for _, g := range a.Gates {
				gates += g.Millis
			}
			if a.Started.IsZero() {
				continue
			}
			if i == 0 || t.Started == "" {
				t.Started = a.Started.Local().Format(time.DateTime)
			}
			x := int(1000 * a.Started.Sub(from) / span)
			t.Bars = append(t.Bars, bar{
				X: x, W: max(int(1000*endOf(r, a).Sub(a.Started)/span), 3), Status: a.Status.String(),
				Title: fmt.Sprintf("%s #%d: %s", a.Step, a.Number, words.Attempt(v, a)),
			})
		}
		t.Took, t.Agents, t.Gates = words.Brief(work), words.Millis(agents), words.Millis(gates)
		p.Times = append(p.Times, t)
	}
}

func endOf(r *record.Record, a machine.AttemptLog) time.Time {
	if !a.Ended.IsZero() {
		return a.Ended
	}
	if a.Status == executor.AttemptRunning && r.Held {
		return r.Now
	}
	return a.Started
}

// reportRuns lists the runs from their events.
func reportRuns(r *record.Record) []reportRun {
	var out []reportRun
	var open *reportRun
	var began time.Time
	for _, e := range r.Events {
		switch b := e.Body.(type) {
		case executor.RunStarted:
			out = append(out, reportRun{Started: e.At.Local().Format(time.DateTime), By: b.By, Outcome: "not ended by itself"})
			open, began = &out[len(out)-1], e.At
		case executor.RunEnded:
			if open == nil {
				continue
			}
			open.Took, open.Outcome = words.Brief(e.At.Sub(began)), words.Tally(b.Counts, b.GoesOn, true)
			if b.Interrupted {
				open.Outcome = "interrupted; " + open.Outcome
			}
			open = nil
		}
	}
	if open != nil && r.Held {
		open.Outcome = "at work"
	}
	return out
}
