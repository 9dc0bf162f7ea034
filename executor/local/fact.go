package local

import (
	"context"

	"github.com/ralph-compiler/ralph/executor"
)

// fact is a worker's report during its effect. It waits for the answer,
// which comes when the fact is on stable storage.
type fact struct {
	event executor.Event
	seen  []executor.Sighting // in place of an event: what others changed
	kept  chan<- error
}

// record puts what a worker says on stable storage.
func (d *driver) record(ctx context.Context, e executor.Event) error {
	kept := make(chan error, 1)
	f := fact{event: e, kept: kept}
	select {
	case d.facts <- f:
	case <-ctx.Done():
		return ctx.Err()
	case <-d.ctx.Done():
		return d.ctx.Err()
	}
	select {
	case err := <-kept:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-d.ctx.Done():
		return d.ctx.Err()
	}
}

// fact puts one on record, and at once on stable storage.
func (d *driver) fact(f fact) error {
	err := d.sighted(f.seen, false)
	if err == nil && f.event.Body != nil {
		err = d.Put(f.event)
	}
	if err == nil {
		err = d.flush()
	}
	f.kept <- err
	return err
}
