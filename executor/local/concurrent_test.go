package local_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/local"
	"github.com/ralph-compiler/ralph/ir"
)

// How many agents a runner has at once, whatever its kind: the lower one of
// concurrency { per_runner } and the runner's own limits { concurrent }. S4-60
func TestARunnerHasSoManyAgentsAtOnce(t *testing.T) {
	for _, c := range []struct{ perRunner, own, want int }{{2, 0, 2}, {0, 3, 3}, {1, 3, 1}, {3, 1, 1}, {0, 0, 4}} {
		t.Run(fmt.Sprintf("per_runner %d, concurrent %d", c.perRunner, c.own), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, executortest.Epic([]string{"1.1", "1.2", "1.3", "1.4"}, func(e *ir.Epic) {
					r := e.Runners["sh"]
					r.Kind, r.Concurrent = "opencode", c.own
					e.Runners["sh"] = r
					e.Run.Concurrency.PerRunner = map[string]int{}
					if c.perRunner > 0 {
						e.Run.Concurrency.PerRunner["sh"] = c.perRunner
					}
				}))
				var mu sync.Mutex
				now, most := 0, 0
				b.runner.Do = func(context.Context, executor.AgentRun) (executor.AgentEnded, error) {
					mu.Lock()
					now++
					most = max(most, now)
					mu.Unlock()
					<-time.After(time.Second)
					mu.Lock()
					now--
					mu.Unlock()
					return executortest.Success(), nil
				}
				_, err := b.apply(func(l *local.Config, r *executor.RunStarted) {
					l.Runners, r.Slots = map[string]executor.Runner{"opencode": b.runner}, 4
				})
				if err != nil {
					t.Fatal(err)
				}
				if most != c.want {
					t.Errorf("%d at once, want %d", most, c.want)
				}
			})
		})
	}
}
