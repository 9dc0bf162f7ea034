package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/ir"
)

// door is a run under its lock: the journal, open and replayed. Apply, the preflight and
// decisions made while no run is active all go through it, and record with put.
type door struct {
	Run   *machine.Run
	state string
	lock  *journal.Lock
	log   *journal.Log
}

// enter takes the lock of a state directory, which it creates, for an owner. The error is a
// *journal.Held if another process has the lock.
func enter(state string, who journal.Owner) (*door, error) {
	if err := regular.MkdirOwn(state); err != nil {
		return nil, err
	}
	lock, err := journal.Acquire(state, who)
	if err != nil {
		return nil, err
	}
	return &door{state: state, lock: lock}, nil
}

// Acquire takes the lock. It waits briefly, since a command that decides something or
// checks who has the lock is done quickly.
func Acquire(ctx context.Context, state string) (*journal.Lock, error) {
	d, err := await(ctx, state, WhoAmI())
	if err != nil {
		return nil, err
	}
	return d.lock, nil
}

// await is enter, with the short wait of Acquire. Who applies an epic is not waited for.
func await(ctx context.Context, state string, who journal.Owner) (*door, error) {
	for until := time.Now().Add(2 * time.Second); ; pause(ctx) {
		d, err := enter(state, who)
		var held *journal.Held
		if err == nil || !errors.As(err, &held) || ctx.Err() != nil || time.Now().After(until) || held.By.Applies {
			return d, err
		}
	}
}

// replay opens the journal and replays it; each event is also given to the observers.
func (d *door) replay(ctx context.Context, epic *ir.Epic, observe ...func(executor.Event)) (err error) {
	if d.log, err = journal.Open(d.state, epic.Epic.ID); err != nil {
		return err
	}
	d.Run, err = machine.Replay(epic, d.log.Events(ctx), observe...)
	return err
}

// put gives an event its number and time, applies it and records it. No event of a door
// has a list without a bound.
func (d *door) put(ctx context.Context, e executor.Event) (executor.Event, error) {
	e.Seq, e.At = d.Run.Seq()+1, executor.Millis(time.Now())
	if err := d.Run.Apply(e); err != nil {
		return e, &exit.Error{Code: exit.Bug, Err: fmt.Errorf("bug in ralph: %w", err)}
	}
	return e, d.log.Append(ctx, []executor.Event{e})
}

// close closes the journal and releases the lock; between is done in between.
func (d *door) close(between func() error) error {
	var errs []error
	if d.log != nil {
		errs = append(errs, d.log.Close())
	}
	if between != nil {
		errs = append(errs, between())
	}
	return errors.Join(append(errs, d.lock.Release())...)
}
