package local_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// The timeout is that of an attempt: each of its turns gets what the others left,
// one that was cut used nothing, and a reminder can be answered. execution §4, K24
func TestTheTurnsOfAnAttemptShareItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, executortest.Epic([]string{"1.1"}, func(e *ir.Epic) {
			l := &e.Nodes[0].Steps[0].Limits
			l.TimeoutMS, l.Iterations, l.Attempts = 600_000, 3, 2
		}))
		said := func(result string, ms int64) executor.AgentEnded {
			return executor.AgentEnded{End: executor.EndExited, Millis: ms, Outcome: executor.Outcome{Result: result}}
		}
		turns := []executor.AgentEnded{
			said("partial", 250_000),
			{},
			said("partial", 300_000),
			{End: executor.EndExited, Millis: 50_000, Outcome: executor.Outcome{Invalid: "no JSON"}},
			said("failed", 1000),
			said("success", 1000),
		}
		var got []int64
		b.runner.Do = func(_ context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
			got = append(got, r.Step.Limits.TimeoutMS)
			if len(got) == 2 {
				return executor.AgentEnded{}, &executor.Failure{Class: executor.FailCrash, Err: errors.New("killed")}
			}
			return turns[len(got)-1], nil
		}
		if _, err := b.apply(); err != nil {
			t.Fatal(err)
		}
		if want := []int64{600_000, 350_000, 350_000, 50_000, 120_000, 600_000}; !slices.Equal(got, want) {
			t.Errorf("the turns had %v ms, want %v", got, want)
		}
	})
}

func TestATurnThatLeavesNoTimeIsTheLast(t *testing.T) { // execution §4: the gates judge what is there
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, executortest.Epic([]string{"1.1"}, func(e *ir.Epic) {
			l := &e.Nodes[0].Steps[0].Limits
			l.TimeoutMS, l.Iterations = 600_000, 5
		}))
		turns := 0
		b.runner.Do = func(context.Context, executor.AgentRun) (executor.AgentEnded, error) {
			turns++
			return executor.AgentEnded{End: executor.EndExited, Millis: 300_000, Outcome: executor.Outcome{Result: "partial"}}, nil
		}
		run, err := b.apply()
		if err != nil {
			t.Fatal(err)
		}
		b.want(run, "1.1 done\nintegration done")
		if turns != 2 {
			t.Errorf("%d turns in the time of two", turns)
		}
	})
}
