package executor

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/ir"
)

// throughTracker is what a tracker would give back of what is kept.
func throughTracker[T any](t *testing.T, k T) T {
	t.Helper()
	b, err := json.Marshal(k)
	if err != nil {
		t.Fatal(err)
	}
	var back T
	if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(back, k) {
		t.Fatalf("through JSON\n%+v\nbecame\n%+v (%v)", k, back, err)
	}
	return back
}

// recovered is a new journal, and the run that it gives, made of nothing but what
// was kept of the old run.
func (s *sim) recovered() {
	s.t.Helper()
	old := s.run
	k, ok := old.KeptRun()
	if !ok {
		s.t.Fatal("nothing is kept of a run that has begun")
	}
	k = throughTracker(s.t, k)
	kept := map[ir.NodeID]Kept{}
	for _, n := range old.nodes {
		if x, ok := old.Kept(n.id); ok {
			if b, _ := json.Marshal(x); len(b) > MaxKept {
				s.t.Fatalf("%d bytes are kept of one node:\n%s", len(b), b)
			}
			kept[n.id] = throughTracker(s.t, x)
		}
	}
	run, err := New(s.epic)
	if err != nil {
		s.t.Fatal(err)
	}
	s.run, s.flying, s.events, s.trees = run, nil, nil, nil
	s.skip = k.Seq
	s.put(Event{Body: TailLost{}})
	s.put(Event{Body: RunRecovered{From: "bd e", Digest: k.Digest, Base: k.Base, Bases: k.Bases, Head: k.Head, Lost: k.Seq, Spent: k.Spent, Added: k.Added, By: "me"}})
	for _, n := range s.run.nodes {
		if x, ok := kept[n.id]; ok {
			s.put(Event{Node: n.id, Body: NodeRecovered{Kept: x, Key: n.ir.Key}})
		}
	}
	for i, n := range s.run.nodes {
		was := old.nodes[i]
		if n.sum {
			continue
		}
		now, before := s.run.shown(n), old.shown(was)
		if now != before && (before == Done || before == Blocked || before == Cancelled || before == Skipped) && (was.accepted != nil || before != Done) {
			s.t.Errorf("%s was %s and is %s", n.id, before, now)
		}
		for step, number := range was.numbers {
			if n.numbers[step] != number {
				s.t.Errorf("%s: the last attempt of step %s was %d and is %d", n.id, step, number, n.numbers[step])
			}
		}
	}
}

// TestARecoveredRunGoesOn loses the journal of random runs at random moments and
// goes on with what a tracker kept: what is done stays done and does not run again,
// attempts keep their numbers and limits, and the run comes to its end. S2-41, S2-45, K33
func TestARecoveredRunGoesOn(t *testing.T) {
	for seed := range uint64(200) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 7))
			s := &sim{t: t, rng: rng, epic: randomEpic(rng, 8), now: time.UnixMilli(0).UTC()}
			s.run, _ = New(s.epic)
			s.start()
			s.steps(rng.IntN(400))
			for range rng.IntN(3) {
				s.stir()
			}
			done, numbers := map[ir.NodeID]Tree{}, map[string]int{}
			for _, n := range s.run.nodes {
				if n.accepted != nil && n.status == Done && !n.sum {
					done[n.id] = n.accepted.result
				}
				for step, k := range n.numbers {
					numbers[string(n.id)+" "+step] = k
				}
			}
			s.recovered()
			s.crash()
			s.start()
			for _, n := range s.run.nodes {
				if was, ok := done[n.id]; ok && (n.status != Done || n.accepted == nil || n.accepted.result != was) {
					t.Errorf("%s was done and is %s", n.id, n.status)
				}
			}
			from := len(s.events)
			s.steps(5000)
			if todo := s.run.Todo(s.now); !todo.Done {
				t.Fatalf("the run does not end: %+v", todo)
			}
			for _, e := range s.events[from:] {
				if _, ok := e.Body.(AttemptStarted); !ok {
					continue
				}
				if _, was := done[e.Node]; was && e.Step != LandStep {
					t.Errorf("%s was done and ran again", e.Node)
				}
				if at := string(e.Node) + " " + e.Step; e.Attempt <= numbers[at] {
					t.Errorf("attempt %d of %s was used before", e.Attempt, at)
				} else {
					numbers[at] = e.Attempt
				}
			}
		})
	}
}
