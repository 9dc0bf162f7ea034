package machine

import (
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// Grades of a change.
const (
	Tampered executor.Grade = "tampered" // the run ends with exit code 3 until it is put back or accepted
	Noticed  executor.Grade = "noticed"  // it is only reported
)

// Tamper is a recorded change by others.
type Tamper struct {
	executor.TamperSeen
	At       time.Time
	State    TamperState
	Accepted string // by whom
	Earlier  int    // runs begun since it was seen
}

// TamperState is the state of a recorded change.
type TamperState string

// States of a change. One that was only noticed stays open.
const (
	TamperOpen     TamperState = "open"
	TamperAccepted TamperState = "accepted"
	TamperIsUndone TamperState = "undone"
	TamperReplaced TamperState = "replaced" // the same thing was changed again: see there
)

// tampers are the changes that others made.
type tampers struct {
	*rules
	*clock
	list []Tamper
	told map[string]string // what was said last of each thing: id
}

// Sighted returns what to record about a sighting, nil for nothing. again says that
// the sighting comes from a comparison with the state that a cut run had trusted: what
// was on record by then is not recorded twice.
func (v Watch) Sighted(s executor.Sighting, again bool) executor.Body {
	open := v.r.tampers.open(s.What)
	if s.Over {
		if open == nil {
			return nil
		}
		return executor.TamperUndone{ID: open.ID, What: s.What}
	}
	if again && (open != nil && open.Is == s.Is || open == nil && v.r.tampers.told[s.What] == s.Drift.ID()) {
		return nil
	}
	grade := v.r.grade(s)
	if open == nil {
		if grade == "" {
			return nil
		}
		return executor.TamperSeen{ID: s.Drift.ID(), Grade: grade, Drift: s.Drift, During: s.During}
	}
	switch {
	case s.Is == open.Was, s.Was == open.Was && grade == "":
		return executor.TamperUndone{ID: open.ID, What: s.What}
	case s.Is == open.Is:
		return nil
	}
	c := executor.Drift{What: s.What, Was: open.Was, Is: s.Is, Back: open.Back}
	return executor.TamperSeen{ID: c.ID(), Grade: Tampered, Drift: c, During: s.During}
}

// grade says what a sighting means by itself; "" is nothing: people commit, tag
// and fetch, and work where ralph asked them to.
func (gr *graph) grade(s executor.Sighting) executor.Grade {
	switch s.Thing {
	case executor.ThingOther:
		return Noticed
	case executor.ThingRoute:
		if s.Forward {
			return ""
		}
		return Noticed
	case executor.ThingForeign:
		switch {
		case s.Forward:
			return ""
		case s.Young:
			return Noticed
		}
	case executor.ThingOwn:
		if gr.mayMove(s) {
			return ""
		}
	}
	return Tampered
}

// mayMove reports whether others may move a ref of the epic in this way: a node's
// branch during its attempt and by a person's own fix, that of a manual node at any
// time, and the integration branch forward.
func (gr *graph) mayMove(s executor.Sighting) bool {
	n := gr.byID[s.Node]
	during := slices.ContainsFunc(s.During, func(d executor.During) bool { return d.Node == s.Node })
	switch {
	case !s.Branch || n == nil || n.ir == nil || strings.HasPrefix(s.Is, "ref: "): // what it leads to would move with it
		return false
	case n.sum:
		return s.Forward
	case n.ir.Kind == ir.Manual:
		return true
	case during || n.status == executor.Running && s.Was != "": // before its first attempt it is ralph that makes it
		return true
	}
	switch n.status { // a person may mend what is not done
	case executor.Waiting, executor.Blocked, executor.Skipped, executor.Cancelled:
		return s.Is != ""
	}
	return false
}

func (ts *tampers) open(what string) *Tamper {
	return newest(ts.list, func(t *Tamper) bool { return t.What == what && t.State == TamperOpen && t.Grade == Tampered })
}

// seen applies a change that was seen.
func (ts *tampers) seen(b executor.TamperSeen) {
	if open := ts.open(b.What); open != nil {
		open.State = TamperReplaced
	}
	for i := range ts.list { // it was noticed before
		t := &ts.list[i]
		same := t.ID == b.ID && t.Back == b.Back
		more := t.What == b.What && t.Was == b.Was && t.Was != executor.AsBefore && t.Grade == Noticed && b.Grade == Noticed && t.Earlier == 0
		if t.State == TamperOpen && (same || more) {
			t.State = TamperReplaced
		}
	}
	if ts.told == nil {
		ts.told = map[string]string{}
	}
	ts.told[b.What] = b.ID
	ts.list = append(ts.list, Tamper{TamperSeen: b, At: ts.at, State: TamperOpen})
}

func (ts *tampers) undone(b executor.TamperUndone) {
	delete(ts.told, b.What)
	for i := range ts.list {
		if t := &ts.list[i]; t.ID == b.ID && t.State == TamperOpen {
			t.State = TamperIsUndone
		}
	}
}

// noticedRuns is for how many runs after the one in which it was seen something is
// shown that was only noticed: no decision settles it, and an apply may have been typed for
// something else.
const noticedRuns = 3

// renew forgets, when a run begins, what is settled, and what was noticed
// long ago; after a run that was cut, nothing.
func (ts *tampers) renew(cut bool) {
	if cut {
		return
	}
	clear(ts.told)
	for i := range ts.list {
		ts.list[i].Earlier++
	}
	ts.list = slices.DeleteFunc(ts.list, func(t Tamper) bool {
		return t.State != TamperOpen || t.Grade != Tampered && t.Earlier > noticedRuns
	})
}

// consider accepts a change.
func (ts *tampers) consider(d *executor.Decision) (act, error) {
	if d.How != executor.HowPlain {
		return nil, &executor.Refused{Why: "a change is accepted or put back, not overridden", Hint: "ralph approve --tamper " + d.Tamper}
	}
	for t := range lists.Refs(ts.list) {
		if t.ID != d.Tamper || t.Grade != Tampered || t.State == TamperReplaced {
			continue
		}
		switch t.State {
		case TamperAccepted:
			return nil, &executor.Refused{Why: "the change " + t.ID + " of " + t.What + " was accepted by " + t.Accepted + " already"}
		case TamperIsUndone:
			continue // it may have come once more
		}
		return func() error { t.State, t.Accepted = TamperAccepted, d.By; return nil }, nil
	}
	hint := "no change waits for somebody to accept it"
	for _, t := range ts.listed() {
		if t.Grade == Tampered && t.State == TamperOpen {
			hint = "ralph approve --tamper " + t.ID + " is about " + t.What + "; ralph status lists all"
			break
		}
	}
	return nil, &executor.Refused{Why: "there is no open change " + d.Tamper, Hint: hint}
}

// Tampers returns the changes by others that are open or were seen since the run
// began, oldest first, without replaced ones.
func (v Watch) Tampers() []Tamper { return v.r.tampers.listed() }

func (ts *tampers) listed() []Tamper {
	return slices.DeleteFunc(slices.Clone(ts.list), func(t Tamper) bool { return t.State == TamperReplaced })
}

// Tampered reports whether an open change makes the run end as not done.
func (v Watch) Tampered() bool {
	return v.r.epic.Run.Git.OnTamper != "note" && len(v.r.tampers.unsettled()) > 0
}

// OpenTampers returns the changes that are neither accepted nor put back.
func (v Watch) OpenTampers() []executor.Drift { return v.r.tampers.unsettled() }

func (ts *tampers) unsettled() []executor.Drift {
	open := lists.Keep(ts.list, func(t Tamper) bool { return t.Grade == Tampered && t.State == TamperOpen })
	return lists.Map(open, func(t Tamper) executor.Drift { return t.Drift })
}

// Cut reports whether the last run was watched and was cut before its end.
func (v Watch) Cut() bool { return v.r.runs.open() && v.r.runs.started.Watched }

// AtWork returns the attempts whose programs were at work at the last event.
func (v Watch) AtWork() []executor.During {
	var out []executor.During
	for _, n := range v.r.nodes {
		for _, e := range n.life.flight {
			d := executor.During{Node: n.id, Step: n.life.attempt.step, Attempt: n.life.attempt.number}
			if e.Kind.Foreign() && !slices.Contains(out, d) {
				out = append(out, d)
			}
		}
	}
	return out
}

// Pins returns the recorded commits of the epic's nodes' refs. It omits what was in
// flight: those refs may have moved since.
func (v Watch) Pins() []executor.Pin {
	var out []executor.Pin
	for _, n := range v.r.nodes {
		if n.ir == nil || n.sum || n.busy() || n.status == executor.Running {
			continue
		}
		if n.accepted != nil {
			out = append(out, executor.Pin{Node: n.id, Commits: lists.Map(n.successes, func(s success) string { return s.result.Commit })})
		}
		for l := range lists.Refs(n.logs) {
			if collected := l.Turns > 0 && l.Collected.Result.Commit != "" && n.stepIndex(l.Step) >= 0; collected && l.Status != executor.AttemptRunning && !l.Rejudge {
				out = append(out, executor.Pin{Node: n.id, Step: l.Step, Attempt: l.Number, Commits: []string{l.Collected.Result.Commit}})
			}
		}
	}
	return out
}
