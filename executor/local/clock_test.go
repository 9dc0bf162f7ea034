package local_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/local"
	"github.com/ralph-compiler/ralph/ir"
)

func TestAClockThatIsSetNeitherStallsNorHurriesARun(t *testing.T) { // facts: wall clock jumps
	for name, jump := range map[string]time.Duration{"back by a day": -24 * time.Hour, "forth by a day": 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, executortest.Epic([]string{"1.1"}, func(e *ir.Epic) {
					e.Nodes[0].Steps[0].Retry = ir.Retry{Backoff: "fixed", InitialMS: 10_000}
				}))
				off := time.Duration(0)
				b.gate.Do = func(_ context.Context, r executor.GateRun) (executor.GateJudged, error) {
					off = jump
					if r.Effect.Attempt == 1 {
						return executortest.Verdict(r.Name, executor.Fail), nil
					}
					return executortest.Verdict(r.Name, executor.Pass), nil
				}
				began := time.Now()
				_, err := b.apply(func(c *local.Config, _ *executor.RunStarted) {
					c.Wall = func() time.Time { return time.Now().Add(off) }
				})
				if err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); took != 10*time.Second {
					t.Errorf("it took %s; 10 s of waiting were due", took)
				}
				for i, e := range b.journal.Kept[1:] {
					if e.At.Before(b.journal.Kept[i].At) {
						t.Errorf("event %d is earlier than the one before it", e.Seq)
					}
				}
			})
		})
	}
}

func TestADeadlineDrainsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, executortest.Epic([]string{"1.1", "1.2: 1.1"}))
		b.runner.Do = func(ctx context.Context, _ executor.AgentRun) (executor.AgentEnded, error) {
			select {
			case <-time.After(time.Hour):
				return executortest.Success(), nil
			case <-ctx.Done():
				return executor.AgentEnded{}, ctx.Err()
			}
		}
		began := time.Now()
		_, err := b.apply(func(c *local.Config, _ *executor.RunStarted) {
			c.Deadline, c.Grace = began.Add(10*time.Minute), time.Minute
		})
		if took := time.Since(began); err != nil || took != 11*time.Minute {
			t.Errorf("it took %s, %v; want the deadline and the grace", took, err)
		}
		for _, e := range b.journal.Kept {
			if d, ok := e.Body.(executor.RunDraining); ok {
				if !strings.Contains(d.Reason, "deadline") {
					t.Errorf("reason %q", d.Reason)
				}
				return
			}
		}
		t.Error("nothing says that the run was drained")
	})
}

func TestWithoutRoomAnAgentIsTriedAgainLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, executortest.Epic([]string{"1.1"}, func(e *ir.Epic) {
			e.Nodes[0].Steps[0].Retry = ir.Retry{Backoff: "fixed", InitialMS: 60_000}
		}))
		asked := 0
		run, err := b.apply(func(c *local.Config, _ *executor.RunStarted) {
			c.Room = func() error {
				if asked++; asked == 1 {
					return errors.New("the disk is almost full: make room")
				}
				return nil
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		b.want(run, "1.1 done\nintegration done")
		if v, _ := run.View("bd-1-1"); len(v.Attempts) != 1 {
			t.Errorf("a full disk cost an attempt: %d", len(v.Attempts))
		}
	})
}
