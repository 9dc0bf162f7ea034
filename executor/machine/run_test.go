package machine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

func TestIllegalEventsAreRefused(t *testing.T) {
	epic := &ir.Epic{
		Epic: ir.Header{ID: "bd-e", Integration: ir.Integration{Mode: "dag"}}, Digest: "d",
		Nodes: []ir.Node{{ID: "bd-1", Key: "1", Digest: ir.NodeDigest{Work: "w", Judge: "j"}, Steps: []ir.Step{{Name: "s", Agent: "a", Access: "write"}}}},
	}
	started := executor.Event{Body: executor.RunStarted{Epic: "bd-e", Digest: "d", Base: executor.Tree{Commit: "b", Tree: "b"}, Slots: 1}}
	begun := executor.Event{Node: "bd-1", Body: executor.NodeStarted{Key: "1", Work: "w", Judge: "j", Inputs: []executor.Result{{Node: "base", Tree: executor.Tree{Commit: "b", Tree: "b"}}}}}
	for name, events := range map[string][]executor.Event{
		"a node before the run":            {begun},
		"a run without slots":              {{Body: executor.RunStarted{Digest: "d"}}},
		"a node that the epic has not":     {started, {Node: "bd-9", Body: executor.NodeResumed{}}},
		"done before it ran":               {started, begun, {Node: "bd-1", Body: executor.NodeBlocked{}}, {Node: "bd-1", Body: executor.NodeDone{}}},
		"started twice":                    {started, begun, begun},
		"a report of nothing":              {started, begun, {Node: "bd-1", Body: executor.Prepared{}}},
		"an effect that is not needed":     {started, begun, {Node: "bd-1", Body: executor.EffectStarted{Kind: executor.EffectPublish}}},
		"an attempt without a node's life": {started, {Node: "bd-1", Step: "s", Attempt: 1, Body: executor.AttemptStarted{}}},
		"an unknown step":                  {started, begun, {Node: "bd-1", Step: "x", Attempt: 1, Body: executor.AttemptStarted{}}},
		"an attempt that is over":          {started, begun, {Node: "bd-1", Step: "s", Attempt: 1, Body: executor.AttemptEnded{Status: executor.AttemptPassed}}},
		"a number that was used":           {started, begun, {Node: "bd-1", Step: "s", Attempt: 0, Body: executor.AttemptStarted{}}},
	} {
		t.Run(name, func(t *testing.T) {
			run, err := New(epic)
			if err != nil {
				t.Fatal(err)
			}
			for i, e := range events {
				e.Seq = int64(i + 1)
				if err = run.Apply(e); err != nil && i < len(events)-1 {
					t.Fatalf("event %d: %v", i+1, err)
				}
			}
			if err == nil {
				t.Error("it was accepted")
			}
		})
	}
	run, err := New(epic)
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Apply(executor.Event{Seq: 2, Body: started.Body}); err == nil {
		t.Error("a gap was accepted")
	}
}

func TestTablesOfMovesAreTotal(t *testing.T) { // K1, S2-30
	for s := range executor.NodeStatuses {
		if s.String() == "" {
			t.Errorf("node status %d has no name", s)
		}
		if executor.NodeMoves[s][s] {
			t.Errorf("%s to itself is a move", s)
		}
		if reach := s == executor.Pending || slices.ContainsFunc(executor.NodeMoves[:], func(row [executor.NodeStatuses]bool) bool { return row[s] }); !reach {
			t.Errorf("%s cannot be reached", s)
		}
		if !slices.Contains(executor.NodeMoves[s][:], true) {
			t.Errorf("%s cannot be left", s)
		}
	}
	for s := executor.AttemptRunning; s < executor.AttemptStatuses; s++ {
		var back executor.AttemptStatus
		if err := back.UnmarshalText([]byte(s.String())); err != nil || back != s {
			t.Errorf("%s reads back as %s, %v", s, back, err)
		}
		if ended := slices.Contains(executor.AttemptMoves[s][:], true); ended != (s == executor.AttemptRunning) {
			t.Errorf("%s may be left: %v", s, ended)
		}
	}
	if err := new(executor.AttemptStatus).UnmarshalText([]byte("invalid")); err == nil {
		t.Error(`"invalid" is an attempt status`)
	}
}

func TestEventsAreReadStrictly(t *testing.T) {
	for name, text := range map[string]string{
		"a later version":  `{"v":2,"seq":1,"at":0,"kind":"node.resumed","data":{}}`,
		"an unknown kind":  `{"v":1,"seq":1,"at":0,"kind":"node.exploded","data":{}}`,
		"an unknown field": `{"v":1,"seq":1,"at":0,"kind":"node.blocked","data":{"reason":"x","more":1}}`,
		"no data":          `{"v":1,"seq":1,"at":0,"kind":"node.blocked"}`,
		"no object":        `[]`,
		"a wrong type":     `{"v":1,"seq":"1","at":0,"kind":"node.resumed","data":{}}`,
	} {
		if err := json.Unmarshal([]byte(text), new(executor.Event)); err == nil {
			t.Errorf("%s was read", name)
		}
	}
	if _, err := json.Marshal(executor.Event{Seq: 1}); err == nil {
		t.Error("an event without a body was written")
	}
}

func TestBackoff(t *testing.T) {
	for name, c := range map[string]struct {
		retry ir.Retry
		n     int
		want  time.Duration
	}{
		"fixed stays":                  {ir.Retry{Backoff: "fixed", InitialMS: 5000}, 4, 5 * time.Second},
		"linear grows":                 {ir.Retry{Backoff: "linear", InitialMS: 5000, MaxMS: 60_000}, 3, 15 * time.Second},
		"exponential doubles":          {ir.Retry{Backoff: "exponential", InitialMS: 5000, MaxMS: 300_000}, 4, 40 * time.Second},
		"the maximum holds":            {ir.Retry{Backoff: "exponential", InitialMS: 5000, MaxMS: 30_000}, 1000, 30 * time.Second},
		"huge numbers do not overflow": {ir.Retry{Backoff: "exponential", InitialMS: 1 << 62}, 64, 24 * time.Hour},
		"nothing is nothing":           {ir.Retry{}, 3, 0},
	} {
		if got := backoff(c.retry, c.n, "bd-1", 1); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	r := ir.Retry{Backoff: "fixed", InitialMS: 10_000, JitterPercent: 50}
	seen := map[time.Duration]bool{}
	for i := range 50 {
		d := backoff(r, 1, ir.NodeID(fmt.Sprint("bd-", i)), 1)
		if d < 5*time.Second || d > 15*time.Second || d != backoff(r, 1, ir.NodeID(fmt.Sprint("bd-", i)), 1) {
			t.Errorf("jitter gives %s", d)
		}
		seen[d] = true
	}
	if len(seen) < 40 {
		t.Errorf("50 nodes wait for %d different times", len(seen))
	}
}

func TestNewRefusesEpicsThatAreNone(t *testing.T) {
	for name, nodes := range map[string][]ir.Node{
		"two nodes of one id":  {{ID: "bd-1", Key: "1"}, {ID: "bd-1", Key: "2"}},
		"a reserved id":        {{ID: executor.Integration, Key: "1"}},
		"no id":                {{Key: "1"}},
		"an order that is not": {{ID: "bd-1", Key: "1", After: []ir.Edge{{Key: "2", Type: ir.Blocks}}}, {ID: "bd-2", Key: "2"}},
	} {
		if _, err := New(&ir.Epic{Nodes: nodes}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestPromptSaysWhatIsKnownOnlyNow(t *testing.T) { // S2-42
	long := strings.Repeat("x", 10_000)
	if got := text.Head(long, 100); len(got) != 100 {
		t.Errorf("clipped to %d bytes", len(got))
	}
	if got := text.Head("aü", 2); got != "a" {
		t.Errorf("a character was cut: %q", got)
	}
	log := AttemptLog{
		Step: "s", Number: 2, Status: executor.AttemptFailed, Reason: "gate g failed", Outcome: executor.Outcome{Summary: "I tried"},
		Gates: []executor.GateJudged{{Gate: "f", Verdict: executor.Pass}, {Gate: "g", Verdict: executor.Fail, Message: "line 1\nline 2"}},
	}
	want := "Attempt 2 of step s failed: gate g failed.\n\nWhat the agent said:\n\n    I tried\n\nGate f: pass\n\nGate g: fail\n\n    line 1\n    line 2"
	if got := strings.Join(feedback(log), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// BenchmarkTodo walks an epic of independent and chained nodes without effects:
// the cost of a node must not grow with the epic.
func BenchmarkTodo(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) {
			epic := &ir.Epic{Epic: ir.Header{ID: "bd-e", Integration: ir.Integration{Mode: "dag"}}, Digest: "d", Agents: map[string]ir.Agent{"a": {Runner: "r"}}}
			for i := range n {
				node := ir.Node{ID: ir.NodeID(fmt.Sprint("bd-", i)), Key: ir.Key(fmt.Sprint(i)), Digest: ir.NodeDigest{Work: "w", Judge: "j"}}
				node.Steps = []ir.Step{{Name: "s", Agent: "a", Access: "write", Limits: ir.StepLimits{Attempts: 1}}}
				if i%10 > 0 {
					node.After = []ir.Edge{{Key: ir.Key(fmt.Sprint(i - 1)), Type: ir.Blocks}}
				}
				epic.Nodes = append(epic.Nodes, node)
			}
			for b.Loop() {
				r, err := New(epic)
				if err != nil {
					b.Fatal(err)
				}
				put := func(e executor.Event) {
					e.Seq = r.Seq() + 1
					if err := r.Apply(e); err != nil {
						b.Fatal(err)
					}
				}
				put(executor.Event{Body: executor.RunStarted{Digest: "d", Base: executor.Tree{Commit: "b", Tree: "b"}, Slots: 100}})
				for {
					todo := r.Todo(time.UnixMilli(0))
					if todo.Done {
						break
					}
					for _, e := range todo.Record {
						put(e)
					}
					for _, e := range todo.Start {
						put(executor.Event{Node: e.Node, Step: e.Step, Attempt: e.Attempt, Body: executor.EffectStarted{Kind: e.Kind, Gate: e.Gate, Iteration: e.Iteration}})
						done := map[executor.EffectKind]executor.Body{
							executor.EffectBase: executor.BaseMade{Base: executor.Tree{Commit: "m", Tree: "m"}}, executor.EffectPrepare: executor.Prepared{}, executor.EffectAgent: executor.AgentEnded{Outcome: executor.Outcome{Result: "success"}, End: executor.EndExited},
							executor.EffectCollect: executor.Collected{Result: executor.Tree{Commit: "c" + string(e.Node), Tree: "t"}}, executor.EffectPublish: executor.Published{Result: executor.Tree{Commit: e.Commit, Tree: "t"}},
						}[e.Kind]
						put(executor.Event{Node: e.Node, Step: e.Step, Attempt: e.Attempt, Body: done})
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/node")
		})
	}
}
