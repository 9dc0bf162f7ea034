package local

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ralph-compiler/ralph/executor"
)

// lookEvery is how often the inbox is looked at where nothing signals a change.
const lookEvery = 500 * time.Millisecond

// answer is owed to the sender of a decision.
type answer struct{ id, refused string }

// letters takes what people have sent since the last look; now: whether or not
// it is time. It reports whether anything was taken.
func (d *driver) letters(now bool) (some bool, err error) {
	at := d.Now()
	if d.Inbox == nil || !now && at.Before(d.looked.Add(lookEvery)) {
		return false, nil
	}
	d.looked = at
	list, err := d.Inbox.Pending(d.ctx)
	if err != nil {
		return false, fmt.Errorf("read the inbox: %w", err)
	}
	for _, l := range list {
		if d.owed(l.Decision.ID) {
			continue
		}
		if d.Run.Decisions().Heard(l.Decision.ID) { // ralph ended before it could answer
			if err := d.Inbox.Answer(d.ctx, l.Decision.ID, ""); err != nil {
				return some, err
			}
			continue
		}
		e, err := Decide(d.ctx, d.Run, d.Workspace, l.Node, l.Decision, at)
		var no *executor.Refused
		switch {
		case errors.As(err, &no):
			if d.Unread != nil && l.Decision.At.Before(d.began) { // its writer may not wait any more
				d.Unread(l, no)
			}
			err = d.Inbox.Answer(d.ctx, l.Decision.ID, no.Error())
		case err != nil:
			// The sender learns why; it is no reason to end the run.
			err = d.Inbox.Answer(d.ctx, l.Decision.ID, "it could not be considered: "+executor.Plain(err.Error()))
		default:
			some = true
			d.answers = append(d.answers, answer{id: l.Decision.ID})
			err = d.Put(e)
		}
		if err != nil {
			return some, err
		}
	}
	return some, nil
}

// owed reports whether a decision of the present batch is that one.
func (d *driver) owed(id string) bool {
	return slices.ContainsFunc(d.answers, func(a answer) bool { return a.id == id })
}

// answer reports to people that their decision is on record.
func (d *driver) answer() error {
	for _, a := range d.answers {
		if err := d.Inbox.Answer(context.WithoutCancel(d.ctx), a.id, a.refused); err != nil {
			return fmt.Errorf("answer a decision: %w", err)
		}
	}
	d.answers = nil
	return nil
}
