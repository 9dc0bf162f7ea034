package local_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/local"
	"github.com/ralph-compiler/ralph/ir"
)

// edited is a workspace in whose worktrees somebody has worked.
type edited struct{ *executortest.Workspace }

func (edited) Edited(context.Context, ir.NodeID) (bool, error) { return true, nil }

func TestWorkInAWorktreeThatIsGoneOnWithIsNobodysOwn(t *testing.T) { // execution §5 "a person's own fix", §6
	for name, c := range map[string]struct {
		ended   executor.AgentEnded
		err     error
		cause   executor.Cause
		refused string
	}{
		"a person had the session, and worked there": {
			ended: executor.AgentEnded{End: executor.EndTakenOver, Session: "one"}, cause: executor.CauseTakeover,
		},
		"the agent's own turn was cut": {
			err: &executor.Failure{Class: executor.FailConfig, Err: errors.New("not logged in")}, cause: executor.CauseConfig,
		},
		"the agent asked, and somebody worked there since": {
			ended: executor.AgentEnded{End: executor.EndExited, Session: "one", Outcome: executor.Outcome{Result: "partial", NeedsHuman: true, Summary: "blue?"}},
			cause: executor.CauseQuestion, refused: "somebody worked in its worktree",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, executortest.Epic([]string{"1.1"}))
			b.runner.Do = func(ctx context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
				if err := r.Record(ctx, executor.AgentSession{Session: "one", Agent: "dev", Turn: r.Turn(), Fresh: true}); err != nil {
					return executor.AgentEnded{}, err
				}
				return c.ended, c.err
			}
			run, err := b.apply()
			if err != nil {
				t.Fatal(err)
			}
			if v, _ := run.View("bd-1-1"); v.Cause != c.cause {
				t.Fatalf("it waits because of %q, want %q", v.Cause, c.cause)
			}
			_, err = local.Decide(t.Context(), run, edited{b.ws}, "bd-1-1", executor.Decision{
				ID: "d", Verb: executor.RetryNode, Message: "go on", By: "ann", At: time.Now(),
			}, time.Now())
			var no *executor.Refused
			if is := errors.As(err, &no); is != (c.refused != "") || is && !strings.Contains(no.Why, c.refused) || !is && err != nil {
				t.Errorf("decided: %v, want a refusal with %q", err, c.refused)
			}
		})
	}
}
