package worker

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
	bdcodec "github.com/ralph-compiler/ralph/ir/codec/bd"
)

// goOn takes up what workers claimed and do not work on: because they were killed,
// or because a person has decided what it waited for. It reports whether it did.
func (w *Worker) goOn(ctx context.Context) (bool, error) {
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
		case c == nil || w.Runs[c.Issue] != nil || !w.meant(c.Issue):
		case len(w.Runs) >= w.Args.Max || w.drain > 0 || ctx.Err() != nil:
			return begun, nil
		case c.State == record.ClaimTaken, c.State == record.ClaimRecovered:
			took, err := w.adopt(ctx, c.Issue)
			if err = w.aside(c.Issue, err); err != nil {
				return begun, err
			}
			begun = begun || took
		case c.State == record.ClaimWaiting:
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

// adopt continues with an issue whose worker was killed.
func (w *Worker) adopt(ctx context.Context, id string) (bool, error) {
	l, got, err := w.lock(id)
	if err != nil || !got {
		return false, err
	}
	c := w.lookUp(id)
	if c == nil || c.State != record.ClaimTaken && c.State != record.ClaimRecovered {
		return false, l.Release()
	}
	c.Locked = l
	i, there, err := w.Bd.Show(ctx, id)
	if err != nil {
		return false, errors.Join(err, l.Release())
	}
	if c.State == record.ClaimRecovered {
		return w.takeOver(ctx, c, i)
	}
	if !there || !c.Owns(i) || i.Status != "in_progress" {
		c.State = record.ClaimOver
		if there && c.Owns(i) && i.AsksPerson() {
			c.State = record.ClaimWaiting // that it waits was written, or that it goes on was not
		}
		return c.State == record.ClaimWaiting, errors.Join(c.Save(), l.Release()) // the next look sees whether it was decided
	}
	r := w.taken(c, i)
	if _, held, err := journal.Holder(r.state); err == nil && held {
		w.Say.linef(id, "resumed: %s (its ralph apply is still running)", i.Title)
		return true, w.load(r)
	}
	w.Say.linef(id, "resumed: %s (claimed by a worker that ended)", i.Title)
	var events []executor.Event
	if _, err := os.Stat(r.file); err == nil {
		if events, err = record.ReadEvents(ctx, r.state, c.Epic); err != nil {
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

// taken is the run of an issue that was claimed before.
func (w *Worker) taken(c *record.Claim, i bd.Issue) *Run {
	r := &Run{issue: i, claim: c, file: w.epicFile(c.Epic), code: -1}
	r.state = filepath.Dir(r.file)
	w.Runs[c.Issue] = r
	return r
}

// takeOver continues with an issue whose run was recovered here. The claim that it replaces may
// be a living worker's: with another token in the bead, that one writes nothing more.
func (w *Worker) takeOver(ctx context.Context, c *record.Claim, i bd.Issue) (bool, error) {
	if !c.Owns(i) && i.Token() == c.Takes && c.Takes != "" && !w.others(nil, i) && (i.Status == "in_progress" || i.AsksPerson()) {
		got, err := w.Bd.Update(ctx, i.ID, bd.Change{If: i.Status, IfAssignee: &i.Assignee, Metadata: bd.ClaimedBy(c.Token)})
		if err != nil && !bd.Guarded(err) {
			return false, errors.Join(err, c.Locked.Release())
		}
		if err == nil {
			got.Raw, i = i.Raw, got
		}
	}
	if !c.Owns(i) {
		why := "it was changed in bd since its run was recovered"
		if i.Token() == c.Takes && w.others(nil, i) { // as it was, and of another actor than this worker's
			why = "it is assigned to " + w.assigned(i)
		}
		w.tell(c.Issue, "is not taken over: "+why)
		c.State = record.ClaimOver
		return false, errors.Join(c.Save(), c.Locked.Release())
	}
	c.State, c.Takes = record.ClaimTaken, ""
	if err := c.Save(); err != nil {
		return false, errors.Join(err, c.Locked.Release())
	}
	r := w.taken(c, i)
	w.Say.linef(c.Issue, "resumed: %s (its run was recovered)", i.Title)
	return true, w.beginAgain(ctx, r)
}

// beginAgain does what was left of taking an issue: everything behind the claim.
func (w *Worker) beginAgain(ctx context.Context, r *Run) error {
	epic, raw, problems, err := w.compile(r.issue, r.claim.Start)
	if err == nil && problems != "" {
		err = errors.New("it no longer compiles.\n" + problems)
	}
	if err != nil {
		return w.blocked(ctx, r, err)
	}
	r.epic = epic
	before, err := w.past(ctx, epic.Epic.ID)
	if err != nil {
		return w.blocked(ctx, r, err)
	}
	return w.begin(ctx, r, raw, before, nil)
}

// load reads the epic of a run that has begun.
func (w *Worker) load(r *Run) (err error) {
	r.epic, _, err = record.Load(r.file, nil)
	return err
}

// steered looks what people did with issues that run: one that was closed or excluded is
// stopped.
func (w *Worker) steered(ctx context.Context) error {
	ids := lists.Keep(slices.Collect(maps.Keys(w.Runs)), func(id string) bool { return !w.Runs[id].over && w.Runs[id].moved == "" })
	if len(ids) == 0 {
		return nil
	}
	by, err := w.Bd.ByID(ctx, ids...)
	if err != nil {
		return err
	}
	for _, id := range ids {
		r := w.Runs[id]
		if r.moved = w.movedTo(ctx, r, by[id]); r.moved != "" {
			w.Say.linef(id, "was %s in bd meanwhile: its run is stopped, its work is kept", r.moved)
			r.signal(1)
		}
	}
	return nil
}

// movedTo is what a person did with a running issue, "" for nothing that matters: how
// it is after its run, or while that waits for a person, its mirror says.
func (w *Worker) movedTo(ctx context.Context, r *Run, i bd.Issue) string {
	switch {
	case i.ID == "":
		return "deleted"
	case !w.owns(r.claim, r.epic, i):
		return "taken away"
	case i.Status == "in_progress" || i.AsksPerson() || hasEnded(ctx, r):
	case i.Status == "closed":
		return "closed"
	default:
		return "taken away"
	}
	if hasLabel(i, w.labels.Exclude) || hasLabel(i, bdcodec.ExcludedLabel) {
		return "excluded"
	}
	return ""
}

// owns reports whether an issue is still that of a claim, whose epic may be nil: no one else
// has claimed it. One that waits may be assigned to the person who decides.
func (w *Worker) owns(c *record.Claim, epic *ir.Epic, i bd.Issue) bool {
	return c.Owns(i) && !w.others(epic, i)
}

// others reports whether someone else has claimed an issue.
func (w *Worker) others(epic *ir.Epic, i bd.Issue) bool {
	return i.Status == "in_progress" && w.assigned(i) != "" && (epic == nil || i.Assignee != bdcodec.Assignee(epic))
}

// hasEnded reports whether the run of an issue is over, though its process is not.
func hasEnded(ctx context.Context, r *Run) bool {
	rec, err := record.Open(ctx, r.file, nil)
	return err == nil && begunAfter(rec.Events, r.claim.After) && !rec.Run.Overview().Open
}

func hasLabel(i bd.Issue, label string) bool { return slices.Contains(i.Labels, label) }
