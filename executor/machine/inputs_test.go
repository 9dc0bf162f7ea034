package machine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// wide has n nodes that need nothing, and whose results are all joined.
func wide(n int) *ir.Epic {
	e := &ir.Epic{
		Epic: ir.Header{ID: "bd-e", Integration: ir.Integration{Mode: "dag", Branch: "i"}}, Digest: "d",
		Agents: map[string]ir.Agent{"a": {Runner: "r"}}, Runners: map[string]ir.Runner{"r": {}},
	}
	for i := range n {
		e.Nodes = append(e.Nodes, ir.Node{
			ID: ir.NodeID(fmt.Sprintf("bd-n%d", i)), Key: ir.Key(fmt.Sprint(i)), Kind: ir.Work, Digest: ir.NodeDigest{Work: "w", Judge: "j"},
			Steps: []ir.Step{{Name: "s", Agent: "a", Access: "write", Next: "s", Limits: ir.StepLimits{Attempts: 1, Iterations: 1}}},
		})
	}
	return e
}

// commit is a name as long as git's.
func commit(of ir.NodeID) string { return fmt.Sprintf("%-40s", of) }

// split are the events that a driver records for one.
func split(e executor.Event) []executor.Event {
	parts, last := e.Split()
	return append(parts, last)
}

// wideRun plays a wide epic to its end and returns the events, each with its JSON. cut is
// asked before each event whether ralph dies there.
func wideRun(t *testing.T, epic *ir.Epic, cut func(run *Run, e executor.Event) bool) (run *Run, events []executor.Event, made executor.Effect) {
	t.Helper()
	run, err := New(epic)
	if err != nil {
		t.Fatal(err)
	}
	now := time.UnixMilli(0).UTC()
	put := func(e executor.Event) {
		t.Helper()
		for _, e := range split(e) {
			e.Seq, e.At = run.Seq()+1, now
			if err := run.Apply(e); err != nil {
				t.Fatal(err)
			}
			events = append(events, e)
		}
	}
	start := executor.Event{Body: executor.RunStarted{Epic: "bd-e", Digest: "d", Base: executor.Tree{Commit: commit("base"), Tree: commit("base")}, Slots: 100, By: "me"}}
	put(start)
	for {
		todo := run.Todo(now)
		var record []executor.Event
		for _, e := range todo.Record {
			record = append(record, split(e)...)
		}
		for _, e := range record {
			if cut(run, e) {
				if run, err = New(epic); err != nil {
					t.Fatal(err)
				}
				for _, e := range events {
					if err := run.Apply(e); err != nil {
						t.Fatal(err)
					}
				}
				put(start)
				todo = Todo{Record: todo.Record}
				break
			}
			put(e)
		}
		for _, e := range todo.Start {
			put(e.Started())
			if e.Seq = run.Seq(); e.Kind == executor.EffectBase {
				made = e
				put(e.Says(executor.BaseMade{Base: executor.Tree{Commit: commit("merged"), Tree: commit("merged")}}))
				continue
			}
			if e.Kind == executor.EffectCollect {
				put(e.Says(executor.Collected{Result: executor.Tree{Commit: commit(e.Node), Tree: "t" + commit(e.Node)}}))
				continue
			}
			put(e.Says(goesWell(e)))
		}
		if todo.Done {
			return run, events, made
		}
	}
}

// No event is larger than an engine may carry, however many results are joined; what is
// joined is the same.
func TestListsOfInputsAreNoLargeEvents(t *testing.T) {
	const many = 5000
	run, events, made := wideRun(t, wide(many), func(*Run, executor.Event) bool { return false })
	if v, _ := run.View(executor.Integration); v.Status != executor.Done {
		t.Fatalf("the sum is %s: %s", v.Status, v.Reason)
	}
	if len(made.Inputs) != many+1 || made.Inputs[0].Node != "base" || made.Inputs[many].Commit != commit("bd-n4999") {
		t.Fatalf("the sum is made of %d results: %+v …", len(made.Inputs), made.Inputs[:2])
	}
	parts := 0
	read, _ := New(wide(many))
	for _, e := range events {
		b, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := e.Body.(executor.InputsListed); ok {
			parts++
		}
		if len(b) > 4000 {
			t.Errorf("event %d (%s) takes %d bytes", e.Seq, e.Kind(), len(b))
		}
		var back executor.Event
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		if err := read.Apply(back); err != nil {
			t.Fatal(err)
		}
	}
	if parts < 150 {
		t.Errorf("the list came in %d parts", parts)
	}
	if got, want := shownAll(t, read), shownAll(t, run); got != want {
		t.Error("read back it is another run")
	}
	if !slices.Equal(read.sum.node.successes[0].inputs, made.Inputs) {
		t.Error("read back it was made of something else")
	}
}

// Ralph dies between the parts of a list, each time: what is joined is the same.
func TestRalphDiesBetweenThePartsOfAList(t *testing.T) { // execution §9
	_, whole, want := wideRun(t, wide(120), func(*Run, executor.Event) bool { return false })
	list := 0
	for _, e := range whole {
		if e.Node == executor.Integration && (strings.HasPrefix(e.Kind(), "inputs.") || e.Kind() == "node.started") {
			list++
		}
	}
	if list < 5 {
		t.Fatalf("the list has only %d parts", list)
	}
	for at := range list {
		seen := 0
		run, _, made := wideRun(t, wide(120), func(_ *Run, e executor.Event) bool {
			if e.Node == executor.Integration && (strings.HasPrefix(e.Kind(), "inputs.") || e.Kind() == "node.started") {
				seen++
				return seen == at+1
			}
			return false
		})
		if v, _ := run.View(executor.Integration); v.Status != executor.Done || !slices.Equal(made.Inputs, want.Inputs) {
			t.Errorf("killed before part %d: the sum is %s, of %d results", at, v.Status, len(made.Inputs))
		}
	}
}

// What others have put on the branch, and what the sum would lose, are lists as long as
// the epic: they are not large events either, and mean the same read back.
func TestListsOfABranchAreNoLargeEvents(t *testing.T) { // execution §6
	const many = 5000
	run, events, _ := wideRun(t, wide(many), func(*Run, executor.Event) bool { return false })
	var holds []string
	for i := range many {
		holds = append(holds, commit(ir.NodeID(fmt.Sprintf("bd-n%d", i))))
	}
	put := func(e executor.Event) {
		t.Helper()
		for _, e := range split(e) {
			e.Seq = run.Seq() + 1
			if err := run.Apply(e); err != nil {
				t.Fatal(err)
			}
			events = append(events, e)
		}
	}
	put(executor.Event{Body: executor.RunStarted{Epic: "bd-e", Digest: "d", Base: executor.Tree{Commit: commit("base"), Tree: commit("base")}, Slots: 1, By: "me", Theirs: holds, Rerun: []ir.NodeID{"bd-n0"}, Head: commit("merged")}})
	put(executor.Event{Node: executor.Integration, Body: executor.NodeWaiting{For: executor.ForHuman, Cause: executor.CauseOlder, Loses: holds}})
	if !slices.Equal(run.sum.node.wait.Loses, holds) || !slices.Equal(run.runs.started.Theirs, holds) || !slices.Equal(run.runs.started.Rerun, []ir.NodeID{"bd-n0"}) {
		t.Error("the run does not know the lists")
	}
	read, _ := New(wide(many))
	for _, e := range events {
		b, err := json.Marshal(e)
		if err != nil || len(b) > 4000 {
			t.Errorf("event %d (%s) takes %d bytes: %v", e.Seq, e.Kind(), len(b), err)
		}
		var back executor.Event
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		if err := read.Apply(back); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := shownAll(t, read), shownAll(t, run); got != want {
		t.Error("read back it is another run")
	}
	if !slices.Equal(read.sum.node.wait.Loses, holds) {
		t.Error("read back it would lose something else")
	}
}

// No request is larger than an engine may carry, however many results are joined, merge or
// not, pass their gates or not; a worker that looks up what it refers to has all of it.
func TestNoRequestIsLarge(t *testing.T) {
	const many = 5000
	epic := wide(many)
	epic.Epic.Integration.Gates, epic.Epic.Integration.ConflictAgent = []string{"g"}, "a"
	epic.Gates = map[string]ir.Gate{"g": {Kind: "command"}}
	for i := range epic.Nodes {
		epic.Nodes[i].Title = strings.Repeat("A title ", 8)
	}
	run, err := New(epic)
	if err != nil {
		t.Fatal(err)
	}
	now := time.UnixMilli(0).UTC()
	put := func(e executor.Event) {
		t.Helper()
		for _, e := range split(e) {
			e.Seq, e.At = run.Seq()+1, now
			if err := run.Apply(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	put(executor.Event{Body: executor.RunStarted{Epic: "bd-e", Digest: "d", Base: executor.Tree{Commit: commit("base"), Tree: commit("base")}, Slots: 100, By: "me"}})
	referred := map[executor.EffectKind]int{}
	for range 20 * many {
		todo := run.Todo(now)
		for _, e := range todo.Record {
			put(e)
		}
		if todo.Done || len(todo.Record)+len(todo.Start) == 0 {
			break
		}
		for _, e := range todo.Start {
			put(e.Started())
			e.Seq = run.Seq()
			b, err := json.Marshal(run.Request(e))
			if err != nil || len(b) > 64<<10 {
				t.Fatalf("the request for %s of %s takes %d bytes (%v)", e.Kind, e.Node, len(b), err)
			}
			var q executor.Request
			if err := json.Unmarshal(b, &q); err != nil {
				t.Fatal(err)
			}
			if q.Lists.Listed > 0 {
				referred[e.Kind]++
				l, ok := executor.ListsOf(run.InFlight(), q.Lists)
				whole, err := q.Complete(l)
				if !ok || err != nil {
					t.Fatalf("%s: %v, %v", e.Kind, ok, err)
				}
				if !slices.Equal(whole.Effect.Inputs, e.Inputs) || !slices.Equal(whole.Effect.Known, e.Known) {
					t.Fatalf("%s: other lists", e.Kind)
				}
				if _, err := q.Complete(l[:1:1]); err == nil && len(e.Known) > 0 {
					t.Error("half of a list is taken for the whole")
				}
			}
			reply := goesWell(e)
			switch {
			case e.Kind == executor.EffectBase && e.Step == "":
				reply = executor.EffectFailed{Class: executor.FailConflict, Paths: []string{"a.go"}}
			case e.Kind == executor.EffectCollect:
				reply = executor.Collected{Result: executor.Tree{Commit: commit(e.Node), Tree: "t" + commit(e.Node)}}
			case e.Kind == executor.EffectPrepare && e.Merge:
				reply = executor.Prepared{Paths: []string{"a.go"}}
			}
			put(e.Says(reply))
		}
	}
	v, _ := run.View(executor.Integration)
	t.Log(v.Status, v.Reason, referred)
	for _, kind := range []executor.EffectKind{executor.EffectBase, executor.EffectPrepare, executor.EffectCollect, executor.EffectPublish} {
		if referred[kind] == 0 {
			t.Errorf("no request for %s refers to lists", kind)
		}
	}
	if _, ok := executor.ListsOf(run.InFlight(), executor.ListRef{Listed: many, List: "another"}); ok {
		t.Error("lists of another digest are found")
	}
}
