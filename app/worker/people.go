package worker

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
)

// peopleLabels are the labels of a wait that is over.
func (w *Worker) peopleLabels(i bd.Issue) []string {
	return slices.DeleteFunc(slices.Clone(i.Labels), func(l string) bool {
		return l != w.labels.Needs && l != w.labels.Approved && l != w.labels.Changes
	})
}

// decidedThere lists the issues on which a label says a decision; none if the policy
// does not let people decide in bd.
func (w *Worker) decidedThere(ctx context.Context) ([]bd.Issue, error) {
	if !w.tracker.Approvals {
		return []bd.Issue{}, nil
	}
	list, err := w.Bd.List(ctx, "--status", "blocked", "--label-any", w.labels.Approved+","+w.labels.Changes)
	if list == nil {
		list = []bd.Issue{}
	}
	return list, err
}

// wake continues with an issue that waited for a person, once that is over, or somebody
// gave it a label that decides: whether that counts the mirror of its run finds out.
func (w *Worker) wake(ctx context.Context, id string, decided []bd.Issue) (bool, error) {
	at := slices.IndexFunc(decided, func(i bd.Issue) bool { return i.ID == id })
	labelled := at >= 0 && w.looks(decided[at])
	c := w.lookUp(id)
	if c == nil || !labelled && record.JournalMark(stateOf(w.epicFile(c.Epic))) == c.Mark {
		return false, nil
	}
	l, got, err := w.lock(id)
	if err != nil || !got {
		return false, err
	}
	c = w.lookUp(id)
	r, err := w.woken(ctx, c, labelled)
	if err != nil || r == nil {
		return false, errors.Join(err, l.Release())
	}
	c.Locked = l
	w.Runs[id] = r
	w.Say.linef(id, "resumed: %s (decided)", r.issue.Title)
	if err := w.start(r, nil); err != nil {
		return true, w.blocked(ctx, r, err)
	}
	return true, nil
}

// mostLooks is how often a run is begun for the same labels.
const mostLooks = 3

// looks reports whether labels that decide are looked at: not again and again, where
// their owner is unknown.
func (w *Worker) looks(i bd.Issue) bool {
	slices.Sort(i.Labels)
	l, labels := w.Looked[i.ID], strings.Join(i.Labels, " ")
	if l.labels != labels {
		l = LabelLook{labels: labels}
	}
	l.times++
	w.Looked[i.ID] = l
	return l.times <= mostLooks
}

// LabelLook is how often labels were looked at.
type LabelLook struct {
	labels string
	times  int
}

// woken takes up an issue again whose wait is over, or may be; nil if it is not, or it is
// not the worker's to continue with. That it is in progress its run says.
func (w *Worker) woken(ctx context.Context, c *record.Claim, labelled bool) (*Run, error) {
	if c == nil || c.State != record.ClaimWaiting {
		return nil, nil
	}
	r := &Run{claim: c, file: w.epicFile(c.Epic), code: -1}
	r.state = stateOf(r.file)
	rec, err := record.Open(ctx, r.file, nil)
	if err != nil {
		return nil, faulty(err)
	}
	if !labelled && w.waitsStill(rec) {
		c.Mark = record.JournalMark(r.state)
		return nil, c.Save()
	}
	i, there, err := w.Bd.Show(ctx, c.Issue)
	if err != nil {
		return nil, err
	}
	if !there || !w.owns(c, rec.Epic, i) || i.Status != "blocked" && i.Status != "in_progress" { // a person runs it by hand
		c.State = record.ClaimOver // a person took it, or opened it: then it is ready
		return nil, c.Save()
	}
	if n := len(rec.Events); n > 0 {
		c.After = rec.Events[n-1].Seq
	}
	c.State, c.Args = record.ClaimTaken, nil
	if err := c.Save(); err != nil {
		return nil, err
	}
	r.issue, r.epic = i, rec.Epic
	return r, nil
}

// waitsStill reports whether a run waits for a person.
func (w *Worker) waitsStill(rec *record.Record) bool {
	v, _ := rec.Run.View(rec.Epic.Nodes[0].ID)
	sum, joined := rec.Run.View(executor.Integration)
	still := func(v machine.NodeView) bool {
		return v.Status == executor.Waiting && (v.For == executor.ForHuman || v.For == executor.ForBudget)
	}
	o := rec.Run.Overview()
	return still(v) || joined && still(sum) || rec.Run.Watch().Tampered() || o.Held.For != "" || !o.Begun && !o.PlanApproved
}
