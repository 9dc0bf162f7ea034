package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// Config says what a run is made of.
type Config struct {
	Epic      *ir.Epic
	Run       *executor.Run // has replayed the journal
	Journal   executor.Journal
	Workspace executor.Workspace
	Runners   map[string]executor.Runner // by kind
	Gates     map[string]executor.Gate   // by kind
	State     string                     // directory for the files of attempts
	Agents    map[string]string          // text of agent files, by agent
	Grace     time.Duration              // that running attempts get at the first interrupt

	// Interrupts asks to drain (first) and to stop at once (second). It may be nil.
	Interrupts <-chan struct{}
	Inbox      executor.Inbox                           // decisions of people; may be nil
	Activity   func(executor.Effect, executor.Activity) // signs of life; may be nil; called from any goroutine

	// Observe is told events after they are on stable storage. It may be nil.
	Observe func([]executor.Event)
}

// Bug is an error that should not be possible.
type Bug struct{ What string }

func (b *Bug) Error() string { return "bug in ralph: " + b.What }

// Apply runs the epic until nothing is left to do by itself, or until it was
// interrupted. An error means that the run could not go on; what is in the
// journal then is the truth, and the next Apply goes on from there.
func Apply(ctx context.Context, c Config, start executor.RunStarted) (interrupted bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	d := &driver{Config: c, ctx: ctx, reports: make(chan executor.Event), flying: map[ir.NodeID]context.CancelFunc{}, nodes: map[ir.NodeID]*ir.Node{}}
	for i := range c.Epic.Nodes {
		d.nodes[c.Epic.Nodes[i].ID] = &c.Epic.Nodes[i]
	}
	defer func() {
		// Whatever happens, no worker outlives the run.
		cancel()
		go func() { d.work.Wait(); close(d.reports) }()
		for range d.reports {
		}
	}()
	if err := d.put(executor.Event{Body: start}); err != nil {
		return false, err
	}
	for {
		done, err := d.round()
		if err != nil || done {
			return d.interrupts > 0, err
		}
		if err := d.wait(); err != nil {
			return false, err
		}
	}
}

// driver owns the run. All its methods but effect run in one goroutine.
type driver struct {
	Config
	ctx        context.Context // of the workers; a run is one call of Apply
	work       sync.WaitGroup
	reports    chan executor.Event
	batch      []executor.Event // applied, not yet durable
	flying     map[ir.NodeID]context.CancelFunc
	wake       time.Time
	nodes      map[ir.NodeID]*ir.Node
	interrupts int
}

// put gives an event its place and applies it. It becomes durable with the rest
// of the round, before anything is done about it.
func (d *driver) put(e executor.Event) error {
	e.Seq = d.Run.Seq() + 1
	e.At = time.Now().UTC().Truncate(time.Millisecond)
	if err := d.Run.Apply(e); err != nil {
		return &Bug{err.Error()}
	}
	d.batch = append(d.batch, e)
	return nil
}

// flush makes the round's events durable and only then shows them.
func (d *driver) flush() error {
	if len(d.batch) == 0 {
		return nil
	}
	if err := d.Journal.Append(d.ctx, d.batch); err != nil {
		return err
	}
	if d.Observe != nil {
		d.Observe(d.batch)
	}
	d.batch = nil
	return nil
}

// round asks the machine until it has no more to decide, records everything in
// one transaction, and then, only then, starts and stops effects.
func (d *driver) round() (done bool, err error) {
	var todo executor.Todo
	for {
		todo = d.Run.Todo(time.Now())
		if len(todo.Record) == 0 {
			break
		}
		for _, e := range todo.Record {
			if err := d.put(e); err != nil {
				return false, err
			}
		}
	}
	if todo.Stuck != "" {
		return false, &Bug{"the run is stuck: " + todo.Stuck}
	}
	for i := range todo.Start {
		e := &todo.Start[i]
		body := executor.EffectStarted{Kind: e.Kind, Gate: e.Gate, Iteration: e.Iteration, Redo: e.Redo}
		if err := d.put(executor.Event{Node: e.Node, Step: e.Step, Attempt: e.Attempt, Body: body}); err != nil {
			return false, err
		}
		e.Seq = d.Run.Seq()
	}
	if todo.Done {
		ended := executor.RunEnded{Interrupted: d.interrupts > 0, Counts: d.Run.Counts()}
		if err := d.put(executor.Event{Body: ended}); err != nil {
			return false, err
		}
	}
	if err := d.flush(); err != nil {
		return false, err
	}
	for _, e := range todo.Start {
		if err := d.start(e); err != nil {
			return false, err
		}
	}
	for _, e := range todo.Stop {
		if cancel := d.flying[e.Node]; cancel != nil {
			cancel()
		}
	}
	d.wake = todo.Wake
	return todo.Done, nil
}

// wait sleeps until something is reported, the machine wants to be asked again,
// or the user interrupts. What is ready at the same time is taken together.
func (d *driver) wait() error {
	var timer <-chan time.Time
	if !d.wake.IsZero() {
		t := time.NewTimer(time.Until(d.wake))
		defer t.Stop()
		timer = t.C
	}
	select {
	case e := <-d.reports:
		if err := d.report(e); err != nil {
			return err
		}
	case <-timer:
	case <-d.Interrupts:
		return d.interrupt()
	case <-d.ctx.Done():
		return d.ctx.Err()
	}
	for {
		select {
		case e := <-d.reports:
			if err := d.report(e); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

func (d *driver) report(e executor.Event) error {
	d.flying[e.Node]()
	delete(d.flying, e.Node)
	return d.put(e)
}

// interrupt drains the run: nothing new starts, and what runs has until the end
// of the grace; a second interrupt ends the grace.
func (d *driver) interrupt() error {
	d.interrupts++
	until := time.Now().UTC().Truncate(time.Millisecond)
	if d.interrupts == 1 {
		until = until.Add(d.Grace)
	}
	return d.put(executor.Event{Body: executor.RunDraining{Until: until}})
}

// start begins an effect, whose record is durable.
func (d *driver) start(e executor.Effect) error {
	do, err := d.effect(e)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(d.ctx)
	d.flying[e.Node] = cancel
	d.work.Go(func() {
		body, err := do(ctx)
		if err != nil {
			body = failed(ctx, err)
		}
		d.reports <- executor.Event{Node: e.Node, Step: e.Step, Attempt: e.Attempt, Body: body}
	})
	return nil
}

// Files is the directory of an attempt's files: prompt, output, logs of gates.
func Files(state string, node ir.NodeID, step string, attempt int) string {
	return filepath.Join(state, "attempts", string(node), fmt.Sprintf("%s-%d", fileName(step), attempt))
}

// files returns the directory of an attempt's files and makes it.
func (d *driver) files(e executor.Effect) (string, error) {
	dir := Files(d.State, e.Node, e.Step, e.Attempt)
	return dir, os.MkdirAll(dir, 0o700)
}
