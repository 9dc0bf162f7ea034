package machine

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
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
	k, ok := old.Summary().Kept()
	if !ok {
		s.t.Fatal("nothing is kept of a run that has begun")
	}
	k = throughTracker(s.t, k)
	kept := map[ir.NodeID]executor.Kept{}
	for _, n := range old.nodes {
		if x, ok := old.Node(n.id).Kept(); ok {
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
	s.put(executor.Event{Body: executor.TailLost{}})
	var holds []string // what git says
	in := s.branch.ancestors(k.Head)
	for _, c := range append(old.results(), append(k.Others, k.Base.Commit)...) {
		if in[c] {
			holds = append(holds, c)
		}
	}
	s.put(executor.Event{Body: executor.RunRecovered{From: "bd e", Digest: k.Digest, Base: k.Base, Bases: k.Bases, Head: k.Head, Others: k.Others, Holds: holds, Lost: k.Seq, Spent: k.Spent, Added: k.Added, By: "me"}})
	for _, n := range s.run.nodes {
		if x, ok := kept[n.id]; ok {
			s.put(executor.Event{Node: n.id, Body: executor.NodeRecovered{Kept: x, Key: n.ir.Key}})
		}
	}
	for i, n := range s.run.nodes {
		was := old.nodes[i]
		if n.sum {
			if len(n.successes) > 0 && n.successes[0].inputs[0].Node == "base" && old.joins() && !reflect.DeepEqual(s.run.sum.holds, old.sum.holds) {
				s.t.Errorf("the sum held %v and holds %v", old.sum.holds, s.run.sum.holds)
			}
			continue
		}
		if b, a := was.keptSuccess(), n.keptSuccess(); b != nil && (a == nil || a.Merged != b.Merged || a.Aside != b.Aside || a.Print != b.Print) {
			s.t.Errorf("%s: its success was %+v and is %+v", n.id, b, a)
		}
		now, before := n.shown(), was.shown()
		if now != before && (before == executor.Done || before == executor.Blocked || before == executor.Cancelled || before == executor.Skipped) && (was.accepted != nil || before != executor.Done) {
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
	middle := 0 // nodes that were in the middle
	defer func() {
		if middle < 8 {
			t.Errorf("only %d nodes were in the middle of their steps", middle)
		}
	}()
	list := []uint64{1836, 2051, 2223, 2435, 2512} // the journal is lost when the branch has moved, and the sum is not on record
	for seed := range seeds(t, 400) {
		list = append(list, seed)
	}
	for _, seed := range list {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 7))
			s := &sim{t: t, rng: rng, epic: randomEpic(rng, 8), now: time.UnixMilli(0).UTC()}
			s.run, _ = New(s.epic)
			s.start()
			s.steps(rng.IntN(200))
			for range rng.IntN(3) {
				s.stir()
			}
			done, numbers, steps := map[ir.NodeID]executor.Tree{}, map[string]int{}, map[ir.NodeID]string{}
			for _, n := range s.run.nodes {
				if k := len(n.successes); k > 0 && !n.sum { // as --rebase and --rerun make them
					n.successes[k-1].merged = n.status != executor.Done && rng.IntN(2) == 0
					if n.status != executor.Done && rng.IntN(2) == 0 {
						n.after = s.run.seq
					}
				}
				if l := n.life; (n.status == executor.Running || n.status == executor.Waiting) && !n.sum && l.step > 0 && len(l.judging) == 0 && len(n.logs) > l.first {
					steps[n.id] = n.ir.Steps[l.step].Name
				}
				if n.accepted != nil && n.status == executor.Done && !n.sum {
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
				if was, ok := done[n.id]; ok && (n.status != executor.Done || n.accepted == nil || n.accepted.result != was) {
					t.Errorf("%s was done and is %s", n.id, n.status)
				}
			}
			from := len(s.events)
			s.steps(5000)
			if todo := s.run.Todo(s.now); !todo.Done {
				t.Fatalf("the run does not end: %+v", todo)
			}
			for _, e := range s.events[from:] {
				if _, ok := e.Body.(executor.AttemptStarted); !ok {
					continue
				}
				if _, was := done[e.Node]; was && e.Step != LandStep {
					t.Errorf("%s was done and ran again", e.Node)
				}
				if want := steps[e.Node]; want != "" && e.Step != executor.MergeStep {
					if delete(steps, e.Node); e.Step != want {
						t.Errorf("%s was at step %s and goes on at %s", e.Node, want, e.Step)
					}
					middle++
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

// What --rebase found in the base, and what --rerun put aside, comes back as that.
func TestASuccessComesBackWithWhatPeopleSaidAboutIt(t *testing.T) { // K33; execution §2
	seen := 0
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 7))
		s := &sim{t: t, rng: rng, epic: randomEpic(rng, 8), now: time.UnixMilli(0).UTC()}
		s.run, _ = New(s.epic)
		s.start()
		s.steps(5000)
		for _, n := range s.run.nodes {
			if k := len(n.successes); k > 0 && !n.sum && n.status == executor.Done {
				seen++
				n.successes[k-1].merged = seen%2 == 0
				if seen%3 == 0 {
					n.after = s.run.seq
					n.status, n.accepted = executor.Pending, nil
				}
			}
		}
		s.recovered()
	}
	if seen < 10 {
		t.Errorf("only %d successes were tried", seen)
	}
}
