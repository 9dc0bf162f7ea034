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

// anyDecision makes up something that a person might say.
func anyDecision(rng *rand.Rand, r *Run, id int) (ir.NodeID, executor.Decision) {
	verbs := []executor.Verb{executor.Approve, executor.Reject, executor.RetryNode, executor.RetryNode, executor.Skip, executor.Pause, executor.Resume, executor.Resume, executor.Cancel}
	d := executor.Decision{ID: fmt.Sprint("d", id), Verb: verbs[rng.IntN(len(verbs))], By: "ann", User: "u"}
	d.How = ways[d.Verb][rng.IntN(len(ways[d.Verb]))]
	if rng.IntN(3) > 0 {
		d.Message = "because"
	}
	if d.Verb == executor.Resume && rng.IntN(2) == 0 {
		d.Budget = ir.Budget{Tokens: 1000, WallMS: 1000}
	}
	if rng.IntN(8) == 0 && (d.Verb != executor.Cancel || rng.IntN(4) == 0) {
		return "", d
	}
	return r.nodes[rng.IntN(len(r.nodes))].id, d
}

// asDecision is one of NodeView.Ways, said by somebody.
func asDecision(w Way, id int) (executor.Decision, bool) {
	d, is := w.Decision()
	d.ID, d.By, d.User = fmt.Sprint("w", id), "ann", "u"
	if w.Message {
		d.Message = "text"
	}
	if w.Budget != "" {
		d.Budget = ir.Budget{Tokens: 1 << 40, USDMicro: 1 << 40, WallMS: 1 << 40}
	}
	return d, is
}

// stir lets a person say something at random; what is refused changes nothing.
func (s *sim) stir() {
	s.t.Helper()
	s.said++
	node, d := anyDecision(s.rng, s.run, s.said)
	if v := s.run.Views()[s.rng.IntN(len(s.run.Views()))]; s.rng.IntN(2) == 0 && len(v.Ways) > 0 { // something that applies
		if w, ok := asDecision(v.Ways[s.rng.IntN(len(v.Ways))], 0); ok {
			w.ID = d.ID
			node, d = v.ID, w
		}
	}
	look := s.said%16 == 0
	before := ""
	if look {
		before = shownAll(s.t, s.run)
	}
	bound, err := s.run.Decisions().Consider(node, d, s.now)
	if look {
		if after := shownAll(s.t, s.run); after != before {
			s.t.Fatalf("to consider %s of %s changed\n%s\nto\n%s", d.Verb, node, before, after)
		}
	}
	if err == nil {
		s.put(executor.Event{Node: node, Body: executor.Decided{Decision: bound}})
	}
}

// everyWayWorks checks that what a view offers is not refused.
func (s *sim) everyWayWorks() {
	s.t.Helper()
	for _, v := range s.run.Views() {
		for i, w := range v.Ways {
			d, ok := asDecision(w, i)
			node := v.ID
			if w.Key == "" {
				node = ""
			}
			if _, err := s.run.Decisions().Consider(node, d, s.now); ok && err != nil {
				s.t.Fatalf("%s is %s (%s): %q is offered and refused: %v", v.Key, v.Status, v.Cause, w.Command(), err)
			}
		}
	}
}

// TestAnyDecisionAtAnyTime lets people say anything at any moment of random
// epics with random results and crashes: the machine is never stuck, never in an
// illegal state, and a replay gives the same.
func TestAnyDecisionAtAnyTime(t *testing.T) { // execution §5, §9
	n := uint64(1500)
	if testing.Short() {
		n = 200
	}
	for seed := range n {
		rng := rand.New(rand.NewPCG(seed, 77))
		epic := randomEpic(rng, 8)
		withPeople(rng, epic)
		s := &sim{t: t, rng: rng, epic: epic, now: time.UnixMilli(0).UTC()}
		run, err := New(epic)
		if err != nil {
			t.Fatal(err)
		}
		s.run = run
		for range rng.IntN(3) {
			s.stir()
		}
		s.startAny()
		for ends := 0; ends < 6 && len(s.events) < 500; {
			if rng.IntN(8) == 0 {
				s.stir()
			}
			if rng.IntN(60) == 0 {
				s.everyWayWorks()
			}
			todo := s.run.Todo(s.now)
			OwnParts(s.t, todo.Start)
			if todo.Stuck != "" {
				t.Fatalf("seed %d: stuck: %s", seed, todo.Stuck)
			}
			switch {
			case rng.IntN(80) == 0:
				s.crash()
				s.startAny()
			case len(todo.Record) > 0:
				s.put(todo.Record[0])
			case len(todo.Stop) > 0 && rng.IntN(2) == 0:
				s.end(todo.Stop[0], executor.EffectFailed{Class: executor.FailInterrupted, Gate: todo.Stop[0].Gate, Detail: "stopped"})
			case len(todo.Start) > 0:
				e := todo.Start[0]
				s.put(executor.Event{Node: e.Node, Step: e.Step, Attempt: e.Attempt, Body: executor.EffectStarted{Kind: e.Kind, Gate: e.Gate, Iteration: e.Iteration, Redo: e.Redo}})
				s.flying = append(s.flying, e)
			case len(s.flying) > 0:
				e := s.flying[rng.IntN(len(s.flying))]
				s.end(e, s.anyReport(e))
			case todo.Done:
				ends++
				s.put(executor.Event{Body: executor.RunEnded{Counts: s.run.Summary().Counts()}})
				s.stir()
				s.crash()
				s.startAny()
			case !todo.Wake.IsZero():
				s.now = todo.Wake
			default:
				s.stir()
			}
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
		s.everyWayWorks()
	}
}

// startAny begins a run in one of the ways that there are.
func (s *sim) startAny() {
	s.t.Helper()
	b := executor.RunStarted{
		Epic: "bd-e", Digest: s.epic.Digest, Base: executor.Tree{Commit: "base", Tree: "base"}, Slots: 1 + s.rng.IntN(4), By: "me",
		Wait: s.rng.IntN(4) == 0, Head: "head",
	}
	some := func() []ir.NodeID { return []ir.NodeID{s.epic.Nodes[s.rng.IntN(len(s.epic.Nodes))].ID} }
	switch s.rng.IntN(8) {
	case 0:
		b.Rerun = some()
	case 1:
		b.Only = some()
	case 2:
		b.Base = executor.Tree{Commit: "base2", Tree: "base2"}
	}
	s.put(executor.Event{Body: b})
}

func (s *sim) end(e executor.Effect, b executor.Body) {
	s.t.Helper()
	i := slices.IndexFunc(s.flying, func(f executor.Effect) bool { return f.Key("") == e.Key("") })
	if i < 0 {
		s.t.Fatalf("%s of %s is not in flight", e.Kind, e.Node)
	}
	s.flying = slices.Delete(s.flying, i, i+1)
	s.now = s.now.Add(time.Duration(s.rng.IntN(500)) * time.Millisecond)
	s.put(executor.Event{Node: e.Node, Step: e.Step, Attempt: e.Attempt, Body: b})
}

// anyReport makes up what a worker says, whatever the mode and the effect.
func (s *sim) anyReport(e executor.Effect) executor.Body {
	rng := s.rng
	mark := fmt.Sprint(s.run.Seq())
	fail := func(c executor.FailureClass) executor.Body {
		return executor.EffectFailed{Class: c, Detail: "bad luck", Gate: e.Gate, Head: executor.Tree{Commit: "h" + mark, Tree: "h" + mark}, Paths: []string{"a"}}
	}
	tokens := int64(rng.IntN(300))
	use := executor.Usage{Tokens: &tokens}
	switch bad := rng.IntN(10) == 0; {
	case bad && (e.Kind == executor.EffectBase || e.Kind == executor.EffectPrepare && e.Merge):
		return fail(executor.FailConflict)
	case bad && e.Kind == executor.EffectPublish && e.Node == executor.Integration && e.Old != "":
		return fail(executor.FailForeign)
	case bad && e.Kind == executor.EffectLand:
		return fail(executor.FailMoved)
	case bad && e.Kind == executor.EffectCollect && e.Merge:
		return fail(executor.FailProtected)
	case bad && e.Agent != "":
		return fail(executor.FailLimit)
	}
	switch e.Kind {
	case executor.EffectBase:
		return executor.BaseMade{Base: executor.Tree{Commit: "m" + mark, Tree: "t" + mark}, Head: "head" + mark}
	case executor.EffectAgent:
		switch rng.IntN(6) {
		case 0:
			return executor.AgentEnded{Agent: e.Agent, Outcome: executor.Outcome{Result: "partial", NeedsHuman: true, Summary: "?"}, End: executor.EndExited, Usage: use, Millis: 10}
		case 1:
			return executor.AgentEnded{Agent: e.Agent, Outcome: executor.Outcome{Result: "success"}, End: executor.EndExited, Usage: use, Millis: 10}
		case 2:
			return executor.AgentEnded{Agent: e.Agent, Outcome: executor.Outcome{Result: "failed", Fatal: rng.IntN(20) == 0}, End: executor.EndExited}
		}
	case executor.EffectRed:
		return executor.GateJudged{Gate: e.Gate, Red: true, Verdict: []executor.Verdict{executor.Fail, executor.Fail, executor.Pass, executor.ErrorJudged}[rng.IntN(4)], Tests: "skip"}
	case executor.EffectDiagnose:
		return executor.Diagnosed{Action: []string{"retry", "fail", "human", ""}[rng.IntN(4)], Note: "n", Agent: e.Agent, Usage: use}
	case executor.EffectLand:
		return executor.Landed{Head: executor.Tree{Commit: e.Commit, Tree: "t" + e.Commit}}
	case executor.EffectPull:
		return executor.Pulled{Pull: executor.Pull{Number: 1, URL: "u"}}
	case executor.EffectPoll:
		return executor.PullSeen{State: []string{"open", "merged", "closed"}[rng.IntN(3)], Head: executor.Tree{Commit: "h" + mark, Tree: "h" + mark}, Comment: "c"}
	}
	b := s.report(e)
	if f, ok := b.(executor.EffectFailed); ok {
		f.Gate = e.Gate
		return f
	}
	return b
}

// withPeople adds to an epic what people have to do with.
func withPeople(rng *rand.Rand, e *ir.Epic) {
	e.Run.OnExceed = []string{"pause", "stop"}[rng.IntN(2)]
	if rng.IntN(3) == 0 {
		e.Run.Budget = ir.Budget{Tokens: 2000, WallMS: 20_000}
	}
	in := &e.Epic.Integration
	in.Mode = []string{"dag", "dag", "branch", "wait"}[rng.IntN(4)]
	in.PR = []string{"none", "none", "node", "plan"}[rng.IntN(4)]
	if rng.IntN(2) == 0 {
		in.Gates, in.ConflictAgent = []string{"g"}, []string{"", "a"}[rng.IntN(2)]
	}
	e.Agents["human"] = ir.Agent{Human: true}
	e.Gates["h"] = ir.Gate{Kind: "command", OnFailure: "stop", RedFirst: rng.IntN(4) == 0}
	e.Gates["qa"] = ir.Gate{Kind: "agent", Agent: "b"}
	e.Gates["person"] = ir.Gate{Kind: "human", Approvers: []string{"ann"}, OnTimeout: "fail"}
	for i := range e.Nodes {
		n := &e.Nodes[i]
		if len(n.Steps) == 0 { // every compiled node has one
			n.Steps = []ir.Step{{Name: "s0", Agent: "a", Access: "write", Next: "s0", Limits: ir.StepLimits{Attempts: 1}}}
		}
		for k := range n.Steps {
			s := &n.Steps[k]
			s.Stall.Action, s.Stall.Agent = []string{"fail", "diagnose"}[rng.IntN(2)], "b"
			switch rng.IntN(6) {
			case 0:
				s.Agent = "human"
			case 1:
				s.Agent, s.Access = "", "read"
			case 2:
				s.Gates = append([]string{"qa"}, s.Gates...)
			case 3:
				s.Fallback = []string{"b"}
			}
		}
		switch rng.IntN(6) {
		case 0:
			n.Kind = []ir.Kind{ir.Manual, ir.GateKind, ir.Merge}[rng.IntN(3)]
			n.Steps = slices.Clip(n.Steps[:min(len(n.Steps), 1)])
		case 1:
			n.Limits.Budget = ir.Budget{Tokens: 500, WallMS: 3000}
		case 2:
			n.Limits.Deadline = "1970-01-01T00:00:10Z"
		case 3:
			if len(n.Steps) > 0 {
				s := &n.Steps[len(n.Steps)-1]
				s.Gates = append(slices.Clone(s.Gates), "person")
			}
		}
	}
}

// TestDecisionsSurviveAChangedEpic goes on with another epic.json, of which
// people say something before its first run: the record can always be read.
func TestDecisionsSurviveAChangedEpic(t *testing.T) { // execution §2, §5
	n := uint64(600)
	if testing.Short() {
		n = 100
	}
	for seed := range n {
		rng := rand.New(rand.NewPCG(seed, 78))
		epics := make([]*ir.Epic, 3)
		for i := range epics {
			epics[i] = randomEpic(rng, 8)
			withPeople(rng, epics[i])
			epics[i].Digest = fmt.Sprint("d", i)
		}
		s := &sim{t: t, rng: rng, epic: epics[0], now: time.UnixMilli(0).UTC()}
		s.run, _ = New(epics[0])
		s.startAny()
		for _, next := range []*ir.Epic{epics[0], epics[1], epics[0], epics[2]} { // changed, changed back, changed
			s.flying = nil
			run, err := New(next)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range s.events {
				if err := run.Apply(e); err != nil {
					t.Fatalf("seed %d: an old event under the new epic: %v", seed, err)
				}
			}
			s.epic, s.run = next, run
			for range rng.IntN(4) {
				s.stir()
			}
			s.everyWayWorks()
			s.crash()
			s.startAny()
			for range 150 {
				if rng.IntN(10) == 0 {
					s.stir()
				}
				if !s.step() {
					break
				}
			}
		}
	}
}

// step does the next thing; false when the run is done, or waits for people.
func (s *sim) step() bool {
	s.t.Helper()
	todo := s.run.Todo(s.now)
	OwnParts(s.t, todo.Start)
	switch {
	case todo.Stuck != "":
		s.t.Fatalf("stuck: %s", todo.Stuck)
	case len(todo.Record) > 0:
		s.put(todo.Record[0])
	case len(todo.Stop) > 0:
		s.end(todo.Stop[0], executor.EffectFailed{Class: executor.FailInterrupted, Gate: todo.Stop[0].Gate, Detail: "stopped"})
	case len(todo.Start) > 0:
		e := todo.Start[0]
		s.put(executor.Event{Node: e.Node, Step: e.Step, Attempt: e.Attempt, Body: executor.EffectStarted{Kind: e.Kind, Gate: e.Gate, Iteration: e.Iteration, Redo: e.Redo}})
		s.flying = append(s.flying, e)
	case len(s.flying) > 0:
		e := s.flying[s.rng.IntN(len(s.flying))]
		s.end(e, s.anyReport(e))
	case todo.Done || todo.Wake.IsZero():
		return false
	default:
		s.now = todo.Wake
	}
	return true
}
