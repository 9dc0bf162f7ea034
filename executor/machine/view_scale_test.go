package machine

import (
	"runtime"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
)

// Who looks at nodes one by one pays for each the same, however long the chain is that
// it hangs on: apply does so before it goes on with a run.
func TestALookAtOneNodeDoesNotGrowWithTheEpic(t *testing.T) {
	cost := func(nodes int) float64 {
		r, err := New(chain(nodes, func(int) bool { return false }))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Apply(executor.Event{Seq: 1, Body: executor.RunStarted{Digest: "d", Base: executor.Tree{Commit: "b", Tree: "b"}, Slots: 1}}); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for _, n := range r.nodes {
			r.View(n.id)
		}
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc-before.TotalAlloc) / float64(nodes)
	}
	if few, many := cost(200), cost(4000); many > 2*few {
		t.Errorf("%.0f bytes a node of 200, %.0f of 4,000", few, many)
	}
}

// What is known of one look is forgotten with the next event.
func TestALookKnowsTheLastEvent(t *testing.T) {
	r, err := New(chain(3, func(int) bool { return false }))
	if err != nil {
		t.Fatal(err)
	}
	last := r.nodes[2].id
	apply := func(e executor.Event) {
		t.Helper()
		if e.Seq = r.Seq() + 1; r.Apply(e) != nil {
			t.Fatal(e)
		}
	}
	apply(executor.Event{Body: executor.RunStarted{Digest: "d", Base: executor.Tree{Commit: "b", Tree: "b"}, Slots: 1}})
	was, _ := r.View(last)
	apply(executor.Event{Node: r.nodes[0].id, Body: executor.Decided{Decision: executor.Decision{Verb: executor.Pause, By: "ada"}}})
	if now, _ := r.View(last); now.Reason == was.Reason {
		t.Errorf("after a pause of what it needs it still says %q", now.Reason)
	}
}
