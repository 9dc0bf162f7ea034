package bd

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/tracker/bd/bdtest"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/bd"
)

// scene is a run that is mirrored into the stand-in, step by step, without a clock.
type scene struct {
	t      *testing.T
	fake   *bdtest.Fake
	c      *Client
	dir    string
	epic   *ir.Epic
	run    *executor.Run
	events []executor.Event
	flying []executor.Effect
	answer func(executor.Effect) executor.Body
	hold   func(executor.Effect) bool // effects that do not end
	now    time.Time
	state  string
	m      *Mirror
	said   []string
	inbox  []executor.Letter
	got    map[string]string // answers by id: "" taken
	trees  int
}

func newScene(t *testing.T, lines []string, change ...func(*ir.Epic)) *scene {
	t.Helper()
	change = append([]func(*ir.Epic){func(e *ir.Epic) {
		e.Run.Tracker = &ir.Tracker{Kind: "bd", Prefix: "bd", Actor: "ralph", Approvals: true}
	}}, change...)
	s := &scene{t: t, epic: executortest.Epic(lines, change...), now: time.UnixMilli(1_700_000_000_000).UTC(), state: t.TempDir(), got: map[string]string{}}
	_, s.fake, s.dir = fakeDatabase(t)
	if strings.HasPrefix(t.Name(), "TestWhatHappensWithinOneSecondIsToldApart/") {
		s.fake.Clock(time.Now())
		s.fake.Faults(bdtest.Fault{On: "history", Do: bdtest.Ties})
	}
	var err error
	if s.c, err = Open(context.Background(), Options{Program: s.fake.Program, Dir: s.dir, Actor: bd.Assignee(s.epic)}); err != nil {
		t.Fatal(err)
	}
	if s.run, err = executor.New(s.epic); err != nil {
		t.Fatal(err)
	}
	rows, err := bd.Rows(s.epic, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := bd.Lines(rows)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.c.SetConfig(context.Background(), "types.custom", "beads-ralph-work,beads-ralph-merge"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.c.Import(context.Background(), text, quick); err != nil {
		t.Fatal(err)
	}
	s.fake.Forget()
	return s
}

// open begins a mirror, as a ralph that starts does.
func (s *scene) open() {
	s.t.Helper()
	run, err := executor.New(s.epic)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range s.events {
		if err := run.Apply(e); err != nil {
			s.t.Fatal(err)
		}
	}
	s.m, err = NewMirror(Outbox{
		Client: s.c, Epic: s.epic, Run: run, State: s.state, Now: func() time.Time { return s.now },
		Metadata: func(n *ir.Node) (map[string]any, error) {
			out := map[string]any{}
			if n == nil {
				if k, ok := run.KeptRun(); ok {
					out["ralph"] = k
				}
				return out, nil
			}
			if k, ok := run.Kept(n.ID); ok {
				out["ralph"] = k
			}
			v, _ := run.View(n.ID)
			out["attempts"] = len(v.Attempts)
			return out, nil
		},
		Report: func(format string, args ...any) { s.said = append(s.said, fmt.Sprintf(format, args...)) },
		Send:   func(_ context.Context, l executor.Letter) error { s.inbox = append(s.inbox, l); return nil },
		Answer: func(_ context.Context, id string) (bool, string, error) {
			why, ok := s.got[id]
			return ok, why, nil
		},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.m.Look(context.Background()); err != nil {
		s.said = append(s.said, "look: "+err.Error())
	}
	s.m.all()
	s.m.dirty("")
}

// settle lets the mirror write until nothing is due, and the run take letters.
func (s *scene) settle(closing bool) {
	s.t.Helper()
	for range 5000 {
		if _, idle := s.m.step(context.Background(), closing); idle {
			return
		}
	}
	s.t.Fatalf("the mirror comes to no end; it says %q", s.said)
}

// later lets time go by until the beads are looked at again, and the run answer.
func (s *scene) later(d time.Duration) {
	s.t.Helper()
	s.now = s.now.Add(d)
	s.settle(false)
	for len(s.inbox) > 0 {
		l := s.inbox[0]
		s.inbox = s.inbox[1:]
		bound, err := s.run.Consider(l.Node, l.Decision, s.now)
		if err != nil {
			s.got[l.Decision.ID] = err.Error()
			continue
		}
		s.put(executor.Event{Node: l.Node, Body: executor.Decided{Decision: bound}})
		s.got[l.Decision.ID] = ""
	}
}

func (s *scene) put(e executor.Event) {
	s.t.Helper()
	e.Seq, e.At = s.run.Seq()+1, s.now
	if err := s.run.Apply(e); err != nil {
		s.t.Fatal(err)
	}
	s.events = append(s.events, e)
	if s.m != nil {
		s.m.Observe([]executor.Event{e})
	}
}

func (s *scene) begin() {
	s.t.Helper()
	s.put(executor.Event{Body: executortest.Start(s.epic)})
}

// play goes on until nothing is left to do. With stop it stops after each event.
func (s *scene) play(each func()) {
	s.t.Helper()
	for range 10_000 {
		todo := s.run.Todo(s.now)
		switch {
		case len(todo.Record) > 0:
			s.put(todo.Record[0])
		case len(todo.Start) > 0:
			e := todo.Start[0]
			s.put(executor.Event{Node: e.Node, Step: e.Step, Attempt: e.Attempt, Body: executor.EffectStarted{Kind: e.Kind, Gate: e.Gate, Iteration: e.Iteration, Redo: e.Redo}})
			s.flying = append(s.flying, e)
		case len(s.flying) > 0:
			i := slices.IndexFunc(s.flying, func(e executor.Effect) bool { return s.hold == nil || !s.hold(e) })
			if i < 0 {
				return
			}
			e := s.flying[i]
			s.flying = slices.Delete(s.flying, i, i+1)
			s.put(executor.Event{Node: e.Node, Step: e.Step, Attempt: e.Attempt, Body: s.ends(e)})
		default:
			return
		}
		if each != nil {
			each()
		}
	}
}

func (s *scene) ends(e executor.Effect) executor.Body {
	if s.answer != nil {
		if b := s.answer(e); b != nil {
			return b
		}
	}
	s.trees++
	body := executortest.Usual(e, s.trees)
	if body == nil {
		s.t.Fatalf("what does %s report?", e.Kind)
	}
	return body
}

func (s *scene) ended() {
	s.t.Helper()
	s.put(executor.Event{Body: executor.RunEnded{Counts: s.run.Counts()}})
}

func (s *scene) bead(id string) Issue {
	s.t.Helper()
	var out []Issue
	if err := json.Unmarshal(s.fake.Do(s.dir, "looker", "show", id, "--include-comments"), &out); err != nil || len(out) != 1 {
		s.t.Fatalf("show %s: %v", id, err)
	}
	return out[0]
}

func (s *scene) labels(id, prefix string) string {
	s.t.Helper()
	var out []string
	for _, l := range s.bead(id).Labels {
		if strings.HasPrefix(l, prefix) {
			out = append(out, l)
		}
	}
	return strings.Join(out, " ")
}

// of counts the calls that name a bead.
func (s *scene) of(id string) (calls []string) {
	for _, c := range s.fake.Calls() {
		if slices.Contains(c.Args, id) {
			calls = append(calls, c.Command)
		}
	}
	return calls
}

func TestATransitionCostsFewCalls(t *testing.T) { // issue: five calls for one step and one attempt, one more per further step, two per further attempt; S2-15..24
	for _, of := range []struct {
		name        string
		steps, fail int
		most        int
	}{{"one step", 1, 0, 5}, {"two steps", 2, 0, 6}, {"three steps", 3, 0, 7}, {"four steps, two attempts", 4, 1, 10}, {"two attempts", 1, 1, 7}, {"three attempts", 1, 2, 9}} {
		t.Run(of.name, func(t *testing.T) {
			if testing.Short() && of.steps+of.fail > 2 {
				t.Skip("every call of bd is a process")
			}
			s := newScene(t, []string{"1.1"}, func(e *ir.Epic) {
				for i := range of.steps - 1 {
					e.Nodes[0].Steps = append(e.Nodes[0].Steps, executortest.Step(fmt.Sprintf("review-%d", i+1), "check"))
				}
			})
			failures := 0
			s.answer = func(e executor.Effect) executor.Body {
				if e.Kind == executor.EffectGate && failures < of.fail {
					failures++
					return executortest.Verdict(e.Gate, executor.Fail)
				}
				return nil
			}
			s.open()
			s.begin()
			phases := map[string]bool{}
			s.play(func() { // the mirror keeps up with every event: nothing is coalesced
				s.settle(false)
				if b := s.bead("bd-1-1"); b.Status == "in_progress" {
					l := s.labels("bd-1-1", "phase:")
					if strings.Count(l, "phase:") != 1 {
						t.Fatalf("labels while it runs: %q, want exactly one phase", l)
					}
					phases[l] = true
				}
			})
			s.ended()
			s.settle(true)
			calls := s.of("bd-1-1")
			if len(calls) > of.most {
				t.Errorf("%d calls, want at most %d: %q", len(calls), of.most, calls)
			}
			b := s.bead("bd-1-1")
			said := 0
			for _, c := range b.Comments {
				said += strings.Count("\n"+c.Text, "\n[iter:")
			}
			if b.Status != "closed" || !strings.HasPrefix(b.CloseReason, "done") || said != of.steps+of.fail {
				t.Errorf("it is %s (%s) and %d attempts are told of", b.Status, b.CloseReason, said)
			}
			if len(phases) != of.steps || s.labels("bd-1-1", "phase:") != "" {
				t.Errorf("phases %v, at the end %q", phases, s.labels("bd-1-1", "phase:"))
			}
			if e := s.bead("bd-epic"); e.Status != "closed" || !slices.Contains(e.Labels, "mode:complete") {
				t.Errorf("the epic is %s with %q", e.Status, e.Labels)
			}
		})
	}
}

// What waits to be said with the next thing is said when ralph ends.
func TestStepsThatPassedAreSaidAtTheEnd(t *testing.T) { // issue: comments are never dropped; S2-07
	s := newScene(t, []string{"1.1"}, func(e *ir.Epic) {
		e.Nodes[0].Steps = append(e.Nodes[0].Steps, executortest.Step("review", "check"), executortest.Step("polish", "check"))
	})
	s.open()
	s.begin()
	s.hold = func(e executor.Effect) bool { return e.Kind == executor.EffectAgent && e.Step == "polish" }
	s.play(func() { s.settle(false) })
	if b := s.bead("bd-1-1"); len(b.Comments) != 0 || s.labels("bd-1-1", "phase:") != "phase:polish" {
		t.Errorf("%d comments, labels %q", len(b.Comments), b.Labels)
	}
	s.m.Start(t.Context())
	if unsent, err := s.m.Close(t.Context()); err != nil || len(unsent) > 0 {
		t.Errorf("unsent: %q, %v", unsent, err)
	}
	if b := s.bead("bd-1-1"); len(b.Comments) != 1 || !strings.Contains(b.Comments[0].Text, "[iter:1] ") || !strings.Contains(b.Comments[0].Text, "\n[iter:2] ") {
		t.Errorf("comments %+v", b.Comments)
	}
}

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
		if strings.Contains(line, "bd does not take what it is told") {
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

// texts are a bead's comments, sorted.
func (s *scene) texts(id string) string {
	s.t.Helper()
	var out []string
	for _, c := range s.bead(id).Comments {
		out = append(out, c.Text)
	}
	slices.Sort(out)
	return strings.Join(out, "\n--\n")
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

func TestAMirrorWithoutADatabaseSaysWhatToTypeAndGoesOnWhenItIsThere(t *testing.T) { // issue point 2
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

func TestTheRunNeverWaitsForBd(t *testing.T) { // issue point 2: the mirror never blocks or fails a run
	s := newScene(t, []string{"1.1", "1.2: 1.1"})
	s.open()
	release := s.fake.Busy(s.c.Beads())
	ctx, cancel := context.WithCancel(t.Context())
	s.m.Start(ctx)
	s.begin()
	s.play(nil) // every call of bd waits meanwhile
	s.ended()
	if got := s.run.Counts()["done"]; got != 2 {
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

// BenchmarkObserve is what the mirror costs the goroutine of the scheduler for an event.
func BenchmarkObserve(b *testing.B) {
	m := &Mirror{nudge: make(chan struct{}, 1)}
	list := []executor.Event{{Seq: 1}}
	b.ReportAllocs()
	for b.Loop() {
		m.Observe(list)
		if len(m.news) == 1000 {
			m.news = m.news[:0]
		}
	}
}
