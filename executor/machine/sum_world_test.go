package machine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// sumWorld is a repository in which a person moves and deletes the integration branch
// between runs, and changes texts of sprints that may fail then.
type sumWorld struct {
	*sim
	at     string          // where the branch is, "" if there is none
	may    map[string]bool // what was named to a person, who said that it may leave
	theirs map[string]bool // commits of others that were accepted
	texts  []int
	made   int // sums
	voiced map[string]int
}

// TestTheBranchOverManyRuns compares what is said of the integration branch with what
// it holds, after every event, and lets no result leave that a failure would take.
func TestTheBranchOverManyRuns(t *testing.T) { // execution §5 (the sum)
	made, voiced := 0, map[string]int{}
	for seed := range seeds(t, 300) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 21))
			w := &sumWorld{sim: &sim{t: t, rng: rng, now: time.UnixMilli(0).UTC()}, may: map[string]bool{}, theirs: map[string]bool{}, texts: make([]int, 2+rng.IntN(4)), voiced: voiced}
			shape := rng.Uint64()
			for range 3 + rng.IntN(6) {
				w.change(shape)
				w.meddle()
				w.apply()
				for range rng.IntN(4) {
					w.decide()
				}
				if t.Failed() {
					return
				}
			}
			made += w.made
		})
	}
	t.Logf("%d sums; %v", made, voiced)
	for _, v := range []string{"approve", "retry", "cancel", "skip", "deleted", "added", "back", "elsewhere", "foreign commits", "older results", "accepted commits leave"} {
		if voiced[v] < 5 {
			t.Errorf("%s happened %d times", v, voiced[v])
		}
	}
}

// change goes on with other texts of some sprints.
func (w *sumWorld) change(shape uint64) {
	rng := rand.New(rand.NewPCG(shape, 3)) // the same sprints and edges
	e := &ir.Epic{Epic: ir.Header{ID: "bd-e", Integration: ir.Integration{Mode: "dag", Branch: "i"}}, Agents: map[string]ir.Agent{"a": {Runner: "r"}}, Runners: map[string]ir.Runner{"r": {Concurrent: 2}}}
	for i := range w.texts {
		if w.rng.IntN(4) == 0 {
			w.texts[i]++
		}
		n := ir.Node{ID: ir.NodeID(fmt.Sprintf("bd-%d", i)), Key: ir.Key(fmt.Sprint(i)), Kind: ir.Work, Digest: ir.NodeDigest{Work: fmt.Sprintf("w%d.%d", i, w.texts[i]), Judge: "j"}}
		n.Steps = []ir.Step{{Name: "s0", Agent: "a", Access: "write", Session: "fresh", GateMode: "parallel", OnFailure: "keep", Next: "s0", Limits: ir.StepLimits{Attempts: 1, Iterations: 1}}}
		for d := range i {
			if rng.IntN(3) == 0 {
				n.After = append(n.After, ir.Edge{Key: ir.Key(fmt.Sprint(d)), Type: ir.Blocks})
			}
		}
		e.Nodes = append(e.Nodes, n)
	}
	e.Digest = fmt.Sprint("d", w.texts)
	run, err := New(e)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, ev := range w.events {
		if err := run.Apply(ev); err != nil {
			w.t.Fatalf("replay: %v", err)
		}
	}
	w.epic, w.run, w.flying = e, run, nil
}

// meddle is what somebody does with the branch while no run is at work.
func (w *sumWorld) meddle() {
	if w.at == "" || w.rng.IntN(3) > 0 {
		return
	}
	m := &w.branch
	head := fmt.Sprintf("f%d", w.run.Seq())
	switch w.rng.IntN(4) {
	case 0:
		w.at = ""
		w.voiced["deleted"]++
	case 1:
		m.parents[head], w.at = []string{w.at}, head
		w.voiced["added"]++
	case 2:
		var before []string
		for c := range m.ancestors(w.at) {
			before = append(before, c)
		}
		slices.Sort(before)
		w.at = before[w.rng.IntN(len(before))]
		w.voiced["back"]++
	default:
		for _, c := range w.run.results() {
			if w.rng.IntN(3) == 0 {
				m.parents[head] = append(m.parents[head], c)
			}
		}
		w.at = head
		w.voiced["elsewhere"]++
	}
}

// apply makes a run to its end.
func (w *sumWorld) apply() {
	w.put(executor.Event{Body: executor.RunStarted{Epic: "bd-e", Digest: w.epic.Digest, Base: executor.Tree{Commit: "base", Tree: "base"}, Slots: 4, Head: w.at, By: "me"}})
	for range 2000 {
		todo := w.run.Todo(w.now)
		switch {
		case todo.Stuck != "":
			w.t.Fatalf("stuck: %s", todo.Stuck)
		case len(todo.Record) > 0:
			w.put(todo.Record[0])
			if b, waits := todo.Record[0].Body.(executor.NodeWaiting); waits && todo.Record[0].Node == executor.Integration {
				w.voiced[string(b.Cause)]++
			}
		case len(todo.Start) > 0:
			e := todo.Start[0]
			w.put(executor.Event{Node: e.Node, Step: e.Step, Attempt: e.Attempt, Body: executor.EffectStarted{Kind: e.Kind, Gate: e.Gate, Iteration: e.Iteration, Redo: e.Redo}})
			w.flying = append(w.flying, e)
		case len(w.flying) > 0:
			e := w.flying[0]
			w.flying = w.flying[1:]
			w.put(executor.Event{Node: e.Node, Step: e.Step, Attempt: e.Attempt, Body: w.does(e)})
		case todo.Done:
			if v, _ := w.run.View(executor.Integration); v.Status == executor.Done && v.Result.Commit != w.at {
				w.t.Errorf("the branch is said to be at %q and is at %q", v.Result.Commit, w.at)
			}
			w.put(executor.Event{Body: executor.RunEnded{Counts: w.run.Summary().Counts()}})
			return
		default:
			w.now = todo.Wake
		}
	}
	w.t.Fatal("the run does not end")
}

// does is what becomes of an effect.
func (w *sumWorld) does(e executor.Effect) executor.Body {
	mark := fmt.Sprint(w.run.Seq())
	switch {
	case e.Kind == executor.EffectBase:
		return executor.BaseMade{Base: executor.Tree{Commit: "m" + mark, Tree: "t" + mark}}
	case e.Kind == executor.EffectPrepare:
		return executor.Prepared{}
	case e.Kind == executor.EffectAgent:
		return executor.AgentEnded{Agent: e.Agent, End: executor.EndExited, Outcome: executor.Outcome{Result: []string{"success", "success", "failed"}[w.rng.IntN(3)]}}
	case e.Kind == executor.EffectCollect:
		return executor.Collected{Result: executor.Tree{Commit: "c" + mark, Tree: "t" + mark}}
	case e.Node != executor.Integration || w.at == "" || w.at == e.Old || w.at == e.Commit:
		if e.Node == executor.Integration {
			w.loses(e.Commit)
			w.at = e.Commit
			w.made++
			clear(w.may)
		}
		return executor.Published{Result: executor.Tree{Commit: e.Commit, Tree: "t" + e.Commit}}
	case e.Old == "":
		return executor.EffectFailed{Class: executor.FailConfig, Detail: "it is not ralph's"}
	}
	f := executor.EffectFailed{Class: executor.FailForeign, Head: executor.Tree{Commit: w.at, Tree: "t" + w.at}, Holds: []string{}, Back: w.branch.ancestors(e.Old)[w.at]}
	holds := w.branch.ancestors(w.at)
	for _, c := range e.Known {
		if holds[c] {
			f.Holds = append(f.Holds, c)
		}
	}
	return f
}

// loses checks what leaves the branch when it moves.
func (w *sumWorld) loses(to string) {
	before, after := w.branch.ancestors(w.at), w.branch.ancestors(to)
	if w.at == "" {
		return
	}
	for c := range w.theirs {
		if before[c] && !after[c] && !w.named(c) {
			w.t.Errorf("the branch goes from %s to %s and loses %s of others, which was accepted and not named", w.at, to, c)
		}
	}
	for _, n := range w.run.nodes {
		if s := n.shown(); n.sum || s == executor.Done || s == executor.Skipped || s == executor.Cancelled || w.onlyCancelled(n) {
			continue
		}
		for _, x := range n.successes {
			if c := x.result.Commit; before[c] && !after[c] && !w.may[c] {
				w.t.Errorf("the branch goes from %s to %s and loses %s of %s, which is %s and was not named", w.at, to, c, n.ir.Key, n.status)
			}
		}
	}
}

// named reports whether a person let a commit of others leave, or what is on top of it.
func (w *sumWorld) named(c string) bool {
	for m := range w.may {
		if w.branch.ancestors(m)[c] {
			return true
		}
	}
	return false
}

// decide is a person's word about a sprint or the sum.
func (w *sumWorld) decide() {
	var ids []ir.NodeID
	for _, v := range w.run.Views() {
		ids = append(ids, v.ID)
	}
	ids = append(ids, executor.Integration, executor.Integration)
	id := ids[w.rng.IntN(len(ids))]
	d := executor.Decision{Verb: []executor.Verb{executor.Approve, executor.RetryNode, executor.RetryNode, executor.Skip, executor.Cancel}[w.rng.IntN(5)], By: "ann", At: w.now}
	if id != executor.Integration && d.Verb == executor.RetryNode && w.rng.IntN(3) == 0 {
		d.How = executor.KeepOld
	}
	if w.run.sum.node.waitsFor(executor.CauseForeign) && w.rng.IntN(2) == 0 {
		id, d = executor.Integration, executor.Decision{Verb: executor.Approve, By: "ann", At: w.now}
	}
	bound, err := w.run.Decisions().Consider(id, d, w.now)
	if err != nil {
		return
	}
	w.voiced[string(d.Verb)]++
	switch n := w.run.sum.node; {
	case id != executor.Integration:
	case n.waitsFor(executor.CauseOlder):
		for _, c := range n.wait.Loses {
			w.may[c] = true
			if w.theirs[c] {
				w.voiced["accepted commits leave"]++
			}
		}
	case n.waitsFor(executor.CauseForeign) && d.Verb == executor.Approve:
		for c := range w.branch.ancestors(w.run.sum.foreignHead.Commit) {
			if c[0] == 'f' {
				w.theirs[c] = true
			}
		}
	}
	w.put(executor.Event{Node: id, Body: executor.Decided{Decision: bound}})
}
