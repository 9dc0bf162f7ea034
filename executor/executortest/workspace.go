package executortest

import (
	"bytes"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// WorkspaceContract is what every workspace must do, for an epic with the nodes
// "bd-1-1", "bd-1-2" and "bd-1-3", which needs both. base is where roots start;
// work changes something in a node's directory, never the same for two nodes.
func WorkspaceContract(t *testing.T, ws executor.Workspace, base executor.Tree, work func(t *testing.T, node ir.NodeID, dir string)) {
	t.Helper()
	ctx := t.Context()
	seq := int64(0)
	effect := func(kind executor.EffectKind, node ir.NodeID, e executor.Effect) executor.Effect {
		seq++
		e.Kind, e.Node, e.Base, e.Seq = kind, node, base.Commit, seq
		if kind != executor.EffectBase && kind != executor.EffectPublish {
			e.Step, e.Attempt, e.Start = "implement", 1, base.Commit
		}
		return e
	}
	var results []executor.Result
	for _, id := range []ir.NodeID{"bd-1-1", "bd-1-2"} {
		prepare := effect(executor.EffectPrepare, id, executor.Effect{Commit: base.Commit})
		for _, redo := range []bool{false, true} {
			prepare.Redo = redo
			if _, err := ws.Prepare(ctx, prepare); err != nil {
				t.Fatalf("prepare %s (again %v): %v", id, redo, err)
			}
		}
		work(t, id, ws.Dir(id))
		collect := effect(executor.EffectCollect, id, executor.Effect{Commit: base.Commit})
		made, err := ws.Collect(ctx, collect, executor.Outcome{Result: "success"})
		if err != nil || len(made.Problems) > 0 || made.Result.Commit == base.Commit || made.Result.Tree == base.Tree {
			t.Fatalf("collect %s: %+v, %v", id, made, err)
		}
		collect.Redo = true
		if again, err := ws.Collect(ctx, collect, executor.Outcome{Result: "success"}); err != nil || again.Result != made.Result {
			t.Errorf("collect %s again: %+v, %v; want %+v", id, again.Result, err, made.Result)
		}
		for _, apart := range []bool{false, true} {
			gate := effect(executor.EffectGate, id, executor.Effect{Commit: made.Result.Commit, Gate: "check", OfGate: executor.OfGate{Apart: apart}})
			if _, err := ws.Open(ctx, gate); err != nil {
				t.Fatalf("open %s (apart %v): %v", id, apart, err)
			}
			if trace, err := ws.Close(ctx, gate); err != nil || len(trace.New)+len(trace.Changed) > 0 {
				t.Errorf("close %s (apart %v): %+v, %v; nothing was changed", id, apart, trace, err)
			}
		}
		var diff bytes.Buffer
		if err := ws.Diff(ctx, base.Commit, made.Result.Commit, &diff); err != nil || diff.Len() == 0 {
			t.Errorf("diff of %s: %q, %v", id, diff.String(), err)
		}
		if edited, err := ws.Edited(ctx, id); err != nil || edited {
			t.Errorf("edited %s: %v, %v; nobody was there", id, edited, err)
		}
		publish := effect(executor.EffectPublish, id, executor.Effect{Commit: made.Result.Commit})
		for range 2 {
			if p, err := ws.Publish(ctx, publish); err != nil || p.Result != made.Result {
				t.Errorf("publish %s: %+v, %v; want %+v", id, p.Result, err, made.Result)
			}
		}
		results = append(results, executor.Result{Node: id, Tree: made.Result})
	}
	merge := effect(executor.EffectBase, "bd-1-3", executor.Effect{Inputs: results})
	merge.Base = ""
	one, err := ws.Base(ctx, merge)
	if err != nil || one.Base.Commit == "" || one.Base.Tree == "" {
		t.Fatalf("base: %+v, %v", one, err)
	}
	if two, err := ws.Base(ctx, merge); err != nil || two != one {
		t.Errorf("the same inputs give %+v, %v; then %+v", one, err, two)
	}
	for _, r := range results {
		if one.Base.Tree == r.Tree.Tree {
			t.Errorf("the merge is the result of %s alone", r.Node)
		}
	}
	if dir := ws.Dir("bd-1-1"); dir == "" || dir == ws.Dir("bd-1-2") {
		t.Errorf("directory %q of a node is not its own", dir)
	}
}
