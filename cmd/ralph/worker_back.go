package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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

// refer writes a pull request into an issue as its external reference. One that
// somebody else wrote stays: then a comment has the pull request.
func (w *issueWorker) refer(ctx context.Context, r *issueRun, i bd.Issue, url string) error {
	c := r.claim
	if url == "" || i.ExternalRef == url {
		return nil
	}
	var err error
	if i.ExternalRef != "" && i.ExternalRef != c.Ref {
		w.say.linef(i.ID, "has the external reference %s, which ralph did not write: it stays, and a comment has the pull request", i.ExternalRef)
		err = w.commentOnce(ctx, i.ID, "[pull request] [task:"+i.ID+"] "+url, c.At)
	} else {
		c.Ref = url
		if err := c.save(); err != nil {
			return err
		}
		_, err = w.bd.Update(ctx, i.ID, bd.Change{ExternalRef: url})
	}
	if err != nil && !w.passOver(r, err) {
		return err
	}
	return nil
}

// writeBack tells bd what has come of a run. Done again, it writes nothing twice.
func (w *issueWorker) writeBack(ctx context.Context, r *issueRun) error {
	end, c := r.verdict, r.claim
	i, there, err := w.bd.Show(ctx, c.Issue)
	if err != nil {
		return err
	}
	if !there || !c.owns(i) || i.Status != "in_progress" {
		if there && w.written(c, i, end.kind) {
			return w.over(r, end.claim(), end.kind, first(end.why))
		}
		return w.over(r, claimOver, issueLeft, fmt.Sprintf("is not this worker's any more (%s in bd) and is left as it is; its run: %s", i.Status, end.kind))
	}
	if err := w.tellStory(ctx, r, end); err != nil {
		return err
	}
	switch end.kind {
	case issueClosed:
		if err := w.refer(ctx, r, i, end.pull.URL); err != nil {
			return err
		}
		_, err := w.bd.Close(ctx, i.ID, end.why)
		if err != nil && w.passOver(r, err) { // a person made it wait for something meanwhile
			end.kind, end.why = issueBlocked, fmt.Sprintf("%s. bd does not close it: %v\nOnce it does, nothing has to run again: bd close %s", end.why, err, i.ID)
			r.refused = 0
			return w.writeBack(ctx, r)
		}
		if err != nil {
			return err
		}
		return w.over(r, claimOver, issueClosed, end.why)
	case issueOpen:
		if err := w.write(ctx, i, c.Start, bd.Change{Status: "open", Unassign: true}); err != nil {
			return w.lost(r, err)
		}
		return w.over(r, end.claim(), issueOpen, end.why)
	case issueWaiting:
		c.Mark, c.Wrote = journalMark(r.state), humanReview
		if err := c.save(); err != nil {
			return err
		}
		// What was said before the question answers another one. It is taken away also
		// where it was not seen: it may have come since.
		if err := w.write(ctx, i, humanReview, bd.Change{Status: "blocked", Add: []string{w.labels.Needs}, Remove: []string{w.labels.Approved, w.labels.Changes}}); err != nil {
			return w.lost(r, err)
		}
		return w.over(r, claimWaiting, issueWaiting, first(end.why))
	}
	step, _ := i.Phase()
	if err := w.write(ctx, i, step, bd.Change{Status: "blocked"}); err != nil {
		return w.lost(r, err)
	}
	return w.over(r, claimOver, issueBlocked, first(end.why))
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

// write changes an issue that is still being worked on.
func (w *issueWorker) write(ctx context.Context, i bd.Issue, step string, ch bd.Change) error {
	ch.If = "in_progress"
	_, err := w.bd.UpdatePhase(ctx, i, step, ch)
	return err
}

// lost is what to do when somebody else changed the issue in that very moment.
func (w *issueWorker) lost(r *issueRun, err error) error {
	if bd.Guarded(err) {
		return w.over(r, claimOver, issueLeft, "was changed in bd meanwhile, and is left as it is")
	}
	return err
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

// tellStory writes the comments that an issue lacks: what happened in its run, and
// what came of it. Proposals go into beads of their own.
func (w *issueWorker) tellStory(ctx context.Context, r *issueRun, end *issueEnd) error {
	var texts []string
	if end.rec != nil {
		for _, c := range end.rec.run.Comments(end.rec.epic.Nodes[0].ID) {
			if !c.At.Before(r.claim.At) {
				texts = append(texts, c.Text)
			}
		}
		if list := end.rec.run.Overview().Proposals; w.tracker.Proposals && len(list) > 0 {
			made, err := w.bd.Propose(ctx, end.rec.epic, list)
			if err != nil && !w.passOver(r, err) {
				return fmt.Errorf("proposals: %w", err)
			}
			if len(made) > 0 {
				w.say.linef(r.issue.ID, "proposes %s", strings.Join(made, ", "))
			}
		}
	}
	switch end.kind {
	case issueWaiting, issueBlocked, issueOpen:
		texts = append(texts, end.kind+": "+end.why)
	}
	there, err := w.bd.Comments(ctx, r.claim.Issue)
	if err != nil {
		return err
	}
	for _, text := range texts {
		if slices.ContainsFunc(there, func(c bd.Comment) bool {
			return !c.At.Before(r.claim.At.Truncate(1e9)) && strings.TrimSpace(c.Text) == strings.TrimSpace(text)
		}) {
			continue
		}
		if err := w.bd.Comment(ctx, r.claim.Issue, text); err != nil && !w.passOver(r, err) {
			return err
		}
	}
	return nil
}
