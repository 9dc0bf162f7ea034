package worker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
)

// mostEndedSilly is how many processes of a run may end without a word.
const mostEndedSilly = 3

// settle writes back what has ended. What bd does not take stays, and is tried again
// with the next poll.
func (w *Worker) settle(ctx context.Context) {
	for _, id := range slices.Sorted(maps.Keys(w.Runs)) {
		r := w.Runs[id]
		if !r.over {
			continue
		}
		if r.verdict == nil && r.yields() {
			w.Say.linef(id, "another ralph apply is running it; the worker waits for it to end")
			continue
		}
		if r.verdict == nil {
			r.verdict = w.judge(ctx, r)
		}
		if r.verdict.Kind == record.IssueAgain {
			r.verdict = nil
			r.tries++
			w.Say.linef(id, "its ralph apply was killed; another one continues")
			if err := w.start(r, nil); err != nil {
				r.verdict = &record.IssueEnd{Kind: record.IssueBlocked, Why: err.Error()}
			} else {
				continue
			}
		}
		if err := w.writeBack(ctx, r); err != nil {
			if r.said != err.Error() {
				r.said = err.Error()
				w.Say.failf("%s: its outcome cannot be written to bd yet: %v", id, err)
			}
			if w.drain > 1 { // the next worker does it
				delete(w.Runs, id)
				_ = r.claim.Locked.Release()
			}
			continue
		}
		delete(w.Runs, id)
		if err := r.claim.Locked.Release(); err != nil {
			w.Say.failf("%s: %v", id, err)
		}
	}
}

// writeBack makes an issue's state in bd that of its ended run. What the mirror of the
// run could not write is written now; what the run does not say is the worker's, who
// releases the issue. Done again, it writes nothing twice.
func (w *Worker) writeBack(ctx context.Context, r *Run) error {
	end, c := r.verdict, r.claim
	i, there, err := w.Bd.Show(ctx, c.Issue)
	if err != nil {
		return err
	}
	if there && w.written(c, i, end.Kind) {
		if told, err := bd.ReadTold(r.state); err == nil && len(told.Unsent) > 0 && r.epic != nil {
			if err := w.catchUp(ctx, r); err != nil { // Ctrl-C came before the mirror of the run had said all
				return err
			}
		}
		return w.settled(r, i, end.Kind)
	}
	if !there || !w.owns(c, r.epic, i) || i.Status != "in_progress" && !i.AsksPerson() {
		if there && end.Kind == record.IssueClosed && w.written(c, i, record.IssueBlocked) { // bd did not close it
			return w.settled(r, i, record.IssueBlocked)
		}
		return w.over(r, record.ClaimOver, record.IssueLeft, fmt.Sprintf("no longer belongs to this worker (%s in bd) and is left alone; its run: %s", i.Status, end.Kind))
	}
	if _, mirrored := end.Stand(); !mirrored || r.epic == nil {
		return w.release(ctx, r, i)
	}
	if err := w.catchUp(ctx, r); err != nil {
		return err
	}
	if i, there, err = w.Bd.Show(ctx, c.Issue); err != nil {
		return err
	}
	for _, kind := range []string{end.Kind, record.IssueBlocked} {
		if there && w.written(c, i, kind) {
			return w.settled(r, i, kind)
		}
	}
	if !there || !w.owns(c, r.epic, i) || i.Status != "in_progress" && !i.AsksPerson() {
		return w.over(r, record.ClaimOver, record.IssueLeft, "was changed in bd meanwhile and is left alone")
	}
	return errors.New("bd rejects it")
}

// settled ends the claim of an issue whose state in bd matches the end of its run.
func (w *Worker) settled(r *Run, i bd.Issue, kind string) error {
	end, c := r.verdict, r.claim
	c.Wrote, _ = i.Phase()
	state, why := end.ClaimState(), end.Why
	if end.Pull != "" && i.ExternalRef != "" && i.ExternalRef != end.Pull {
		w.Say.linef(i.ID, "has the external reference %s, which ralph did not write: it is kept, and a comment names the %s", i.ExternalRef, executor.PullWord(end.Pull))
	}
	switch {
	case kind != end.Kind:
		state, why = record.ClaimOver, words.First(bd.NotClosed(end.Why, "something that it waits for is open", c.Issue))
	case kind == record.IssueWaiting:
		c.Mark, why = record.JournalMark(r.state), words.First(why)
	case kind == record.IssueBlocked:
		why = words.First(why)
	}
	return w.over(r, state, kind, why)
}

// release gives an issue back: open and unassigned, at the step at which it was taken, or
// blocked, where it could not even be compiled.
func (w *Worker) release(ctx context.Context, r *Run, i bd.Issue) error {
	end, c := r.verdict, r.claim
	if err := bd.CommentOnce(ctx, w.Bd, c.Issue, end.Says(), c.At); err != nil && !w.passOver(r, err) {
		return err
	}
	step, ch := c.Start, bd.Change{Status: "open", Unassign: true}
	if end.Kind != record.IssueOpen {
		step, _ = i.Phase()
		ch = bd.Change{Status: "blocked"}
	}
	ch.If, ch.IfAssignee = i.Status, &i.Assignee
	if i.Waits() {
		ch.Remove = w.peopleLabels(i)
	}
	i, err := bd.UpdatePhase(ctx, w.Bd, i, step, ch)
	if bd.Guarded(err) {
		return w.over(r, record.ClaimOver, record.IssueLeft, "was changed in bd meanwhile and is left alone")
	}
	if err != nil {
		return err
	}
	return w.settled(r, i, end.Kind)
}

// written reports whether bd has already what came of a run: from before a crash, or by a
// call whose end was not seen.
func (w *Worker) written(c *record.Claim, i bd.Issue, kind string) bool {
	switch kind {
	case record.IssueClosed:
		return i.Status == "closed"
	case record.IssueOpen:
		return c.Owns(i) && i.Status == "open" && i.Assignee == ""
	case record.IssueWaiting:
		return c.Owns(i) && i.AsksPerson()
	case record.IssueBlocked:
		return c.Owns(i) && i.Status == "blocked" && !i.Waits()
	}
	return false
}

// mostRefused is how often bd may refuse something about an issue before that is
// passed over.
const mostRefused = 3

// passOver reports whether something that bd does not take is left out: it answers, and
// refuses this again and again. No one waits for it then.
func (w *Worker) passOver(r *Run, err error) bool {
	var no *bd.Refused
	if !errors.As(err, &no) || no.Exit <= 0 {
		return false
	}
	if r.refused++; r.refused < mostRefused {
		return false
	}
	w.Say.failf("%s: bd rejects it: %v", r.issue.ID, err)
	return true
}

// over ends a claim.
func (w *Worker) over(r *Run, state, kind, why string) error {
	r.claim.State = state
	if err := r.claim.Save(); err != nil {
		return err
	}
	w.Left[r.claim.Issue] = kind
	if kind == record.IssueLeft {
		w.Say.linef(r.issue.ID, "%s", why)
		return nil
	}
	w.Say.linef(r.issue.ID, "%s: %s", kind, why)
	return nil
}
