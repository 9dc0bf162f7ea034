package bd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/tracker/bd/bdtest"
	"github.com/ralph-compiler/ralph/ir/codec/bd"
)

func TestTheMirrorCatchesUpAfterBdWasAway(t *testing.T) {
	s := newScene(t, []string{"1.1", "1.2: 1.1"})
	s.fake.Faults(bdtest.Fault{Do: bdtest.Away})
	s.open()
	s.begin()
	s.play(nil) // the run does not wait
	s.settle(false)
	s.now = s.now.Add(time.Minute)
	s.settle(false)
	s.ended()
	if unsent, err := s.m.Close(t.Context()); err != nil || len(unsent) != 3 {
		t.Errorf("unsent: %q, %v; want a line for both beads and the epic", unsent, err)
	}
	if told, err := ReadTold(s.state); err != nil || len(told.Unsent) != 3 {
		t.Errorf("remembered: %+v, %v", told, err)
	}
	n := 0
	for _, line := range s.said {
		if strings.Contains(line, "bd refuses updates") {
			n++
		}
	}
	if n != 1 {
		t.Errorf("that bd is away was said %d times: %q", n, s.said)
	}
	s.fake.Faults()
	s.open() // the next apply
	s.settle(true)
	for _, id := range []string{"bd-1-1", "bd-1-2", "bd-epic"} {
		if b := s.bead(id); b.Status != "closed" {
			t.Errorf("%s is %s", id, b.Status)
		}
	}
	if b := s.bead("bd-1-1"); len(b.Comments) != 1 {
		t.Errorf("%d comments, want 1", len(b.Comments))
	}
	if unsent, err := s.m.Close(t.Context()); err != nil || len(unsent) != 0 {
		t.Errorf("unsent in the end: %q, %v", unsent, err)
	}
}

func TestNothingIsWrittenTwiceHoweverACallEnds(t *testing.T) { // execution §9: tracker writes exactly as often as without the crash
	play := func(t *testing.T, faults ...bdtest.Fault) (string, []string, int) {
		s := newScene(t, []string{"1.1"})
		failures := 0
		s.answer = func(e executor.Effect) executor.Body {
			if e.Kind == executor.EffectGate && failures == 0 {
				failures++
				return executortest.Verdict(e.Gate, executor.Fail)
			}
			return nil
		}
		s.fake.Faults(faults...)
		s.open()
		s.begin()
		s.play(func() {
			s.settle(false)
			if s.now.Before(s.m.retry) { // ralph was killed: the next one begins
				s.open()
				s.settle(false)
			}
		})
		s.ended()
		s.settle(true)
		s.fake.Faults()
		var history []string
		events, err := s.c.Events(t.Context(), "bd-1-1")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if e.Type != "updated" {
				history = append(history, e.Type+" "+e.Comment)
			}
		}
		slices.Sort(history)
		return s.texts("bd-1-1"), history, len(s.of("bd-1-1"))
	}
	wantComments, wantHistory, calls := play(t)
	for nth := 1; nth <= calls; nth++ {
		for _, do := range []string{bdtest.Kill, bdtest.Answer} {
			t.Run(fmt.Sprint(do, nth), func(t *testing.T) {
				comments, history, _ := play(t, bdtest.Fault{With: "bd-1-1", Nth: nth, Do: do})
				if comments != wantComments {
					t.Errorf("comments\n%s\nwant\n%s", comments, wantComments)
				}
				if !slices.Equal(history, wantHistory) {
					t.Errorf("history %q\nwant %q", history, wantHistory)
				}
			})
		}
	}
}

func TestAMirrorWithoutADatabaseSaysWhatToTypeAndGoesOnWhenItIsThere(t *testing.T) {
	s := newScene(t, []string{"1.1"})
	fake := bdtest.New(t)
	dir := t.TempDir()
	s.open()
	s.m.c = nil
	s.m.listed, s.m.pushed = false, false
	s.m.Open = func(ctx context.Context) (*Client, error) {
		return Open(ctx, Options{Program: fake.Program, Dir: dir, Actor: bd.Assignee(s.epic)})
	}
	s.m.Push = func() func(context.Context, *Client) error {
		return func(ctx context.Context, c *Client) error { _, err := Push(ctx, c, s.epic, PushOptions{}); return err }
	}
	s.begin()
	s.play(nil)
	for range 5 {
		s.now = s.now.Add(time.Minute)
		s.settle(false)
	}
	n := 0
	for _, line := range s.said {
		n += strings.Count(line, InitCommand("bd"))
	}
	if n != 1 || len(s.said) != 1 {
		t.Errorf("how to make one was said %d times: %q", n, s.said)
	}
	fake.Init(dir)
	s.ended()
	s.now = s.now.Add(time.Minute)
	s.settle(true)
	s.fake, s.dir = fake, dir
	if b := s.bead("bd-1-1"); b.Status != "closed" || len(b.Comments) != 1 {
		t.Errorf("it is %s with %d comments; %q", b.Status, len(b.Comments), s.said)
	}
}

func TestTheRunNeverWaitsForBd(t *testing.T) { // the mirror never blocks or fails a run
	s := newScene(t, []string{"1.1", "1.2: 1.1"})
	s.open()
	release := s.fake.Busy(s.c.Database.Dir)
	ctx, cancel := context.WithCancel(t.Context())
	s.m.Start(ctx)
	s.begin()
	s.play(nil) // every call of bd waits meanwhile
	s.ended()
	if got := s.run.Summary().Counts()["done"]; got != 2 {
		t.Errorf("%d nodes are done", got)
	}
	over, stop := context.WithCancel(t.Context())
	stop()
	unsent, err := s.m.Close(over) // nor does its end
	if err != nil || len(unsent) == 0 {
		t.Errorf("unsent %q, %v", unsent, err)
	}
	release()
	cancel()
}
