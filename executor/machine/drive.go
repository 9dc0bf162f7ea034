package machine

import (
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// Driver is the environment of a run in progress: its clock, its journal, its people and
// the workers of its effects. One goroutine calls it.
type Driver interface {
	Now() time.Time
	// Put records an event and applies it.
	Put(executor.Event) error
	// Hear puts what people have decided meanwhile, and reports whether that was anything.
	// last: the run is about to end.
	Hear(last bool) (bool, error)
	// Stays reports whether a run that has nothing more to do waits for people.
	Stays() bool
	// Keep puts what the driver itself has to add to a round, with the run's end if done,
	// and returns when all that was put is on stable storage.
	Keep(todo Todo, done bool) error
	// Do starts and stops effects. All of them are on record, with the Seq of their start.
	Do(Todo) error
	// Wait returns when something was reported or said, or at wake; zero: no limit. It
	// returns the run, which another process may have built anew meanwhile, or nil if
	// nothing will happen any more.
	Wait(wake time.Time) (*Run, error)
}

// Drive continues a run until it ends or nothing more will happen.
func Drive(r *Run, d Driver) error {
	for {
		done, wake, err := oneRound(r, d)
		if err != nil || done {
			return err
		}
		if r, err = d.Wait(wake); err != nil || r == nil {
			return err
		}
	}
}

// oneRound asks the machine until it has no more to decide, records everything, and then,
// only then, has effects started and stopped.
func oneRound(r *Run, d Driver) (done bool, wake time.Time, err error) {
	if _, err := d.Hear(false); err != nil {
		return false, wake, err
	}
	todo, err := settle(r, d)
	if err != nil {
		return false, wake, err
	}
	if todo.Done { // a decision made by now still belongs to this run
		some, err := d.Hear(true)
		if err == nil && some {
			todo, err = settle(r, d)
		}
		if err != nil {
			return false, wake, err
		}
	}
	if todo.Stuck != "" {
		return false, wake, &executor.Bug{What: "the run is stuck: " + todo.Stuck}
	}
	for e := range lists.Refs(todo.Start) {
		if err := d.Put(e.Started()); err != nil {
			return false, wake, err
		}
		e.Seq = r.Seq() // its reports have to name it
	}
	done = todo.Done && !d.Stays()
	if err := d.Keep(todo, done); err != nil {
		return false, wake, err
	}
	return done, todo.Wake, d.Do(todo)
}

// settle records what the machine decides by itself, until only effects are left to
// start and to stop, and returns those.
func settle(r *Run, d Driver) (Todo, error) {
	for {
		todo := r.Todo(d.Now())
		if len(todo.Record) == 0 {
			return todo, nil
		}
		for _, e := range todo.Record {
			if err := d.Put(e); err != nil {
				return todo, err
			}
		}
	}
}
