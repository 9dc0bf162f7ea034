package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/internal/regular"
	bdcodec "github.com/ralph-compiler/ralph/ir/codec/bd"
)

// goOn takes up what workers claimed and do not work on: because they were killed,
// or because a person has decided what it waited for. It reports whether it did.
func (w *issueWorker) goOn(ctx context.Context) (bool, error) {
	if err := w.steered(ctx); err != nil {
		return false, err
	}
	entries, err := os.ReadDir(w.claims)
	if err != nil {
		return false, err
	}
	begun := false
	var decided []bd.Issue
	for _, e := range entries {
		c := w.lookUp(e.Name())
		switch {
		case c == nil || w.runs[c.Issue] != nil || !w.meant(c.Issue):
		case len(w.runs) >= w.args.max || w.drain > 0 || ctx.Err() != nil:
			return begun, nil
		case c.State == claimTaken:
			took, err := w.adopt(ctx, c.Issue)
			if err = w.aside(c.Issue, err); err != nil {
				return begun, err
			}
			begun = begun || took
		case c.State == claimWaiting:
			if decided == nil {
				if decided, err = w.decidedThere(ctx); err != nil {
					return begun, err
				}
			}
			took, err := w.wake(ctx, c.Issue, decided)
			if err = w.aside(c.Issue, err); err != nil {
				return begun, err
			}
			begun = begun || took
		}
	}
	return begun, nil
}

// adopt goes on with an issue whose worker was killed.
func (w *issueWorker) adopt(ctx context.Context, id string) (bool, error) {
	l, got, err := w.lock(id)
	if err != nil || !got {
		return false, err
	}
	c := w.lookUp(id)
	if c == nil || c.State != claimTaken {
		return false, l.Release()
	}
	c.locked = l
	i, there, err := w.bd.Show(ctx, id)
	if err != nil {
		return false, errors.Join(err, l.Release())
	}
	if !there || !c.owns(i) || i.Status != "in_progress" {
		c.State = claimOver
		phase, _ := i.Phase()
		if there && c.owns(i) && i.Status == "blocked" && phase == humanReview {
			c.State = claimWaiting // that it waits was written, or that it goes on was not
		}
		return c.State == claimWaiting, errors.Join(c.save(), l.Release()) // the next look sees whether it was decided
	}
	r := &issueRun{issue: i, claim: c, file: w.epicFile(c.Epic), code: -1}
	r.state = filepath.Dir(r.file)
	w.runs[id] = r
	if _, held, err := journal.Holder(r.state); err == nil && held {
		w.say.linef(id, "goes on: %s (its ralph apply is still at work)", i.Title)
		return true, w.load(r)
	}
	w.say.linef(id, "goes on: %s (claimed by a worker that ended)", i.Title)
	var events []executor.Event
	if _, err := os.Stat(r.file); err == nil {
		if events, err = readEvents(ctx, r.state, c.Epic); err != nil {
			return true, w.blocked(ctx, r, err)
		}
	}
	if begunAfter(events, c.After) {
		if err := w.load(r); err != nil {
			return true, w.blocked(ctx, r, err)
		}
		r.over, r.tries = true, -1 // a killed run is begun again
		w.settle(ctx)
		return true, nil
	}
	return true, w.beginAgain(ctx, r)
}

// beginAgain does what was left of taking an issue: everything behind the claim.
func (w *issueWorker) beginAgain(ctx context.Context, r *issueRun) error {
	epic, raw, problems, err := w.compile(r.issue, r.claim.Start)
	if err == nil && problems != "" {
		err = errors.New("it cannot be compiled any more.\n" + problems)
	}
	if err != nil {
		return w.blocked(ctx, r, err)
	}
	r.epic = epic
	before, err := w.past(ctx, epic.Epic.ID)
	if err == nil {
		err = w.reopen(ctx, r, before, nil)
	}
	if err == nil {
		err = errors.Join(regular.MkdirOwn(r.state), atomicfile.WriteOwn(r.file, raw, 0o600))
	}
	if err == nil {
		err = w.start(r, r.claim.Args)
	}
	if err != nil {
		return w.blocked(ctx, r, err)
	}
	return nil
}

// load reads the epic of a run that has begun.
func (w *issueWorker) load(r *issueRun) (err error) {
	r.epic, _, err = loadEpic(r.file, nil)
	return err
}

// steered looks what people did with issues that run: one that was closed or excluded is
// stopped.
func (w *issueWorker) steered(ctx context.Context) error {
	var ids []string
	for id, r := range w.runs {
		if !r.over && r.moved == "" {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	by, err := w.bd.ByID(ctx, ids...)
	if err != nil {
		return err
	}
	for _, id := range ids {
		r, i := w.runs[id], by[id]
		switch {
		case i.ID == "":
			r.moved = "deleted"
		case !r.claim.owns(i):
			r.moved = "taken away"
		case isWaiting(i) || i.Status != "in_progress" && hasEnded(ctx, r): // says its mirror
		case i.Status == "closed":
			r.moved = "closed"
		case i.Status != "in_progress":
			r.moved = "taken away"
		}
		if r.moved == "" && (hasLabel(i, w.labels.Exclude) || hasLabel(i, bdcodec.ExcludedLabel)) {
			r.moved = "excluded"
		}
		if r.moved != "" {
			w.say.linef(id, "was %s in bd meanwhile: its run is stopped, what it did is kept", r.moved)
			r.signal(1)
		}
	}
	return nil
}

// hasEnded reports whether the run of an issue is over, though its process is not.
func hasEnded(ctx context.Context, r *issueRun) bool {
	rec, err := openRecord(ctx, r.file, nil)
	return err == nil && begunAfter(rec.events, r.claim.After) && !rec.run.Overview().Open
}

func hasLabel(i bd.Issue, label string) bool {
	for _, l := range i.Labels {
		if l == label {
			return true
		}
	}
	return false
}
