package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ralph-compiler/ralph/executor/tracker/bd"
)

// How a worker leaves an issue.
const (
	issueClosed  = "closed"
	issueOpen    = "open again"
	issueBlocked = "blocked"
	issueWaiting = "waiting for a person"
	issueAgain   = "again" // the process ended without a word: another one goes on
	issueLeft    = "left"  // somebody else wrote it meanwhile
)

const (
	humanReview    = "human_review" // phase of an issue that waits for a person
	mostEndedSilly = 3              // processes of a run that may end without a word
)

// settle writes back what has ended. What bd does not take stays, and is tried again
// with the next poll.
func (w *issueWorker) settle(ctx context.Context) {
	var ids []string
	for id, r := range w.runs {
		if r.over {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for _, id := range ids {
		r := w.runs[id]
		if r.verdict == nil && r.yields() {
			w.say.linef(id, "somebody else's ralph apply is at work on it; the worker waits for its end")
			continue
		}
		if r.verdict == nil {
			r.verdict = w.judge(ctx, r)
		}
		if r.verdict.kind == issueAgain {
			r.verdict = nil
			r.tries++
			w.say.linef(id, "its ralph apply ended without a word; another one goes on")
			if err := w.start(r, nil); err != nil {
				r.verdict = &issueEnd{kind: issueBlocked, why: err.Error()}
			} else {
				continue
			}
		}
		if err := w.writeBack(ctx, r); err != nil {
			if r.said != err.Error() {
				r.said = err.Error()
				w.say.failf("%s: what came of it cannot be written to bd yet: %v", id, err)
			}
			if w.drain > 1 { // the next worker does it
				delete(w.runs, id)
				_ = r.claim.locked.Release()
			}
			continue
		}
		delete(w.runs, id)
		if err := r.claim.locked.Release(); err != nil {
			w.say.failf("%s: %v", id, err)
		}
	}
}

// writeBack sees to it that an issue stands in bd as its run ended. What the mirror of the
// run could not write is written now; what the run does not say is the worker's, who
// releases the issue. Done again, it writes nothing twice.
func (w *issueWorker) writeBack(ctx context.Context, r *issueRun) error {
	end, c := r.verdict, r.claim
	i, there, err := w.bd.Show(ctx, c.Issue)
	if err != nil {
		return err
	}
	if there && w.written(c, i, end.kind) {
		return w.settled(r, i, end.kind)
	}
	if !there || !c.owns(i) || i.Status != "in_progress" && !(i.Status == "blocked" && isWaiting(i)) {
		if there && end.kind == issueClosed && w.written(c, i, issueBlocked) { // bd did not close it
			return w.settled(r, i, issueBlocked)
		}
		return w.over(r, claimOver, issueLeft, fmt.Sprintf("is not this worker's any more (%s in bd) and is left as it is; its run: %s", i.Status, end.kind))
	}
	if _, mirrored := end.stand(); !mirrored || r.epic == nil {
		return w.release(ctx, r, i)
	}
	if err := w.catchUp(ctx, r); err != nil {
		return err
	}
	if i, there, err = w.bd.Show(ctx, c.Issue); err != nil {
		return err
	}
	for _, kind := range []string{end.kind, issueBlocked} {
		if there && w.written(c, i, kind) {
			return w.settled(r, i, kind)
		}
	}
	if !there || !c.owns(i) || i.Status != "in_progress" {
		return w.over(r, claimOver, issueLeft, "was changed in bd meanwhile, and is left as it is")
	}
	return errors.New("bd does not take it")
}

// isWaiting reports whether an issue waits for a person, by its label.
func isWaiting(i bd.Issue) bool {
	step, _ := i.Phase()
	return step == humanReview
}

// settled ends the claim of an issue that stands in bd as its run ended.
func (w *issueWorker) settled(r *issueRun, i bd.Issue, kind string) error {
	end, c := r.verdict, r.claim
	c.Wrote, _ = i.Phase()
	state, why := end.claim(), end.why
	if end.pull != "" && i.ExternalRef != "" && i.ExternalRef != end.pull {
		w.say.linef(i.ID, "has the external reference %s, which ralph did not write: it stays, and a comment has the pull request", i.ExternalRef)
	}
	switch {
	case kind != end.kind:
		state, why = claimOver, first(bd.NotClosed(end.why, "something that it waits for is open", c.Issue))
	case kind == issueWaiting:
		c.Mark, why = journalMark(r.state), first(why)
	case kind == issueBlocked:
		why = first(why)
	}
	return w.over(r, state, kind, why)
}

// release gives an issue back: open and nobody's, at the step at which it was taken, or
// blocked, where it could not even be compiled.
func (w *issueWorker) release(ctx context.Context, r *issueRun, i bd.Issue) error {
	end, c := r.verdict, r.claim
	if err := w.commentOnce(ctx, c.Issue, end.says(), c.At); err != nil && !w.passOver(r, err) {
		return err
	}
	step, ch := c.Start, bd.Change{Status: "open", Unassign: true, If: i.Status}
	if end.kind != issueOpen {
		step, _ = i.Phase()
		ch = bd.Change{Status: "blocked", If: i.Status}
	}
	if isWaiting(i) {
		ch.Remove = w.peopleLabels(i)
	}
	i, err := w.bd.UpdatePhase(ctx, i, step, ch)
	if bd.Guarded(err) {
		return w.over(r, claimOver, issueLeft, "was changed in bd meanwhile, and is left as it is")
	}
	if err != nil {
		return err
	}
	return w.settled(r, i, end.kind)
}

// written reports whether bd has already what came of a run: from before a crash, or by a
// call whose end was not seen.
func (w *issueWorker) written(c *claim, i bd.Issue, kind string) bool {
	step, _ := i.Phase()
	switch kind {
	case issueClosed:
		return i.Status == "closed"
	case issueOpen:
		return c.owns(i) && i.Status == "open" && i.Assignee == ""
	case issueWaiting:
		return c.owns(i) && i.Status == "blocked" && step == humanReview
	case issueBlocked:
		return c.owns(i) && i.Status == "blocked" && step != humanReview
	}
	return false
}

// mostRefused is how often bd may refuse something about an issue before that is
// passed over.
const mostRefused = 3

// passOver reports whether something that bd does not take is left out: it answers, and
// refuses this again and again. Nobody waits for it then.
func (w *issueWorker) passOver(r *issueRun, err error) bool {
	var no *bd.Refused
	if !errors.As(err, &no) || no.Exit <= 0 {
		return false
	}
	if r.refused++; r.refused < mostRefused {
		return false
	}
	w.say.failf("%s: bd refuses it: %v", r.issue.ID, err)
	return true
}

// over ends a claim.
func (w *issueWorker) over(r *issueRun, state, kind, why string) error {
	r.claim.State = state
	if err := r.claim.save(); err != nil {
		return err
	}
	w.left[r.claim.Issue] = kind
	if kind == issueLeft {
		w.say.linef(r.issue.ID, "%s", why)
		return nil
	}
	w.say.linef(r.issue.ID, "%s: %s", kind, why)
	return nil
}
