package local_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/local"
)

func TestADecisionThatDoesNotApplyIsAnsweredWithTheReason(t *testing.T) { // execution §5
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, executortest.Epic([]string{"1.1"}))
		in := &executortest.Inbox{}
		b.runner.Do = func(context.Context, executor.AgentRun) (executor.AgentEnded, error) {
			in.Send("bd-1-1", executor.Decision{ID: "d1", Verb: executor.Approve, By: "ann"})
			<-time.After(time.Hour) // of the bubble's clock
			if _, answered := in.Answers["d1"]; !answered {
				t.Error("nobody answered within an hour")
			}
			return executortest.Success(), nil
		}
		run, err := b.apply(func(c *local.Config, _ *executor.RunStarted) { c.Inbox = in })
		if err != nil {
			t.Fatal(err)
		}
		b.want(run, "1.1 done\nintegration done")
		if in.Answers["d1"] == "" {
			t.Error("an approval of a running node was taken")
		}
		if in.Looks > 2*3600+20 {
			t.Errorf("%d looks in an hour", in.Looks)
		}
	})
}

func TestAStayingRunWaitsForPeople(t *testing.T) { // execution §5: --wait
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, executortest.Epic([]string{"1.1"}))
		b.gate.Do = func(_ context.Context, r executor.GateRun) (executor.GateJudged, error) {
			return executortest.Verdict(r.Name, executor.ErrorJudged), nil
		}
		stop := make(chan os.Signal, 1)
		go func() { <-time.After(3 * time.Hour); stop <- os.Interrupt }()
		began := time.Now()
		run, err := b.apply(func(c *local.Config, s *executor.RunStarted) {
			c.Inbox, c.Interrupts, s.Wait = &executortest.Inbox{}, stop, true
		})
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < 3*time.Hour {
			t.Errorf("the run stayed %s", took)
		}
		if v, _ := run.View("bd-1-1"); v.Status != executor.Waiting || !strings.Contains(v.Reason, "check says error") {
			t.Errorf("1.1 is %s (%s)", v.Status, v.Reason)
		}
	})
}
