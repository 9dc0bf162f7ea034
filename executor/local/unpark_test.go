package local_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/local"
	"github.com/ralph-compiler/ralph/executor/machine"
)

func TestAPersonWhoseLimitIsOverNeedNotWait(t *testing.T) { // execution §4, §5
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, []string{"1.1", "1.2", "1.3: 1.1 1.2"})
		var over atomic.Bool // the agents run beside the machine
		w.runner.Do = func(context.Context, executor.AgentRun) (executor.AgentEnded, error) {
			if !over.Load() {
				until := time.Now().Add(5 * time.Hour).UTC().Format(time.RFC3339)
				return executor.AgentEnded{}, &executor.Failure{Class: executor.FailLimit, Until: until, Err: errors.New("quota used up")}
			}
			return executortest.Success(), nil
		}
		began := time.Now()
		said := false
		run, err := w.apply(func(c *local.Config, _ *executor.RunStarted) {
			c.Inbox = w.in
			c.Observe = func([]executor.Event) {
				var wait []machine.NodeView
				for _, v := range c.Run.Views() {
					if v.Status == executor.Waiting && v.For == executor.ForLimit {
						wait = append(wait, v)
					}
				}
				if said || len(wait) < 2 { // neither runs any more
					return
				}
				for _, v := range wait {
					if len(v.Ways) == 0 || v.Ways[0].Command() != "ralph retry "+string(v.Key) {
						t.Errorf("%s offers %v", v.Key, v.Ways)
					}
				}
				said = true
				over.Store(true) // another key, by now
				w.in.Send(wait[0].ID, executor.Decision{ID: "one", Verb: executor.RetryNode, By: "ann", User: "ann"})
			}
		})
		if err != nil || !said {
			t.Fatal(said, err)
		}
		w.want(run, "1.1 done\n1.2 done\n1.3 done\nintegration done")
		if took := time.Since(began); took > time.Minute {
			t.Errorf("it took %s: the others waited for the limit all the same", took)
		}
		for _, v := range run.Views() {
			if len(v.Attempts) > 1 {
				t.Errorf("%s took %d attempts", v.Key, len(v.Attempts))
			}
		}
	})
}
