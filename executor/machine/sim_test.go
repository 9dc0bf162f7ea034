package machine

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// randomEpic has up to n nodes with edges to earlier ones, lanes and limits.
func randomEpic(rng *rand.Rand, n int) *ir.Epic {
	e := &ir.Epic{
		Epic: ir.Header{ID: "bd-e", Integration: ir.Integration{
			Mode: []string{"dag", "dag", "branch", "wait"}[rng.IntN(4)], Branch: "i", PR: []string{"none", "plan", "node"}[rng.IntN(3)],
			ConflictAgent: []string{"", "b"}[rng.IntN(2)], Gates: []string{"g", "q"}[:rng.IntN(3)],
		}},
		Agents:  map[string]ir.Agent{"a": {Runner: "r"}, "b": {Runner: "s"}},
		Runners: map[string]ir.Runner{"r": {Concurrent: 2}, "s": {RPM: rng.IntN(3)}},
		Gates: map[string]ir.Gate{
			"g": {Kind: "command"}, "h": {Kind: "command", OnFailure: "stop"}, "q": {Kind: "agent", Agent: "b", Fallback: []string{"a"}},
			"v": {Kind: "review", Agent: "a", OnFailure: "continue"}, "red": {Kind: "command", RedFirst: true},
			"u": {Kind: "human", TimeoutMS: 60_000, OnTimeout: []string{"fail", "stop"}[rng.IntN(2)]},
		},
		Run: ir.Run{
			Concurrency: ir.Concurrency{PerLane: map[string]int{"x": 1}},
			HITL:        ir.HITL{OnHumanMessage: []string{"pause", "review", "cooldown"}[rng.IntN(3)]},
		},
		Digest: "d",
	}
	if rng.IntN(2) == 0 {
		budgets(rng, e)
	}
	for i := range 1 + rng.IntN(n) {
		node := ir.Node{
			ID: ir.NodeID(fmt.Sprintf("bd-%d", i)), Key: ir.Key(fmt.Sprint(i)), Kind: ir.Work, Lane: []string{"", "x", "y"}[rng.IntN(3)],
			Priority: rng.IntN(3), Done: rng.IntN(8) == 0,
		}
		for s := range rng.IntN(3) {
			node.Steps = append(node.Steps, ir.Step{
				Name: fmt.Sprintf("s%d", s), Agent: []string{"a", "b"}[rng.IntN(2)], Access: []string{"write", "write", "read"}[rng.IntN(3)],
				Gates: someGates(rng), Session: []string{"fresh", "resume"}[rng.IntN(2)], Fallback: []string{"b"}[:rng.IntN(2)],
				Stall:    ir.Stall{Action: []string{"fail", "diagnose"}[rng.IntN(2)], Agent: "b"},
				GateMode: []string{"parallel", "ordered"}[rng.IntN(2)], OnFailure: []string{"keep", "reset"}[rng.IntN(2)], Next: fmt.Sprintf("s%d", rng.IntN(s+1)),
				Limits: ir.StepLimits{Attempts: 1 + rng.IntN(3), Iterations: 1 + rng.IntN(2), Breaker: rng.IntN(3), RunnerRetries: rng.IntN(3)},
				Retry:  ir.Retry{Backoff: "exponential", InitialMS: int64(rng.IntN(2000)), MaxMS: 5000, JitterPercent: 20},
			})
		}
		if e.Run.OnExceed != "" {
			node.Limits.Budget = ir.Budget{USDMicro: int64(rng.IntN(3) * 800), Tokens: int64(rng.IntN(2) * 2000)}
		}
		node.Digest = ir.NodeDigest{Work: fmt.Sprintf("w%d", i), Judge: "j"}
		for _, s := range node.Steps {
			node.Digest.Work += s.Name + s.Access
			node.Digest.Judge += fmt.Sprint(s.Gates, s.GateMode)
		}
		for d := range i {
			if rng.IntN(i+1) < 2 {
				node.After = append(node.After, ir.Edge{Key: ir.Key(fmt.Sprint(d)), Type: ir.Blocks})
			}
		}
		e.Nodes = append(e.Nodes, node)
	}
	return e
}

// longIDs gives every fourth epic ids that are so long that two of them make a list too
// long for one event.
func longIDs(seed uint64, e *ir.Epic) *ir.Epic {
	for i := range e.Nodes {
		if seed%4 == 0 {
			e.Nodes[i].ID += ir.NodeID(strings.Repeat("x", 1600))
		}
	}
	return e
}

// budgets limits what the run may cost, and says of some agents what they do.
func budgets(rng *rand.Rand, e *ir.Epic) {
	e.Run.Budget = ir.Budget{USDMicro: int64(rng.IntN(3) * 4000), Tokens: int64(rng.IntN(3) * 6000)}
	e.Run.OnExceed = []string{"pause", "pause", "stop"}[rng.IntN(3)]
	for _, name := range []string{"a", "b"} {
		if rng.IntN(2) == 0 {
			continue
		}
		a := e.Agents[name]
		usd, tokens := int64(rng.IntN(3)*300), int64(100)
		a.Expect = []*ir.Cost{{USDMicro: &usd}, {USDMicro: &usd, Tokens: &tokens}}[rng.IntN(2)]
		e.Agents[name] = a
	}
}

// someGates picks few gates, each at most once, in any order.
func someGates(rng *rand.Rand) []string {
	all := []string{"g", "h", "q", "v", "red", "u"}
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:rng.IntN(4)]
}

// check compares what the machine keeps incrementally with a scan of all nodes.
func check(t *testing.T, r *Run) {
	t.Helper()
	if r.runs.foreign {
		return
	}
	running, lanes, agents := 0, map[string]int{}, map[string]int{}
	var active, flying, timers, expires, ready []int
	for i, n := range r.nodes {
		settled := true
		for _, d := range n.deps {
			if s := r.nodes[d].status; s != executor.Done && s != executor.Skipped {
				settled = false
			}
		}
		if n.status == executor.Running {
			running++
			lanes[n.ir.Lane]++
			if !settled {
				t.Errorf("node %s runs before what it needs is there", n.ir.Key)
			}
		}
		if len(n.life.flight) > 0 {
			flying = append(flying, i)
			for _, e := range n.life.flight {
				agents[r.asks(&e)]++
			}
		}
		if n.status == executor.Running && (len(n.life.flight) == 0 || n.life.stage == stageGate) {
			active = append(active, i)
		}
		if n.status == executor.Waiting && n.wait.Timed() {
			timers = append(timers, i)
		}
		if n.status == executor.Waiting && n.wait.For == executor.ForHuman && !n.wait.Until.IsZero() {
			expires = append(expires, i)
		}
		inTree := 0
		for _, e := range n.life.flight {
			if n.status == executor.Waiting {
				t.Errorf("node %s waits while %s is in flight", n.ir.Key, e.Kind)
			}
			if e.Kind != executor.EffectGate && len(n.life.flight) > 1 {
				t.Errorf("node %s: %s is in flight beside others", n.ir.Key, e.Kind)
			}
			if !e.Apart {
				inTree++
			}
		}
		if inTree > 1 {
			t.Errorf("node %s: %d effects work in its worktree", n.ir.Key, inTree)
		}
		if n.accepted != nil && n.accepted.result.Commit == "" {
			t.Errorf("node %s is done without a result", n.ir.Key)
		}
		if n.status == executor.Ready {
			ready = append(ready, i)
		}
		if n.status == executor.Pending && settled && n.selected && !n.sum && n.people.paused == "" && !n.busy() {
			t.Errorf("node %s is pending and nothing holds it back", n.ir.Key)
		}
		if n.status == executor.Ready && !settled {
			t.Errorf("node %s is ready before what it needs is there", n.ir.Key)
		}
	}
	slices.SortFunc(timers, func(a, b int) int { return r.byUntil(a, r.nodes[b]) })
	slices.SortFunc(expires, func(a, b int) int { return r.byUntil(a, r.nodes[b]) })
	var queued []int
	for _, c := range r.queues.ready.classes {
		queued = append(queued, r.queues.ready.items[c]...)
	}
	slices.Sort(queued)
	for what, pair := range map[string][2][]int{
		"active": {active, r.queues.active}, "flying": {flying, r.queues.flying}, "timers": {timers, r.queues.timers}, "expires": {expires, r.queues.expires}, "ready": {ready, queued},
	} {
		if !slices.Equal(pair[0], pair[1]) {
			t.Errorf("%s: a scan finds %v, the machine keeps %v", what, pair[0], pair[1])
		}
	}
	var booked purse
	for _, n := range r.nodes {
		var own purse
		for _, e := range n.life.flight {
			if e.Agent != "" {
				own.book(e.Agent, e.Cost, 1)
				booked.book(e.Agent, e.Cost, 1)
			}
		}
		if !own.same(n.booked) {
			t.Errorf("node %s: %+v are in flight, %+v reserved", n.ir.Key, own, n.booked)
		}
	}
	if !booked.same(r.budget.booked) {
		t.Errorf("%+v are in flight, %+v reserved", booked, r.budget.booked)
	}
	if running != r.queues.running || r.queues.ready.n != len(ready) {
		t.Errorf("running %d, kept %d; ready %d, kept %d", running, r.queues.running, len(ready), r.queues.ready.n)
	}
	for lane, limit := range r.epic.Run.Concurrency.PerLane {
		if lanes[lane] != r.queues.lanes[lane] || lanes[lane] > limit {
			t.Errorf("lane %s: %d run, %d kept, %d allowed", lane, lanes[lane], r.queues.lanes[lane], limit)
		}
	}
	if agents["r"] != r.parks.agents["r"] || agents["r"] > 2 {
		t.Errorf("runner r: %d agents, %d kept, 2 allowed", agents["r"], r.parks.agents["r"])
	}
}

func (p purse) same(q purse) bool {
	return p.turns == q.turns && p.usd == q.usd && p.tokens == q.tokens && maps.Equal(p.noUSD, q.noUSD) && maps.Equal(p.noTokens, q.noTokens)
}

// sim drives a run with random results and random crashes.
type sim struct {
	t      *testing.T
	rng    *rand.Rand
	epic   *ir.Epic
	run    *Run
	events []executor.Event
	flying []executor.Effect
	now    time.Time
	said   int
	words  int   // that people have said
	skip   int64 // sequence numbers that are left out before the next event
	trees  map[ir.NodeID]tree
	was    executor.Effect // in flight before the last event
	done   executor.Effect // that the last event reported
	cost   ledger
	branch branchModel
	hands  map[ir.NodeID]bool // with work that a person handed in, not judged
	moves  bool               // the base, between runs
	old    bool               // reports do not say of which start they are
}

// handed follows what a person handed in: it is judged, or waits for the person, or is
// set aside by their own word. No agent begins on it. execution §5
func (s *sim) handed(e executor.Event) {
	s.t.Helper()
	if s.hands == nil {
		s.hands = map[ir.NodeID]bool{}
	}
	switch b := e.Body.(type) {
	case executor.RunRecovered: // a tracker keeps none
		clear(s.hands)
	case executor.Decided:
		if b.Verb == executor.RetryNode && e.Node != executor.Integration {
			s.hands[e.Node] = b.How == executor.GatesOnly
		}
	case executor.AttemptEnded:
		log := s.run.byID[e.Node].logs
		if last := log[len(log)-1]; last.Person != "" && last.Collected.Lacks == "" {
			s.hands[e.Node] = false
		}
	case executor.NodeDone:
		s.hands[e.Node] = false
	case executor.EffectStarted:
		if s.hands[e.Node] && b.Kind == executor.EffectAgent {
			s.t.Fatalf("an agent begins on %s, where a person's work was not judged", e.Node)
		}
	}
}

// tree is what lies in a node's worktree, as far as sessions go.
type tree struct {
	session, agent string          // that left it; "" if it was put back since, to what no session left
	commit         string          // that was collected of it; "" if none was
	at             map[string]tree // by commit: who left what was collected
}

// watch follows what happens to worktrees: a session is gone on with only on the
// tree that it left, by the agent whose session it is. execution §6
func (s *sim) watch(e executor.Event) {
	s.t.Helper()
	if s.trees == nil {
		s.trees = map[ir.NodeID]tree{}
	}
	w := s.trees[e.Node]
	n := s.run.byID[e.Node]
	flying := func(kind executor.EffectKind) executor.Effect {
		for _, f := range n.life.flight {
			if f.Kind == kind {
				return f
			}
		}
		return executor.Effect{}
	}
	switch b := e.Body.(type) {
	case executor.AgentSession:
		if f := flying(executor.EffectAgent); f.Kind == executor.EffectAgent && b.Gate == "" && f.Step == e.Step && f.Attempt == e.Attempt {
			w = tree{session: b.Session, agent: f.Agent, at: w.at}
		}
	case executor.AgentEnded:
		if b.Session != "" {
			w = tree{session: b.Session, agent: s.was.Agent, at: w.at}
		}
	case executor.Collected:
		w.commit = b.Result.Commit
		if w.at == nil {
			w.at = map[string]tree{}
		}
		w.at[w.commit] = tree{session: w.session, agent: w.agent, commit: w.commit}
	case executor.Prepared:
		if b.Anew {
			w = tree{at: w.at}
		}
	case executor.EffectStarted:
		switch f := flying(b.Kind); {
		case b.Kind == executor.EffectPrepare && !f.AsIs && !f.Person && f.Commit != w.commit:
			was := w.at[f.Commit]
			was.at = w.at
			w = was
		case b.Kind == executor.EffectAgent && f.Session != "" && (f.Session != w.session || f.Agent != w.agent):
			s.t.Errorf("%s of %s goes on in session %q of %s; in its worktree is what session %q of %s left", f.Step, e.Node, f.Session, f.Agent, w.session, w.agent)
		}
	}
	s.trees[e.Node] = w
}

// put records an event as a driver does.
func (s *sim) put(e executor.Event) {
	s.t.Helper()
	for _, e := range split(e) {
		s.apply(e)
	}
}

func (s *sim) apply(e executor.Event) {
	s.t.Helper()
	e.Seq, e.At = s.run.Seq()+1+s.skip, s.now
	s.skip = 0
	b, err := json.Marshal(e)
	if err != nil {
		s.t.Fatal(err)
	}
	var back executor.Event
	if err := json.Unmarshal(b, &back); err != nil {
		s.t.Fatal(err)
	}
	if !reflect.DeepEqual(back, e) {
		s.t.Fatalf("through JSON\n%+v\nbecame\n%+v", e, back)
	}
	s.was, s.done = executor.Effect{}, executor.Effect{}
	if n := s.run.byID[e.Node]; n != nil && len(n.life.flight) > 0 {
		s.was = n.life.flight[0]
		rep, _ := reportOf(e)
		for _, f := range n.life.flight {
			if f.Kind == rep.kind && f.Gate == rep.gate {
				s.done = f
			}
		}
	}
	if err := s.run.Apply(e); err != nil {
		s.t.Fatal(err)
	}
	s.reserves(e)
	s.events = append(s.events, e)
	s.follow(e)
	s.handed(e)
	if s.run.byID[e.Node] != nil {
		s.watch(e)
	}
	check(s.t, s.run)
}

// shownAll is everything that people see of a run.
func shownAll(t *testing.T, r *Run) string {
	t.Helper()
	b, err := json.Marshal([]any{r.Views(), r.Overview()})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// crash begins again with a new machine and the events that are on record.
func (s *sim) crash() {
	s.t.Helper()
	before := s.run
	run, err := New(s.epic)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range s.events {
		if err := run.Apply(e); err != nil {
			s.t.Fatalf("replay: %v", err)
		}
	}
	if got, want := shownAll(s.t, run), shownAll(s.t, before); got != want {
		s.t.Fatalf("replayed\n%s\nwas\n%s", got, want)
	}
	s.run, s.flying = run, nil
}

func (s *sim) start() {
	// "" is a branch that somebody deleted, sumMeant one that ralph had moved when it ended.
	head := []string{"", s.run.sum.ref, "theirs", cmp.Or(s.run.sum.meant, s.run.sum.ref)}[s.rng.IntN(4)]
	base := "base"
	if s.moves && s.rng.IntN(2) == 0 {
		base = "other base"
	}
	s.put(executor.Event{Body: executor.RunStarted{Epic: "bd-e", Digest: s.epic.Digest, Base: executor.Tree{Commit: base, Tree: base}, Slots: 1 + s.rng.IntN(4), Head: head, By: "me"}})
}

// begin puts on record that an effect begins. Workers of every other run say of
// which start they are, those of the others write as earlier releases did.
func (s *sim) begin(e executor.Effect) {
	s.t.Helper()
	s.put(e.Started())
	if e.Seq = s.run.Seq(); s.old {
		e.Seq = 0
	}
	s.flying = append(s.flying, e)
}

// report makes up what a worker says.
func (s *sim) report(e executor.Effect) executor.Body {
	if s.rng.IntN(12) == 0 {
		f := executor.EffectFailed{Class: []executor.FailureClass{executor.FailTransient, executor.FailInterrupted, executor.FailConfig, executor.FailLost}[s.rng.IntN(4)], Detail: "bad luck", Gate: e.Gate}
		if e.Agent != "" {
			f.Class = []executor.FailureClass{executor.FailTransient, executor.FailCrash, executor.FailLimit, executor.FailSession, executor.FailLost}[s.rng.IntN(5)]
		}
		if f.Class == executor.FailLimit && s.rng.IntN(2) == 0 {
			f.Until = s.now.Add(time.Duration(s.rng.IntN(100)-10) * time.Hour)
		}
		return f
	}
	mark := fmt.Sprint(s.run.Seq())
	switch e.Kind {
	case executor.EffectBase:
		if s.rng.IntN(3) == 0 {
			return executor.EffectFailed{Class: executor.FailConflict, Detail: "they do not merge", Paths: []string{"a.go"}}
		}
		return executor.BaseMade{Base: executor.Tree{Commit: "m" + mark, Tree: "t" + mark}, Head: "head" + mark}
	case executor.EffectPrepare:
		return executor.Prepared{Anew: e.AsIs && s.rng.IntN(3) == 0}
	case executor.EffectLand:
		if s.rng.IntN(4) == 0 {
			return executor.EffectFailed{Class: executor.FailMoved, Detail: "it moved", Head: executor.Tree{Commit: "head" + mark, Tree: "t" + mark}}
		}
		return executor.Landed{Head: executor.Tree{Commit: e.Commit, Tree: "t" + mark}}
	case executor.EffectPull:
		return executor.Pulled{Pull: executor.Pull{Number: 1, URL: "u"}}
	case executor.EffectPoll:
		return executor.PullSeen{State: []string{"open", "merged", "closed"}[s.rng.IntN(3)], Comment: "no"}
	case executor.EffectDiagnose:
		return executor.Diagnosed{Action: []string{"retry", "fail", "human", "?"}[s.rng.IntN(4)], Note: "n", Agent: e.Agent, Usage: s.usage(e)}
	case executor.EffectAgent:
		o := executor.Outcome{Result: []string{"success", "success", "partial", "failed", ""}[s.rng.IntN(5)], SuggestedNext: []string{"", "s0", "s1", "s9"}[s.rng.IntN(4)]}
		switch s.rng.IntN(25) {
		case 0:
			o.NeedsHuman = true
		case 1:
			o.Invalid = "no JSON"
		case 2:
			o.Promise = "DONE"
		case 3:
			o.Fatal = s.rng.IntN(5) == 0
		}
		return executor.AgentEnded{Agent: e.Agent, Usage: s.usage(e), Session: "h" + mark, Outcome: o, End: []executor.AgentEnd{executor.EndExited, executor.EndExited, executor.EndExited, executor.EndExited, executor.EndTimeout, executor.EndStalled, executor.EndTakenOver}[s.rng.IntN(7)], ExitCode: s.rng.IntN(2)}
	case executor.EffectCollect:
		c := executor.Collected{Result: executor.Tree{Commit: "c" + mark, Tree: "t" + mark}}
		if s.rng.IntN(5) == 0 {
			c.Problems = []string{"a problem"}
		}
		if e.Person && s.run.Seq()%5 == 0 {
			c.Lacks, c.Problems = "base", []string{"it lacks the base"}
		}
		return c
	case executor.EffectGate, executor.EffectRed:
		v := []executor.Verdict{executor.Pass, executor.Pass, executor.Pass, executor.Fail, executor.ErrorJudged, executor.Stop}[s.rng.IntN(6)]
		if e.Kind == executor.EffectRed {
			v = []executor.Verdict{executor.Fail, executor.Fail, executor.Fail, executor.Pass, executor.ErrorJudged}[s.rng.IntN(5)]
		}
		return executor.GateJudged{Agent: e.Agent, Usage: s.usage(e), Gate: e.Gate, Red: e.Kind == executor.EffectRed, Verdict: v, Message: "m", Signature: fmt.Sprint(s.rng.IntN(2)), Tests: "skip"}
	}
	if e.Node == executor.Integration && e.Old != "" && s.rng.IntN(8) == 0 {
		return s.moved(e, mark)
	}
	return executor.Published{Result: executor.Tree{Commit: e.Commit, Tree: "t" + e.Commit}}
}

// tell puts on record what an effect tells while it goes on, or too late.
func (s *sim) tell() {
	if len(s.flying) == 0 {
		return
	}
	e := s.flying[s.rng.IntN(len(s.flying))]
	if s.rng.IntN(5) == 0 {
		e.Step, e.Attempt = "s0", 1
	}
	mark := fmt.Sprint(s.run.Seq())
	s.put(e.Says([]executor.Body{
		executor.AgentSession{Session: "h" + mark, Agent: e.Agent, Turn: fmt.Sprintf("agent-%d", e.Iteration), Gate: e.Gate, Fresh: e.Session == ""},
		executor.HumanSpoke{Session: "h", Said: s.now, Text: "no", Gate: e.Gate},
		executor.WorkProposed{Proposal: executor.Proposal{Title: "t" + mark}, Agent: e.Agent, Gate: e.Gate},
	}[s.rng.IntN(3)]))
}

// speak lets a person say something about a node that waits for one.
func (s *sim) speak() bool {
	var asked []NodeView
	any := s.rng.IntN(8) == 0
	for _, v := range s.run.Views() {
		if v.Status == executor.Waiting && v.For == executor.ForHuman || v.Status == executor.Blocked || any {
			asked = append(asked, v)
		}
	}
	if len(asked) == 0 || s.words > 60 {
		return false
	}
	v := asked[s.rng.IntN(len(asked))]
	d := executor.Decision{
		Verb: []executor.Verb{executor.Approve, executor.Reject, executor.RetryNode, executor.RetryNode, executor.Skip, executor.Cancel, executor.Pause, executor.Resume}[s.rng.IntN(8)], How: []executor.How{executor.HowPlain, executor.HowPlain, executor.GatesOnly, executor.Override, executor.Forced}[s.rng.IntN(5)],
		Message: "because", By: "ann", At: s.now,
	}
	bound, err := s.run.Decisions().Consider(v.ID, d, s.now)
	if err != nil {
		return false
	}
	s.words++
	s.put(executor.Event{Node: v.ID, Body: executor.Decided{Decision: bound}})
	return true
}

// lose makes a commit known that the journal has lost.
func (s *sim) lose() {
	n := s.run.nodes[s.rng.IntN(len(s.run.nodes))]
	if n.sum || len(n.ir.Steps) == 0 {
		return
	}
	mark := fmt.Sprint(s.run.Seq())
	o := executor.Orphan{Node: n.id, Step: n.ir.Steps[0].Name, Attempt: n.numbers[n.ir.Steps[0].Name] + 2, Start: "base", Result: executor.Tree{Commit: "o" + mark, Tree: "to" + mark}, Seq: s.run.Seq() + 5}
	s.skip = 5
	s.put(executor.Event{Body: executor.TailLost{After: s.run.Seq(), Found: []executor.Orphan{o}}})
}

// TestRandomRuns walks random graphs with random results and crashes: the
// machine never gets stuck, its sets agree with a scan after every event, a
// replay gives the same state, and every run comes to an end.
func TestRandomRuns(t *testing.T) { // S2-26
	for seed := range seeds(t, 300) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			s := &sim{t: t, rng: rng, epic: longIDs(seed, randomEpic(rng, 12)), now: time.UnixMilli(0).UTC(), moves: true, old: seed%2 == 1}
			run, err := New(s.epic)
			if err != nil {
				t.Fatal(err)
			}
			s.run = run
			s.start()
			for range 20_000 {
				todo := s.run.Todo(s.now)
				OwnParts(s.t, todo.Start)
				if todo.Stuck != "" {
					t.Fatalf("stuck: %s", todo.Stuck)
				}
				if again := s.run.Todo(s.now); !reflect.DeepEqual(again, todo) {
					t.Fatalf("asked again, the machine says\n%+v\nafter\n%+v", again, todo)
				}
				if len(todo.Stop) > 0 && len(s.flying) > 0 {
					i := max(slices.IndexFunc(s.flying, func(e executor.Effect) bool { return e.Node == todo.Stop[0].Node }), 0)
					e := s.flying[i]
					s.flying = slices.Delete(s.flying, i, i+1)
					s.put(e.Says(executor.EffectFailed{Class: executor.FailInterrupted, Detail: "ralph ended", Gate: e.Gate}))
					continue
				}
				if rng.IntN(30) == 0 && s.speak() {
					continue
				}
				if rng.IntN(8) == 0 {
					s.tell()
				}
				if todo.Done {
					s.accountIsTrue()
					s.nothingStarves()
					if s.speak() {
						continue
					}
					if rng.IntN(2) == 0 {
						return
					}
					s.put(executor.Event{Body: executor.RunEnded{Counts: s.run.Summary().Counts()}})
					s.crash()
					return
				}
				if rng.IntN(40) == 0 {
					s.crash()
					if rng.IntN(3) == 0 {
						s.lose()
					}
					s.start()
					continue
				}
				switch {
				case len(todo.Record) > 0:
					s.put(todo.Record[0])
				case len(todo.Start) > 0:
					e := todo.Start[0]
					s.begin(e)
				case len(s.flying) > 0:
					i := rng.IntN(len(s.flying))
					e := s.flying[i]
					s.flying = slices.Delete(s.flying, i, i+1)
					s.put(e.Says(s.report(e)))
				default:
					if todo.Wake.Sub(s.now) > 2*time.Minute {
						for _, n := range s.run.nodes {
							if n.status == executor.Running {
								t.Fatalf("node %s holds its slot for %s at stage %d", n.ir.Key, todo.Wake.Sub(s.now), n.life.stage)
							}
						}
					}
					s.now = todo.Wake
				}
			}
			t.Fatal("the run does not end")
		})
	}
}

// TestAChangedEpicKeepsWhatIsStillTrue goes on with another epic.json.
func TestAChangedEpicKeepsWhatIsStillTrue(t *testing.T) {
	for seed := range seeds(t, 100) {
		rng := rand.New(rand.NewPCG(seed, 2))
		old := longIDs(seed, randomEpic(rng, 8))
		s := &sim{t: t, rng: rng, epic: old, now: time.UnixMilli(0).UTC(), old: seed%2 == 1}
		s.run, _ = New(old)
		s.start()
		s.steps(rng.IntN(200))
		next := longIDs(seed, randomEpic(rng, 8))
		next.Digest = "d2"
		s.epic = next
		run, err := New(next)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range s.events {
			if err := run.Apply(e); err != nil {
				t.Fatalf("seed %d: the old events under the new epic: %v", seed, err)
			}
		}
		s.run, s.flying = run, nil
		s.start()
		s.steps(5000)
		if todo := s.run.Todo(s.now); !todo.Done {
			t.Fatalf("seed %d: the run does not end: %+v", seed, todo)
		}
	}
}

func (s *sim) steps(n int) {
	for range n {
		todo := s.run.Todo(s.now)
		OwnParts(s.t, todo.Start)
		switch {
		case todo.Stuck != "":
			s.t.Fatalf("stuck: %s", todo.Stuck)
		case todo.Done:
			return
		case len(todo.Record) > 0:
			s.put(todo.Record[0])
		case len(todo.Start) > 0:
			e := todo.Start[0]
			s.begin(e)
		case len(s.flying) > 0:
			e := s.flying[0]
			s.flying = s.flying[1:]
			s.put(e.Says(s.report(e)))
		default:
			s.now = todo.Wake
		}
	}
}

// seeds is how many random runs a test makes: RALPH_SEEDS, else its own number.
func seeds(t *testing.T, n uint64) uint64 {
	t.Helper()
	if s := os.Getenv("RALPH_SEEDS"); s != "" {
		var err error
		if n, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatalf("RALPH_SEEDS: %v", err)
		}
	}
	return n
}
