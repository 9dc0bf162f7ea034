package executortest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// JournalContract is what every journal must do. open opens the same journal
// again each time it is called.
func JournalContract(t *testing.T, open func(t *testing.T) executor.Journal) {
	t.Helper()
	event := func(seq int64) executor.Event {
		return executor.Event{Seq: seq, At: time.UnixMilli(1000 * seq).UTC(), Node: "bd-1", Body: executor.NodeBlocked{Reason: "why"}}
	}
	read := func(t *testing.T, j executor.Journal) []executor.Event {
		t.Helper()
		var out []executor.Event
		for e, err := range j.Events(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, e)
		}
		return out
	}
	j := open(t)
	if got := read(t, j); len(got) != 0 {
		t.Fatalf("a new journal holds %v", got)
	}
	if err := j.Append(t.Context(), []executor.Event{event(1), event(2)}); err != nil {
		t.Fatal(err)
	}
	if err := j.Append(t.Context(), nil); err != nil {
		t.Fatalf("nothing to append: %v", err)
	}
	if err := j.Append(t.Context(), []executor.Event{event(3)}); err != nil {
		t.Fatal(err)
	}
	if err := j.Append(t.Context(), []executor.Event{event(5)}); err == nil {
		t.Error("a gap was accepted")
	}
	if err := j.Append(t.Context(), []executor.Event{event(4)}); err == nil {
		t.Error("an event was accepted after an error")
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j = open(t)
	got := read(t, j)
	if len(got) != 3 || got[2] != event(3) {
		t.Fatalf("read %+v", got)
	}
	if err := j.Append(t.Context(), []executor.Event{event(4)}); err != nil {
		t.Errorf("going on: %v", err)
	}
	// A lost tail that is put on record is the one gap, and is counted on from.
	lost := event(10)
	lost.Body = executor.TailLost{After: 4, Found: []executor.Orphan{{Node: "bd-1", Step: "s", Attempt: 1, Seq: 9}}}
	if err := j.Append(t.Context(), []executor.Event{lost, event(11)}); err != nil {
		t.Errorf("a lost tail: %v", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j = open(t)
	if got := read(t, j); len(got) != 6 || got[4].Seq != 10 || got[5] != event(11) {
		t.Errorf("after a lost tail: %+v", got)
	}
	if err := j.Append(t.Context(), []executor.Event{event(12)}); err != nil {
		t.Errorf("going on after a lost tail: %v", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// RunnerContract is what every runner must do. run asks for an agent that does
// what the word says: "succeed", "fail", "hang", "partial", "write" (the file
// made.txt in its directory).
func RunnerContract(t *testing.T, r executor.Runner, run func(t *testing.T, word string) executor.AgentRun) {
	t.Helper()
	for word, want := range map[string]string{"succeed": "success", "partial": "partial", "write": "success"} {
		t.Run(word, func(t *testing.T) {
			ask := run(t, word)
			got, err := r.Run(t.Context(), ask)
			if err != nil || got.Outcome.Result != want || got.End != executor.EndExited {
				t.Errorf("got %+v, %v; want result %s", got, err, want)
			}
			if _, err := os.Stat(filepath.Join(ask.Dir, "made.txt")); word == "write" && err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("fail", func(t *testing.T) {
		got, err := r.Run(t.Context(), run(t, "fail"))
		if err != nil || got.Outcome.Result == "success" {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("hang, and be cancelled", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := r.Run(ctx, run(t, "hang")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the context's error", err)
		}
	})
	t.Run("hang, and run out of time", func(t *testing.T) {
		ask := run(t, "hang")
		step := *ask.Step
		step.Limits.TimeoutMS = 100
		ask.Step = &step
		got, err := r.Run(t.Context(), ask)
		if err != nil || got.End != executor.EndTimeout {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

// AgentRun is a request for one iteration of an agent, in directories of the test.
func AgentRun(t *testing.T, runner ir.Runner) executor.AgentRun {
	t.Helper()
	step := Step("implement")
	return executor.AgentRun{
		Node: &ir.Node{ID: "bd-1-1", Key: "1.1", Git: ir.Git{Branch: "ralph/x/1-1"}}, Step: &step, Runner: runner,
		Effect: executor.Effect{Kind: executor.EffectAgent, Node: "bd-1-1", Step: "implement", Attempt: 2, Iteration: 1},
		Epic:   "bd-epic", Dir: t.TempDir(), Files: t.TempDir(), Prompt: []byte("the prompt"), Notes: []byte("the feedback"),
	}
}
