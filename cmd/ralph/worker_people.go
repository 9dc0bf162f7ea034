package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
)

// peopleLabels are the labels of a wait that is over.
func (w *issueWorker) peopleLabels(i bd.Issue) []string {
	var out []string
	for _, l := range i.Labels {
		if l == w.labels.Needs || l == w.labels.Approved || l == w.labels.Changes {
			out = append(out, l)
		}
	}
	return out
}

// decidedThere lists the issues on which a label says a decision; none if the policy
// does not let people decide in bd.
func (w *issueWorker) decidedThere(ctx context.Context) ([]bd.Issue, error) {
	if !w.tracker.Approvals {
		return []bd.Issue{}, nil
	}
	list, err := w.bd.List(ctx, "--status", "blocked", "--label-any", w.labels.Approved+","+w.labels.Changes)
	if list == nil {
		list = []bd.Issue{}
	}
	return list, err
}

// wake goes on with an issue that waited for a person, once that is over.
func (w *issueWorker) wake(ctx context.Context, id string, decided []bd.Issue) (bool, error) {
	at := slices.IndexFunc(decided, func(i bd.Issue) bool { return i.ID == id })
	c := w.lookUp(id)
	if c == nil || at < 0 && journalMark(stateOf(w.epicFile(c.Epic))) == c.Mark {
		return false, nil
	}
	l, got, err := w.lock(id)
	if err != nil || !got {
		return false, err
	}
	c = w.lookUp(id)
	r, err := w.woken(ctx, c, func() *bd.Issue {
		if at < 0 {
			return nil
		}
		return &decided[at]
	}())
	if err != nil || r == nil {
		return false, errors.Join(err, l.Release())
	}
	c.locked = l
	w.runs[id] = r
	w.say.linef(id, "goes on: %s (decided)", r.issue.Title)
	if err := w.start(r, nil); err != nil {
		return true, w.blocked(ctx, r, err)
	}
	return true, nil
}

// woken claims an issue again whose wait is over; nil if it is not, or it is not the
// worker's to go on with.
func (w *issueWorker) woken(ctx context.Context, c *claim, decided *bd.Issue) (*issueRun, error) {
	if c == nil || c.State != claimWaiting {
		return nil, nil
	}
	r := &issueRun{claim: c, file: w.epicFile(c.Epic), code: -1}
	r.state = stateOf(r.file)
	if decided != nil && c.owns(*decided) {
		if err := w.carryOver(ctx, r, *decided); err != nil {
			return nil, err
		}
	}
	rec, err := openRecord(ctx, r.file, nil)
	if err != nil {
		return nil, faulty(err)
	}
	v, _ := rec.run.View(rec.epic.Nodes[0].ID)
	sum, joined := rec.run.View(executor.Integration)
	still := func(v executor.NodeView) bool {
		return v.Status == executor.Waiting && (v.For == executor.ForHuman || v.For == executor.ForBudget)
	}
	o := rec.run.Overview()
	if still(v) || joined && still(sum) || rec.run.Tampered() || o.Held.For != "" || !o.Begun && rec.epic.Run.HITL.Plan == "required" && !o.PlanApproved {
		c.Mark = journalMark(r.state)
		return nil, c.save()
	}
	i, there, err := w.bd.Show(ctx, c.Issue)
	if err != nil {
		return nil, err
	}
	if !there || !c.owns(i) || i.Status != "blocked" {
		c.State = claimOver // a person took it, or opened it: then it is ready
		return nil, c.save()
	}
	if n := len(rec.events); n > 0 {
		c.After = rec.events[n-1].Seq
	}
	c.State, c.Args, c.Wrote = claimTaken, nil, v.Step
	if c.Wrote == "" {
		c.Wrote = rec.epic.Nodes[0].Steps[0].Name
	}
	if err := c.save(); err != nil {
		return nil, err
	}
	if i, err = w.bd.UpdatePhase(ctx, i, c.Wrote, bd.Change{Status: "in_progress", If: "blocked", Remove: w.peopleLabels(i)}); err != nil {
		if bd.Guarded(err) {
			c.State = claimOver
			return nil, c.save()
		}
		return nil, err
	}
	r.issue, r.epic, r.step = i, rec.epic, c.Wrote
	return r, nil
}

// carryOver puts on record what a label in bd decides; bd's actor is only a claim.
func (w *issueWorker) carryOver(ctx context.Context, r *issueRun, i bd.Issue) error {
	d := executor.Decision{Verb: executor.Approve, Message: "label " + w.labels.Approved + " in bd"}
	label := w.labels.Approved
	if hasLabel(i, w.labels.Changes) {
		label, d.Verb = w.labels.Changes, executor.Reject
	}
	events, err := w.bd.Events(ctx, i.ID)
	if err != nil {
		return err
	}
	nobodys := func(e bd.HistoryEvent) bool {
		return e.Actor == "" || e.Actor == w.actor || e.Actor == bd.AgentActor || w.judged[e.ID]
	}
	e, found := bd.Newest(events, func(e bd.HistoryEvent) bool { return e.Gave(label) }, nobodys)
	switch {
	case !found || e.Actor == w.actor:
		return nil
	case w.judged[e.ID]: // it could not be taken away yet
		return w.unlabel(ctx, i, label)
	case nobodys(e): // where it stays, nobody can give it
		return w.turnDown(ctx, r, i, e, label, errors.New("agents and gates decide nothing, and neither does nobody"))
	}
	rec, err := openRecord(ctx, r.file, nil)
	if err != nil {
		return faulty(err)
	}
	d.ID, d.By = "bd:"+e.ID, e.Actor+executor.InTracker
	if rec.run.Heard(d.ID) { // it has decided already
		return w.unlabel(ctx, i, label)
	}
	if d.Verb == executor.Reject {
		if d.Message, err = w.saidSince(ctx, i.ID, r.claim.At); err != nil {
			return err
		}
		if d.Message == "" {
			d.Message = "changes requested in bd"
		}
	}
	if err := w.decide(ctx, r.file, string(rec.epic.Nodes[0].Key), d); err != nil {
		return w.turnDown(ctx, r, i, e, label, err)
	}
	return nil
}

// turnDown tells somebody that the label that they gave does not count. It is taken away
// before that: whoever reads it and answers with the same label gives it anew.
func (w *issueWorker) turnDown(ctx context.Context, r *issueRun, i bd.Issue, e bd.HistoryEvent, label string, why error) error {
	who := cmp.Or(e.Actor, "nobody")
	w.judged[e.ID] = true
	w.tell(i.ID, fmt.Sprintf("what %s says with %s does not count: %v", who, label, why))
	if err := w.unlabel(ctx, i, label); err != nil {
		return err
	}
	return w.commentOnce(ctx, i.ID, fmt.Sprintf("%s of %s does not count: %v", label, who, why), r.claim.At)
}

func (w *issueWorker) unlabel(ctx context.Context, i bd.Issue, label string) error {
	_, err := w.bd.RemoveLabel(ctx, i.ID, label)
	return err
}
