package run

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/local"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/ir"
)

// NewID returns a new id for a decision, so that the decision counts once.
func NewID() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// Decide sends a decision to the process that holds the lock; if none does, it takes the
// lock and records the decision itself. It returns the epic concerned and a text: what was
// decided and what comes next.
func Decide(ctx context.Context, file string, in io.Reader, key string, d executor.Decision) (epic *ir.Epic, said string, err error) {
	if err := RefuseMarked(); err != nil {
		return nil, "", err
	}
	t, err := OpenDesk(ctx, file, in, key == "")
	if err != nil {
		return nil, "", err
	}
	said, err = t.decide(ctx, file, key, d)
	return t.Epic, said, err
}

func (t *Desk) decide(ctx context.Context, file, key string, d executor.Decision) (said string, err error) {
	first, held, err := journal.Holder(t.Space.State())
	if err != nil {
		return "", exit.Inputf("%w", err)
	}
	if err := refuseAgents(first, held); err != nil {
		return "", err
	}
	node := ir.NodeID("")
	if key != "" {
		if node, err = record.Find(t.Epic, key); err != nil {
			return "", err
		}
	}
	d.By = cmp.Or(d.By, d.User)
	if d, err = t.Bind(ctx, node, d); err != nil {
		return NotTaken(file, key, err)
	}
	letter := executor.Letter{Node: node, Decision: d}
	var by journal.Owner
	sent, begins := false, held && d.Verb.OfRun() && !t.begun(first)
	for began := time.Now(); ; {
		owner, held, err := journal.Holder(t.Space.State())
		if err != nil {
			return "", exit.Inputf("%w", err)
		}
		if err := refuseAgents(owner, held); err != nil {
			return "", err
		}
		if held {
			by = owner
			if begins && owner == first && !sent { // its run is not on record yet
				switch ready, err := t.awaited(ctx, first, &letter); {
				case err != nil:
					return "", err
				case !ready && time.Since(began) > answerTime:
					return "", exit.Inputf("ralph apply (process %d) has not begun its run yet: say it again then, or end it with Ctrl-C there", by.PID)
				case !ready:
					pause(ctx)
					continue
				}
			}
			answer, err := t.send(ctx, letter, &sent)
			switch {
			case err == nil && answer == "":
				return fmt.Sprintf("%s\n  ralph apply (process %d) goes on with it\n", decided(key, d), by.PID), nil
			case err == nil:
				return NotTaken(file, key, t.refusal(ctx, letter, answer))
			case !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, journal.ErrNone):
				return "", exit.Inputf("%w", err)
			case time.Since(began) > answerTime && sent:
				return fmt.Sprintf("%s\n  ralph apply (process %d) has not answered yet; what was said is in its inbox and counts if this run reads it\n", decided(key, d), by.PID), nil
			case time.Since(began) > answerTime:
				return "", exit.Inputf("%w", &journal.Held{By: by})
			}
			if errors.Is(err, journal.ErrNone) { // it is only just beginning
				pause(ctx)
			}
			continue
		}
		event, err := t.Record(ctx, letter, sent)
		var busy *journal.Held
		switch {
		case errors.As(err, &busy): // somebody was quicker
			pause(ctx)
			continue
		case err != nil:
			return NotTaken(file, key, err)
		}
		note, err := t.unchanged(ctx, node, event)
		if err != nil {
			return "", exit.Inputf("%w", err)
		}
		return fmt.Sprintf("%s\n%s%s", reveal.Words(decided(key, event)), note, t.afterwards(file, node, event)), nil
	}
}

// answerTime is how long to wait for an answer.
const answerTime = 15 * time.Second

func pause(ctx context.Context) {
	t := time.NewTimer(50 * time.Millisecond)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// Desk takes decisions: it holds the epic that they are about, and its repository.
type Desk struct {
	Epic   *ir.Epic
	Space  *workspace.Space
	events []executor.Event // not read for a decision about the whole, before it is bound
	run    *machine.Run     // what the events give
	moving bool             // the base that was tried last is not the pinned one: apply --rebase goes on
}

// OpenDesk opens the epic that decisions are about: what the last run was
// started with, which is what status shows. A decision about the whole (the plan)
// is about epic.json as it stands.
func OpenDesk(ctx context.Context, file string, in io.Reader, whole bool) (*Desk, error) {
	epic, _, err := record.Load(file, in)
	if err != nil {
		return nil, err
	}
	dir := project.EpicDir(file)
	t := &Desk{Epic: epic}
	if t.Space, err = workspace.Open(ctx, dir, epic); err != nil {
		return nil, record.Refusal(err)
	}
	if whole {
		return t, nil
	}
	if t.events, err = record.ReadEvents(ctx, t.Space.State(), epic.Epic.ID); err != nil {
		return nil, exit.Inputf("%w", err)
	}
	if was := record.AppliedEpic(t.Space.State(), record.LastDigest(t.events)); was != nil && was.Digest != epic.Digest {
		t.Epic = was
		if t.Space, err = workspace.Open(ctx, dir, was); err != nil {
			return nil, record.Refusal(err)
		}
	}
	return t, nil
}

// Bind says in a decision what there is to decide now, by the record: what comes before
// it is read is not what the person saw. An approval of what nobody could have seen is
// refused here; what else does not apply is for the holder of the lock, who may be ahead.
func (t *Desk) Bind(ctx context.Context, node ir.NodeID, d executor.Decision) (executor.Decision, error) {
	if d.Verb == executor.Approve && node == "" && d.How != executor.Baseline { // it names a change, or is about this plan
		if d.Tamper == "" {
			d.Digest = t.Epic.Digest
		}
		return d, nil
	}
	if err := t.look(ctx, node == ""); err != nil {
		return d, err
	}
	bound, err := t.run.Bind(node, d)
	if d.Seen != (executor.Sight{}) { // whoever decides was shown it, and answers that
		bound.Seen = d.Seen
	}
	if err != nil && d.Verb != executor.Approve && d.Verb != executor.Reject {
		return bound, nil
	}
	return bound, err
}

// look replays the run's events; with again it reads them anew first.
func (t *Desk) look(ctx context.Context, again bool) (err error) {
	if again {
		if t.events, err = record.ReadEvents(ctx, t.Space.State(), t.Epic.Epic.ID); err != nil {
			return exit.Inputf("%w", err)
		}
	}
	t.run, err = record.Replayed(t.Epic, t.events)
	return err
}

// begun reports whether the run of whoever holds the lock is on record and goes on.
func (t *Desk) begun(by journal.Owner) bool {
	o := t.run.Overview()
	return o.Open && !o.Started.Before(by.Started.Truncate(time.Millisecond))
}

// awaited reports whether the run that a process is about to begin has begun; the
// letter is for that one then.
func (t *Desk) awaited(ctx context.Context, by journal.Owner, l *executor.Letter) (bool, error) {
	if err := t.look(ctx, true); err != nil || !t.begun(by) {
		return false, err
	}
	l.Decision = t.run.Rebind(l.Node, l.Decision)
	return true, nil
}

// refusal is the answer to a letter, and whether what it asked for is so already.
func (t *Desk) refusal(ctx context.Context, l executor.Letter, answer string) error {
	var no *executor.Refused
	if err := t.look(ctx, true); err != nil {
		return err
	}
	if _, err := t.run.Consider(l.Node, l.Decision, time.Now()); errors.As(err, &no) && no.Already {
		return no
	}
	return &executor.Refused{Why: answer}
}

// send puts the letter into the inbox, once, and waits briefly for an answer. The error is
// context.DeadlineExceeded if none came.
func (t *Desk) send(ctx context.Context, letter executor.Letter, sent *bool) (string, error) {
	if !*sent {
		if err := journal.Send(ctx, t.Space.State(), t.Epic.Epic.ID, letter); err != nil {
			return "", err
		}
		*sent = true
	}
	wait, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	return journal.Await(wait, t.Space.State(), t.Epic.Epic.ID, letter.Decision.ID)
}

// Record takes the lock and records the letters in the inbox and, unless it was sent
// there, this one. The error is a *journal.Held if another process has the lock, and an
// *executor.Refused if the decision does not apply.
func (t *Desk) Record(ctx context.Context, letter executor.Letter, sent bool) (d executor.Decision, err error) {
	state := t.Space.State()
	if err := regular.MkdirOwn(state); err != nil {
		return d, exit.Inputf("%w", err)
	}
	lock, err := journal.Acquire(state, WhoAmI())
	if err != nil {
		return d, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	log, err := journal.Open(state, t.Epic.Epic.ID)
	if err != nil {
		return d, exit.Inputf("%w", err)
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	run, err := machine.Replay(t.Epic, log.Events(ctx))
	if err != nil {
		return d, exit.Inputf("%w", err)
	}
	letters, err := log.Pending(ctx)
	if err != nil {
		return d, exit.Inputf("%w", err)
	}
	if !sent {
		letters = append(letters, letter)
	}
	t.moving = run.TriesElsewhere()
	found := false
	for _, l := range letters {
		event, err := local.Decide(ctx, run, t.Space, l.Node, l.Decision, time.Now())
		mine := l.Decision.ID == letter.Decision.ID
		found = found || mine
		var no *executor.Refused
		switch {
		case errors.As(err, &no):
			if err := log.Answer(ctx, l.Decision.ID, no.Error()); err != nil {
				return d, exit.Inputf("%w", err)
			}
			if mine {
				return d, no
			}
			continue
		case err != nil:
			return d, exit.Inputf("%w", err)
		}
		event.Seq, event.At = run.Seq()+1, time.Now().UTC().Truncate(time.Millisecond)
		if err := run.Apply(event); err != nil {
			return d, &exit.Error{Code: exit.Bug, Err: fmt.Errorf("bug in ralph: %w", err)}
		}
		if err := log.Append(ctx, []executor.Event{event}); err != nil {
			return d, exit.Inputf("%w", err)
		}
		if err := log.Answer(ctx, l.Decision.ID, ""); err != nil {
			return d, exit.Inputf("%w", err)
		}
		if mine {
			d = event.Body.(executor.Decided).Decision
		}
	}
	if !found { // the run that ended meanwhile has answered it
		answer, err := journal.Await(ctx, state, t.Epic.Epic.ID, letter.Decision.ID)
		if err != nil {
			return d, exit.Inputf("%w", err)
		}
		if answer != "" {
			return d, &executor.Refused{Why: answer}
		}
		d = letter.Decision
	}
	return d, nil
}
