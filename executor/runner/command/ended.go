package command

import (
	"bytes"
	"cmp"
	"fmt"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/text"
)

// ended turns the end of the program into what the machine knows.
func (c *Runner) ended(r executor.AgentRun, res process.Result, limited *runner.Limit) (executor.AgentEnded, error) {
	out := executor.AgentEnded{
		ExitCode: res.Code, End: executor.EndExited, Millis: res.Took.Milliseconds(), Tail: c.Base.Plain(runner.Tail(r)),
		Agent: runner.AgentOf(r), Model: runner.ModelOf(r),
	}
	if err := c.Base.Scrub(r); err != nil {
		return out, err
	}
	silent := true // nothing was reported that outranks how the program ended
	mute := true   // and nothing was answered
	if r.Raw {
		b, err := regular.ReadOwn(runner.File(r, runner.OutExt)) // at most answerCap
		if err != nil {
			return out, err
		}
		if r.Answer != nil {
			*r.Answer = b
		}
		mute = len(bytes.TrimSpace(b)) == 0
	} else {
		out.Outcome, out.Usage = runner.ReadOutcome(r.OutcomeFile())
		if (out.Outcome.None() || out.Outcome.Result == "success") && res.How == process.Exited && res.Code == 0 {
			out.Outcome.Promise = runner.Promised(runner.File(r, runner.OutExt))
		}
		silent = out.Outcome.None() || out.Outcome.Invalid != ""
	}
	switch {
	case res.How == process.TimedOut:
		out.End = executor.EndTimeout
	case silent && limited.Matches(r, res):
		return out, limited.Failure(r, c.Base.Time())
	case res.How == process.Idled && r.Step.Stall.Action == "retry":
		return out, &executor.Failure{Class: executor.FailCrash, Err: fmt.Errorf("agent %s gave no sign of life", runner.AgentOf(r))}
	case res.How == process.Idled:
		out.End = executor.EndStalled
	case silent && killed(res):
		return out, &executor.Failure{Class: executor.FailCrash, Err: fmt.Errorf("agent %s %s", runner.AgentOf(r), died(res))}
	case silent && mute && (res.Code == 126 || res.Code == 127):
		return out, runner.Configuration(fmt.Errorf("agent %s cannot run: exit code %d: %s", runner.AgentOf(r), res.Code, text.LastLine(out.Tail)))
	case r.Raw:
	case !out.Outcome.None():
	case r.Runner.Outcome == "required" && res.Code == 0:
		out.Outcome.Invalid = "it wrote nothing to the file that RALPH_OUTCOME names"
	case res.Code == 0:
		out.Outcome.Result = "success"
	}
	out.Bound()
	return out, nil
}

// killed reports whether a signal that was not ours ended the program, or what a
// shell ran as its last command: a shell exits with 128 and the signal's number.
func killed(res process.Result) bool {
	return res.How == process.Signaled || res.How == process.Exited && (res.Code == 128+9 || res.Code == 128+15)
}

// died says how a program was killed.
func died(res process.Result) string {
	if res.How == process.Exited && res.Code == 128+15 {
		return fmt.Sprintf("ended with exit code %d: signal 15 killed it", res.Code)
	}
	return runner.Died(process.Result{How: process.Signaled, Signal: cmp.Or(res.Signal, 9)})
}
