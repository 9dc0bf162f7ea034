package machine

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
)

// Whatever the clock says, what the machine says and keeps is to the millisecond: a
// journal holds no more, and neither does another engine.
func TestTimesAreToTheMillisecond(t *testing.T) {
	const part = 123_456 * time.Nanosecond
	exact := func(what string, at time.Time) {
		t.Helper()
		if !at.Equal(at.Truncate(time.Millisecond)) {
			t.Errorf("%s: %s", what, at.Format(time.RFC3339Nano))
		}
	}
	waits := 0
	for seed := range seeds(t, 100) {
		rng := rand.New(rand.NewPCG(seed, 9))
		s := &sim{t: t, rng: rng, epic: randomEpic(rng, 6), now: time.UnixMilli(0).UTC()}
		s.run, _ = New(s.epic)
		s.start()
		for range 300 {
			todo := s.run.Todo(s.now.Add(part))
			exact("Wake", todo.Wake)
			if todo.Done {
				break
			}
			switch {
			case len(todo.Record) > 0:
				if w, ok := todo.Record[0].Body.(executor.NodeWaiting); ok && !w.Until.IsZero() {
					exact("Until of "+w.Detail, w.Until)
					waits++
				}
				s.put(todo.Record[0])
			case len(todo.Start) > 0:
				s.begin(todo.Start[0])
			case len(s.flying) > 0:
				e := s.flying[0]
				s.flying = s.flying[1:]
				s.put(e.Says(s.report(e)))
			default:
				s.now = todo.Wake
			}
		}
	}
	if waits < 100 {
		t.Errorf("only %d waits were looked at", waits)
	}
}

// A driver whose events are more exact than a journal has the same run as one that
// reads them back.
func TestMoreExactTimesAreNotKept(t *testing.T) {
	epic := lossy()
	run, _ := New(epic)
	read, _ := New(epic)
	at := time.Date(2026, 11, 1, 2, 3, 4, 5_678_901, time.FixedZone("CET", 3600))
	for _, e := range []executor.Event{
		{Body: executor.RunStarted{Epic: "bd-e", Digest: "d", Base: executor.Tree{Commit: "base", Tree: "base"}, Slots: 1, By: "me"}},
		{Node: "bd-1", Body: executor.NodeStarted{Key: "1", Work: "w1", Judge: "j", Inputs: []executor.Result{{Node: "base", Tree: executor.Tree{Commit: "base", Tree: "base"}}}}},
		{Node: "bd-1", Body: executor.NodeWaiting{For: executor.ForTimer, Until: at.Add(time.Minute), Detail: "a while"}},
		{Body: executor.RunDraining{Until: at.Add(time.Hour + time.Microsecond)}},
	} {
		e.Seq, e.At = run.Seq()+1, at
		if err := run.Apply(e); err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, &e); err != nil {
			t.Fatal(err)
		}
		if err := read.Apply(e); err != nil {
			t.Fatal(err)
		}
		if got, want := shownAll(t, run), shownAll(t, read); got != want {
			t.Errorf("%s: the run is\n%s\nand read back\n%s", e.Kind(), got, want)
		}
	}
	if d, err := run.Decisions().Consider("", executor.Decision{Verb: executor.Pause, By: "ann", At: at}, at); err != nil || !d.At.Equal(at.Truncate(time.Millisecond)) {
		t.Errorf("a decision is said at %s (%v)", d.At, err)
	}
	if got, want := run.halt.until, read.halt.until; !got.Equal(want) {
		t.Errorf("it is stopped at %s, and read back at %s", got, want)
	}
}
