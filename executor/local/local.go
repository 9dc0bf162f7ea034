package local

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/effects"
	"github.com/ralph-compiler/ralph/executor/machine"
)

// Config holds the parts of a run.
type Config struct {
	effects.Tools
	Run     *machine.Run // has replayed the journal
	Journal executor.Journal
	Grace   time.Duration // that running attempts get at the first interrupt

	// Interrupts asks to drain (first) and to stop at once (second). It may be nil.
	Interrupts <-chan os.Signal
	Inbox      executor.Inbox                           // decisions of people; may be nil
	Letters    <-chan struct{}                          // says that the inbox may have changed; may be nil: it is looked at twice a second
	Unread     func(executor.Letter, *executor.Refused) // told of a letter that was written before the run and is refused; may be nil

	// Orphans are collected commits that the journal does not know: its end is
	// missing. They are put on record before the run starts.
	Orphans []executor.Orphan

	// Deadline, if it is not zero, drains the run as an interrupt would.
	Deadline time.Time

	// Wall reads the wall clock; nil is time.Now. It is read once: time in a run
	// then goes on as the monotonic clock does, so that a clock that is set meanwhile
	// neither stalls nor hurries anything.
	Wall func() time.Time

	// Watch sees what others change while the run is at work. It may be nil.
	Watch executor.Watch

	// Observe gets events after they are on stable storage. It may be nil, and
	// does not keep the list.
	Observe func([]executor.Event)
}

// Apply runs the epic until nothing more can be done without a person, or until
// interrupted. An error means that the run could not continue; the journal is then the
// truth, and the next Apply continues from there.
func Apply(ctx context.Context, c Config, start executor.RunStarted) (interrupted bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	d := &driver{
		Config: c, ctx: ctx, clock: newClock(c.Wall), stay: start.Wait,
		jobs: make(chan job), asks: make(chan ask), reports: make(chan report, 64), facts: make(chan fact), flying: map[int64]context.CancelFunc{},
	}
	c.Lists = d.lists
	d.effects = effects.New(c.Tools, d.record)
	defer func() {
		// Whatever happens, no worker outlives the run.
		cancel()
		go func() { d.work.Wait(); close(d.reports) }()
		for range d.reports {
		}
	}()
	d.began = d.Now()
	if err := d.lost(); err != nil {
		return false, err
	}
	if err := d.watched(start); err != nil {
		return false, err
	}
	err = machine.Drive(d.Run, d)
	return err == nil && d.interrupts > 0, err
}

// driver owns the run. All its methods but those of workers run in one goroutine.
type driver struct {
	Config
	ctx        context.Context // of the workers; a run is one call of Apply
	effects    *effects.Worker
	clock      clock
	stay       bool // for people too
	work       sync.WaitGroup
	jobs       chan job // to workers that have nothing to do
	reports    chan report
	facts      chan fact
	asks       chan ask
	batch      []executor.Event             // applied, not yet durable
	answers    []answer                     // of decisions in batch, given when it is durable
	flying     map[int64]context.CancelFunc // by the event that began the effect: a node may have several
	trying     context.CancelFunc           // of the preflight; nil: there is none
	wake       time.Time
	looked     time.Time // at the inbox
	began      time.Time // the run
	rest       time.Time // when memory is given back, if nothing happens until then; zero: it was
	pause      time.Duration
	interrupts int
	late       bool                // the deadline has drained the run
	seen       []executor.Sighting // in batch
}

// report is what a worker says when its effect has ended.
type report struct {
	began int64 // event that began it; 0: the preflight
	event executor.Event
	seen  []executor.Sighting // what others changed meanwhile
	err   error               // why the run cannot go on
}

// Put numbers an event and applies it. It becomes durable with the rest of the round,
// before any effect that follows from it.
func (d *driver) Put(e executor.Event) error {
	parts, e := e.Split()
	for _, part := range parts {
		if err := d.apply(part); err != nil {
			return err
		}
	}
	return d.apply(e)
}

func (d *driver) apply(e executor.Event) error {
	if e.Seq == 0 {
		e.Seq = d.Run.Seq() + 1
	}
	e.At = d.Now().Truncate(time.Millisecond)
	if err := d.Run.Apply(e); err != nil {
		return &executor.Bug{What: err.Error()}
	}
	d.batch = append(d.batch, e)
	return nil
}

// lost puts commits that the journal does not know on record: with a sequence
// number above all that they carry, because numbers are never given twice.
func (d *driver) lost() error {
	if len(d.Orphans) == 0 {
		return nil
	}
	e := executor.Event{Body: executor.TailLost{After: d.Run.Seq(), Found: d.Orphans}}
	e.Seq = d.Run.Seq() + 1
	for _, o := range d.Orphans {
		e.Seq = max(e.Seq, o.Seq+1)
	}
	return d.Put(e)
}

// flush makes the round's events durable and only then shows them and tells
// people that their decisions were taken.
func (d *driver) flush() error {
	if len(d.batch) == 0 {
		return nil
	}
	if err := d.Journal.Append(d.ctx, d.batch); err != nil {
		return err
	}
	if err := d.keepSeen(); err != nil {
		return err
	}
	if d.Observe != nil {
		d.Observe(d.batch)
	}
	clear(d.batch)
	d.batch = d.batch[:0]
	return d.answer()
}

// Now implements machine.Driver.
func (d *driver) Now() time.Time { return d.clock.now() }

// Hear implements machine.Driver: it reads the inbox and checks the deadline.
func (d *driver) Hear(last bool) (bool, error) {
	some, err := d.letters(last)
	if err == nil && !last {
		err = d.deadline()
	}
	return some, err
}

// Keep implements machine.Driver.
func (d *driver) Keep(todo machine.Todo, done bool) error {
	if len(todo.Try) > 0 && d.trying == nil {
		if err := d.Put(executor.Event{Body: Trying(todo.Try)}); err != nil {
			return err
		}
	}
	if done {
		if err := d.lastLook(); err != nil {
			return err
		}
		if err := d.Put(executor.Event{Body: d.Run.Summary().Ending(d.interrupts > 0)}); err != nil {
			return err
		}
	}
	return d.flush()
}

// Do implements machine.Driver.
func (d *driver) Do(todo machine.Todo) error {
	for i := range todo.Start {
		d.start(&todo.Start[i])
	}
	if len(todo.Try) > 0 && d.trying == nil {
		d.preflight(todo.Try)
	}
	for i := range todo.Stop {
		if cancel := d.flying[todo.Stop[i].Seq]; cancel != nil {
			cancel()
		}
	}
	return nil
}

// Stays implements machine.Driver.
func (d *driver) Stays() bool {
	if !d.stay || d.Inbox == nil || d.interrupts > 0 || d.late {
		return false
	}
	o := d.Run.Overview()
	if o.Draining != "" {
		return false
	}
	for _, v := range d.Run.Views() {
		switch v.Status {
		case executor.Waiting:
			return true
		case executor.Pending, executor.Ready:
			if o.Held.For != "" {
				return true
			}
		}
	}
	return false
}

func (d *driver) report(r report) error {
	if r.began == 0 {
		d.trying()
		d.trying = nil
	} else {
		d.flying[r.began]()
		delete(d.flying, r.began)
	}
	d.pause = idle
	d.rest = d.Now().Add(d.pause)
	if err := d.sighted(r.seen, false); err != nil {
		return err
	}
	if r.err != nil {
		return r.err
	}
	return d.Put(r.event)
}

// interrupt drains the run: nothing new starts, and what runs has until the end
// of the grace; a second interrupt ends the grace.
func (d *driver) interrupt() error {
	d.interrupts++
	if d.trying != nil { // it leaves nothing that is worth waiting for
		d.trying()
	}
	until := d.Now().Truncate(time.Millisecond)
	if d.interrupts == 1 {
		until = until.Add(d.Grace)
	}
	return d.Put(executor.Event{Body: executor.RunDraining{Until: until}})
}

// deadline drains the run when its time is over.
func (d *driver) deadline() error {
	now := d.Now()
	if d.Deadline.IsZero() || d.late || d.interrupts > 0 || now.Before(d.Deadline) {
		return nil
	}
	d.late = true
	return d.Put(executor.Event{Body: executor.RunDraining{
		Until: now.Truncate(time.Millisecond).Add(d.Grace), Reason: "the run's deadline is over",
	}})
}
