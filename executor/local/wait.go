package local

import (
	"runtime"
	"runtime/debug"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
)

// Wait implements machine.Driver. The user's interrupt ends it, too. Everything ready at
// the same time is taken together.
func (d *driver) Wait(wake time.Time) (*machine.Run, error) {
	d.wake = wake
	return d.Run, d.wait()
}

func (d *driver) wait() error {
	var timer <-chan time.Time
	if at := d.alarm(); !at.IsZero() {
		t := time.NewTimer(at.Sub(d.Now()))
		defer t.Stop()
		timer = t.C
	}
	select {
	case r := <-d.reports:
		if err := d.report(r); err != nil {
			return err
		}
	case f := <-d.facts:
		return d.fact(f)
	case a := <-d.asks:
		l, _ := executor.ListsOf(d.Run.InFlight(), a.ref) // none are refused by who asks
		a.answer <- l
	case <-timer:
		d.giveBack()
	case <-d.Letters:
		d.looked = time.Time{}
	case <-d.Interrupts:
		return d.interrupt()
	case <-d.ctx.Done():
		return d.ctx.Err()
	}
	// Workers about to report do so now: one commit then serves all.
	for idle := 0; idle < 3 && (len(d.flying) > 0 || d.trying != nil); {
		select {
		case r := <-d.reports:
			if err := d.report(r); err != nil {
				return err
			}
			idle = 0
		default:
			idle++
			runtime.Gosched()
		}
	}
	return nil
}

// alarm is when the driver has to look again without a call; zero: never.
func (d *driver) alarm() time.Time {
	at := d.wake
	sooner := func(t time.Time) {
		if at.IsZero() || t.Before(at) {
			at = t
		}
	}
	if d.Inbox != nil && d.Letters == nil {
		sooner(d.looked.Add(lookEvery))
	}
	if !d.Deadline.IsZero() && !d.late {
		sooner(d.Deadline)
	}
	if !d.rest.IsZero() {
		sooner(d.rest)
	}
	return at
}

// idle is how long nothing happens until memory is given back to the system: then
// agents are at work, and need it more. Each collection also halves stacks that are
// too large, and many agents take a while to begin: so it is done again after four
// times as long, up to idleAtMost.
const (
	idle       = 2 * time.Second
	idleAtMost = 40 * time.Second
)

func (d *driver) giveBack() {
	now := d.Now()
	if d.rest.IsZero() || now.Before(d.rest) {
		return
	}
	d.rest = time.Time{}
	if d.pause *= 4; d.pause <= idleAtMost {
		d.rest = now.Add(d.pause)
	}
	debug.FreeOSMemory()
}
