package local

import (
	"context"

	"github.com/ralph-compiler/ralph/executor"
)

// watched begins the run and its watch: what has changed since the last one trusted it
// follows the run's start.
func (d *driver) watched(start executor.RunStarted) error {
	cut, during, pins := d.Run.Watch().Cut(), d.Run.Watch().AtWork(), d.Run.Watch().Pins()
	start.Watched = d.Watch != nil
	if err := d.Put(executor.Event{Body: start}); err != nil || d.Watch == nil {
		return err
	}
	return d.sighted(d.Watch.Start(d.Run.Watch().OpenTampers(), cut, during, pins), cut)
}

// watch does an effect, and looks before it, and after it if it runs programs of
// others. What was changed before it began is put on record at once.
func (d *driver) watch(ctx context.Context, e *executor.Effect, do func(context.Context) (executor.Body, error)) (executor.Body, []executor.Sighting, error) {
	if d.Watch == nil {
		body, err := do(ctx)
		return body, nil, err
	}
	before := d.Watch.Begin(*e)
	if d.tell(before) {
		before = nil
	}
	body, err := do(ctx)
	if !e.Kind.Foreign() {
		return body, before, err
	}
	return body, append(before, d.Watch.End(*e)...), err
}

// tell hands sightings to the goroutine that owns the run, and reports whether
// they are on stable storage. Only a run that cannot go on does not take them.
func (d *driver) tell(seen []executor.Sighting) bool {
	if len(seen) == 0 {
		return true
	}
	kept := make(chan error, 1)
	select {
	case d.facts <- fact{seen: seen, kept: kept}:
		return <-kept == nil
	case <-d.ctx.Done():
		return false
	}
}

// lastLook is taken when nothing runs any more, before the run ends.
func (d *driver) lastLook() error {
	if d.Watch == nil {
		return nil
	}
	return d.sighted(d.Watch.Finish(), false)
}

// sighted puts on record what the machine has to say about what was seen.
func (d *driver) sighted(list []executor.Sighting, again bool) error {
	for _, s := range list {
		if body := d.Run.Watch().Sighted(s, again); body != nil {
			if err := d.Put(executor.Event{Body: executor.Redacted(body, d.Redact)}); err != nil {
				return err
			}
		}
	}
	d.seen = append(d.seen, list...)
	return nil
}

// keepSeen lets what is on record now be trusted after a crash, too.
func (d *driver) keepSeen() error {
	if d.Watch == nil {
		return nil
	}
	seen := d.seen
	d.seen = nil
	return d.Watch.Keep(seen)
}
