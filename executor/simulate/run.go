package simulate

import (
	"cmp"
	"fmt"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

// Result says how a simulation ended.
type Result struct {
	Run     *machine.Run // as the events left it
	Began   time.Time    // virtual
	Ended   time.Time
	Events  int64
	Starts  int      // of apply: one more than crashes; 0 if the plan was never approved
	Refused []string // decisions of the scenario that did not apply, with the reason
	Open    string   // why it ended before the run did; "" if the run ended
}

// maxEvents bounds a simulation, which could go on for ever: a scenario in which a
// person says "retry" each time that a gate cannot judge has no end.
func maxEvents(epic *ir.Epic) int64 { return 200_000 + 500*int64(len(epic.Nodes)) }

// Run plays the scenario. observe gets all events, in batches as they would
// become durable; it may be nil.
func Run(epic *ir.Epic, s *Scenario, observe func([]executor.Event)) (Result, error) {
	d := &sim{
		world: newWorld(epic, s), epic: epic, s: s, observe: observe, now: s.Start.UTC().Truncate(time.Millisecond),
		flying: map[string]*item{},
	}
	if s.People == nil {
		plain := *s
		plain.People = usualPeople
		d.s, d.usual, s = &plain, true, &plain
	}
	res := Result{Began: d.now}
	for i := range s.People {
		if p := &s.People[i]; !p.When {
			d.people(p, p.At)
		}
	}
	for i := range s.Crashes {
		c := s.Crashes[i]
		d.at(d.now.Add(c.At), &item{crash: &c})
	}
	run, err := machine.New(epic)
	if err != nil {
		return res, err
	}
	d.run = run
	err = d.play()
	res.Run, res.Ended, res.Events, res.Starts, res.Refused, res.Open = d.run, d.now, d.run.Seq(), d.starts, d.refused, d.open
	return res, err
}

// sim is the driver of a simulation: what local is to a run.
type sim struct {
	*world
	epic            *ir.Epic
	s               *Scenario
	run             *machine.Run
	observe         func([]executor.Event)
	now             time.Time
	kept            []executor.Event // the journal
	shown           int              // of kept
	agenda          agenda
	order           int
	flying          map[string]*item
	waits           []executor.Event // of this round
	letters, starts int
	up              bool // ralph runs
	refused         []string
	open            string
	usual           bool // the scenario says nothing about people
}

// play lets ralph run whenever it is started.
func (d *sim) play() error {
	d.at(d.now, &item{start: true})
	run, err := d.Wait(time.Time{})
	if err == nil && run != nil {
		err = machine.Drive(run, d)
	}
	d.show()
	return err
}

// Wait implements machine.Driver: it lets happen what happens next. While ralph does not
// run, that continues until it is started.
func (d *sim) Wait(wake time.Time) (*machine.Run, error) {
	for {
		if d.run.Seq() > maxEvents(d.epic) {
			d.open = fmt.Sprintf("it has written %d events and would go on", d.run.Seq())
			return nil, nil
		}
		it := d.next(wake)
		switch {
		case it == nil && d.starts == 0:
			d.open = "the plan waits for approval (hitl { plan = \"required\" }), and nobody in the scenario gives it; people: [{at: 0s, does: approve}] does"
			return nil, nil
		case it == nil && wake.IsZero(): // it stayed for people, and no one is still to come
			return nil, d.end()
		case it == nil: // the machine wants to be asked again
			d.now = later(d.now, wake)
			return d.run, nil
		}
		d.now = later(d.now, it.at)
		if err := d.happen(it); err != nil {
			return nil, err
		}
		if d.up {
			return d.run, nil
		}
		wake = time.Time{}
	}
}

// happen lets one thing happen.
func (d *sim) happen(it *item) error {
	switch {
	case it.start && d.up: // the plan was approved just before
		return nil
	case it.start:
		return d.start()
	case it.crash != nil:
		if !d.up {
			return nil
		}
		for key, f := range d.flying {
			f.gone = true
			delete(d.flying, key)
		}
		d.up = false
		d.at(d.now.Add(it.crash.Down), &item{start: true})
		return d.replay()
	case it.who != nil:
		if err := d.decision(it); err != nil || d.starts > 0 || !d.run.Overview().PlanApproved {
			return err
		}
		return d.start()
	}
	delete(d.flying, it.key)
	for _, b := range it.said {
		e := it.event
		e.Body = b
		if err := d.Put(e); err != nil {
			return err
		}
	}
	return d.Put(it.event)
}

// start is ralph apply, which begins nothing before the plan is approved, where a
// person has to.
func (d *sim) start() error {
	if d.usual && !d.run.Overview().PlanApproved {
		if err := d.decision(&item{who: &PersonRule{Verb: executor.Approve}}); err != nil {
			return err
		}
	}
	if !d.run.Overview().PlanApproved {
		d.askForPlan()
		return nil
	}
	d.starts++
	d.up = true
	return d.Put(executor.Event{Body: d.begin()})
}

func (d *sim) begin() executor.RunStarted {
	slots := cmp.Or(d.s.Slots, max(d.epic.Run.Concurrency.Nodes, 1))
	base := executor.Tree{Commit: d.hash("base"), Tree: d.hash("base tree")}
	d.trees[base.Commit] = base.Tree
	start := executor.RunStarted{
		Epic: d.epic.Epic.ID, Plan: d.epic.Epic.Plan, Digest: d.epic.Digest, Base: base, Slots: slots,
		Seed: d.s.Seed, Wait: d.s.Wait, By: "simulation",
	}
	start.Head = d.joined
	if mode := d.epic.Epic.Integration.Mode; mode == "branch" || mode == "wait" {
		start.Head = base.Commit
	}
	named := map[string]bool{}
	for i := range d.epic.Nodes {
		if b := d.epic.Nodes[i].Git.Base; b != "" && !named[b] {
			named[b] = true
			t := executor.Tree{Commit: d.hash("base", b), Tree: d.hash("base tree", b)}
			d.trees[t.Commit] = t.Tree
			start.Bases = append(start.Bases, executor.NamedTree{Name: b, Tree: t})
		}
	}
	return start
}

// replay is what a new process does: a new machine, from the journal.
func (d *sim) replay() error {
	run, err := machine.New(d.epic)
	if err != nil {
		return err
	}
	for _, e := range d.kept {
		if err := run.Apply(e); err != nil {
			return err
		}
	}
	d.run = run
	return nil
}

// Put implements machine.Driver.
func (d *sim) Put(e executor.Event) error {
	parts, e := e.Split()
	for _, e := range append(parts, e) {
		e.Seq, e.At = d.run.Seq()+1, d.now
		if err := d.run.Apply(e); err != nil {
			return err
		}
		d.kept = append(d.kept, e)
	}
	if w, ok := e.Body.(executor.NodeWaiting); ok && w.For == executor.ForHuman {
		d.waits = append(d.waits, e)
	}
	return nil
}

func (d *sim) show() {
	if d.observe != nil && d.shown < len(d.kept) {
		d.observe(d.kept[d.shown:len(d.kept):len(d.kept)])
	}
	d.shown = len(d.kept)
}

// Now implements machine.Driver.
func (d *sim) Now() time.Time { return d.now }

// Hear implements machine.Driver: people have a time of their own.
func (d *sim) Hear(bool) (bool, error) { return false, nil }

// Stays implements machine.Driver.
func (d *sim) Stays() bool {
	d.callPeople()
	return d.s.Wait && d.expected()
}

// Keep implements machine.Driver.
func (d *sim) Keep(_ machine.Todo, done bool) error {
	if !done {
		return nil
	}
	return d.end()
}

// Do implements machine.Driver: what an effect will report goes on the agenda.
func (d *sim) Do(todo machine.Todo) error {
	for _, e := range todo.Start {
		result, takes := d.do(e, d.now)
		key := e.Key(d.epic.Epic.ID)
		told := e.Says(nil)
		for _, told.Body = range d.tells {
			if err := d.Put(told); err != nil {
				return err
			}
		}
		told.Body = result
		d.flying[key] = d.at(d.now.Add(takes), &item{key: key, event: told, said: d.said})
	}
	for _, e := range todo.Stop {
		key := e.Key(d.epic.Epic.ID)
		if f := d.flying[key]; f != nil && !f.gone {
			f.gone = true
			f.event.Body = executor.EffectFailed{Class: executor.FailInterrupted, Detail: "stopped", Gate: e.Gate}
			d.flying[key] = d.at(d.now, &item{key: key, event: f.event})
		}
	}
	d.callPeople()
	d.show()
	return nil
}

func (d *sim) end() error { return d.Put(executor.Event{Body: d.run.Summary().Ending(false)}) }
