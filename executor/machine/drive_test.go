package machine_test

import (
	"errors"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

func TestADriverSettlesAndBegins(t *testing.T) { // what is recorded comes before what is done
	s := newStage(t, []string{"1.1", "1.2"}, func(*ir.Epic) {})
	s.begin()
	now := func() time.Time { return s.now }
	put := func(e executor.Event) error {
		s.put(e)
		return nil
	}
	todo, err := machine.Settle(s.run, now, put)
	if err != nil || len(todo.Record) > 0 || len(todo.Start) == 0 {
		t.Fatalf("%v: %+v", err, todo)
	}
	full := errors.New("the disk is full")
	e := todo.Start[0]
	if err := machine.Begin(s.run, &e, func(executor.Event) error { return full }); !errors.Is(err, full) || e.Seq != todo.Start[0].Seq {
		t.Errorf("a start that was not recorded: %v, seq %d", err, e.Seq)
	}
	if err := machine.Begin(s.run, &e, put); err != nil || e.Seq != s.run.Seq() {
		t.Errorf("%v: seq %d, want %d", err, e.Seq, s.run.Seq())
	}
	for _, left := range s.run.Todo(s.now).Start {
		if left.Key("x") == e.Key("x") {
			t.Errorf("%s would start twice", e.Key("x"))
		}
	}
}
