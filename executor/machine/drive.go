package machine

import (
	"time"

	"github.com/ralph-compiler/ralph/executor"
)

// Settle records what the machine decides by itself, until only effects are left to
// start and to stop, and returns those. put records an event and applies it. Every
// driver begins its round with it.
func Settle(r *Run, now func() time.Time, put func(executor.Event) error) (Todo, error) {
	for {
		todo := r.Todo(now())
		if len(todo.Record) == 0 {
			return todo, nil
		}
		for _, e := range todo.Record {
			if err := put(e); err != nil {
				return todo, err
			}
		}
	}
}

// Begin records that an effect starts, before it does; its Seq is that of the event,
// which its reports have to name.
func Begin(r *Run, e *executor.Effect, put func(executor.Event) error) error {
	if err := put(e.Started()); err != nil {
		return err
	}
	e.Seq = r.Seq()
	return nil
}
