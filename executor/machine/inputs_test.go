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
		e.Seq, e.At = run.Seq()+1, now
		if err := run.Apply(e); err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	start := executor.Event{Body: executor.RunStarted{Epic: "bd-e", Digest: "d", Base: executor.Tree{Commit: commit("base"), Tree: commit("base")}, Slots: 100, By: "me"}}
	put(start)
	for {
		todo := run.Todo(now)
		for _, e := range todo.Record {
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
	if !slices.Equal(read.sum.successes[0].inputs, made.Inputs) {
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
	// One that goes on with other inputs than were listed begins the list anew.
	n := &node{ir: &wide(1).Nodes[0], id: "bd-n0", listing: []executor.Result{{Node: "other"}}}
	first := n.starts(want.Inputs)[0].Body.(executor.InputsListed)
	if first.After != 0 {
		t.Errorf("behind another list it begins after %d", first.After)
	}
	n.listing = first.Inputs
	if next := n.starts(want.Inputs)[0].Body.(executor.InputsListed); next.After != len(first.Inputs) {
		t.Errorf("behind its first part, of %d, it goes on after %d", len(first.Inputs), next.After)
	}
}

func TestAListThatIsNotOnRecordIsRefused(t *testing.T) {
	n := &node{ir: &wide(1).Nodes[0], id: "bd-n0"}
	a, b := executor.Result{Node: "a", Tree: executor.Tree{Commit: "1", Tree: "1"}}, executor.Result{Node: "b", Tree: executor.Tree{Commit: "2", Tree: "2"}}
	for what, put := range map[string]func() error{
		"nothing is listed": func() error {
			return n.takeListed(&executor.NodeStarted{Listed: 1, List: listDigest([]executor.Result{a})})
		},
		"a part is missing": func() error { return n.inputsListed(executor.InputsListed{After: 1, Inputs: []executor.Result{b}}) },
		"another list is there": func() error {
			_ = n.inputsListed(executor.InputsListed{Inputs: []executor.Result{b}})
			return n.takeListed(&executor.NodeStarted{Listed: 1, List: listDigest([]executor.Result{a})})
		},
	} {
		n.listing = nil
		if put() == nil {
			t.Errorf("%s: it is taken", what)
		}
	}
}
