package bd

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/machine"
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
	run    *machine.Run
	events []executor.Event
	flying []executor.Effect
	answer func(executor.Effect) executor.Body
	hold   func(executor.Effect) bool // effects that do not end
	now    time.Time
	tick   time.Duration // what each look at the clock takes: a slow bd
	state  string
	m      *Mirror
	said   []string
	inbox  []executor.Letter
	got    map[string]string // answers by id: "" taken
	trees  int
	away   int // times that bd cannot be opened
	notes  []string
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
	if s.run, err = machine.New(s.epic); err != nil {
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
	run, err := machine.New(s.epic)
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
		Metadata: func(n *ir.Node) (map[string]json.RawMessage, error) {
			if n == nil {
				return EpicMetadata(run), nil
			}
			out := NodeMetadata(run, n.ID)
			v, _ := run.View(n.ID)
			out["attempts"] = json.RawMessage(strconv.Itoa(len(v.Attempts)))
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
		bound, err := s.run.Decisions().Consider(l.Node, l.Decision, s.now)
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
	s.put(executor.Event{Body: executor.RunEnded{Counts: s.run.Summary().Counts()}})
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
