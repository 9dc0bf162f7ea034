package machine

import (
	"fmt"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// chain is an epic in which each node needs the one before; done says which ones
// the plan calls done.
func chain(n int, done func(int) bool) *ir.Epic {
	e := &ir.Epic{Epic: ir.Header{ID: "bd-e", Integration: ir.Integration{Mode: "dag"}}, Digest: "d", Agents: map[string]ir.Agent{"a": {Runner: "r"}}}
	for i := range n {
		node := ir.Node{ID: ir.NodeID(fmt.Sprint("bd-", i)), Key: ir.Key(fmt.Sprint(i)), Done: done(i), Digest: ir.NodeDigest{Work: "w", Judge: "j"}}
		node.Steps = []ir.Step{{Name: "s", Agent: "a", Access: "write", Limits: ir.StepLimits{Attempts: 1}}}
		if i > 0 {
			node.After = []ir.Edge{{Key: ir.Key(fmt.Sprint(i - 1)), Type: ir.Blocks}}
		}
		e.Nodes = append(e.Nodes, node)
	}
	return e
}

func TestWhatThePlanCallsDoneIsTransparent(t *testing.T) {
	r, err := New(chain(4, func(i int) bool { return i == 1 || i == 2 }))
	if err != nil {
		t.Fatal(err)
	}
	put := func(e executor.Event) {
		t.Helper()
		e.Seq = r.Seq() + 1
		if err := r.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	started := func() (keys []ir.Key) {
		for _, e := range r.Todo(time.UnixMilli(0)).Record {
			if b, ok := e.Body.(executor.NodeStarted); ok {
				keys = append(keys, b.Key)
			}
			put(e)
		}
		return keys
	}
	put(executor.Event{Body: executor.RunStarted{Digest: "d", Base: executor.Tree{Commit: "b", Tree: "b"}, Slots: 4}})
	if got := fmt.Sprint(started()); got != "[0]" {
		t.Errorf("%s start, want only 0: the others need it, through what the plan calls done", got)
	}
	for r.nodes[0].status != executor.Done {
		todo := r.Todo(time.UnixMilli(0))
		for _, e := range todo.Record {
			put(e)
		}
		for _, e := range todo.Start {
			put(executor.Event{Node: e.Node, Step: e.Step, Attempt: e.Attempt, Body: executor.EffectStarted{Kind: e.Kind, Iteration: e.Iteration}})
			put(executor.Event{Node: e.Node, Step: e.Step, Attempt: e.Attempt, Body: map[executor.EffectKind]executor.Body{
				executor.EffectPrepare: executor.Prepared{}, executor.EffectAgent: executor.AgentEnded{Outcome: executor.Outcome{Result: "success"}, End: executor.EndExited},
				executor.EffectCollect: executor.Collected{Result: executor.Tree{Commit: "c0", Tree: "t0"}}, executor.EffectPublish: executor.Published{Result: executor.Tree{Commit: "c0", Tree: "t0"}},
			}[e.Kind]})
		}
	}
	if got := r.inputs(r.nodes[3]); len(got) != 1 || got[0].Node != "bd-0" || got[0].Commit != "c0" {
		t.Errorf("3 starts from %v, want the result of 0", got)
	}
	if got := fmt.Sprint(r.nodes[1].status, r.nodes[2].status); got != "done done" {
		t.Errorf("1 and 2 are %s", got)
	}
}

// BenchmarkDoneChain begins a run in which a long chain is done by the plan: the
// cost of a node must not grow with the chain.
func BenchmarkDoneChain(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) {
			epic := chain(n, func(int) bool { return true })
			for b.Loop() {
				r, err := New(epic)
				if err != nil {
					b.Fatal(err)
				}
				if err := r.Apply(executor.Event{Seq: 1, Body: executor.RunStarted{Digest: "d", Base: executor.Tree{Commit: "b", Tree: "b"}, Slots: 1}}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/node")
		})
	}
}
