package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/process"
)

// End is how a program's turn ended, according to its runner.
type End struct {
	Final  bool   // the program said explicitly, and without an error, that the turn is over
	Answer string // the agent's last message
	Code   int    // exit code, where a process ended with the turn
	Err    error  // an *executor.Failure: why the turn is none; it is looked at only if the context has not ended
	Usage  executor.Usage
	Died   string // how the program ended without a final word, such as "was killed by signal 9"; "" is unknown
	Taken  bool   // a person took the session over: see EndTakenOver
}

// answerCap bounds the answer of a raw run, in bytes.
const answerCap = 2 << 20

// End closes the turn's files and translates its end for the machine:
//
//   - the caller's context ended: its error;
//   - the time is over, or there was no sign of life: that, or for stall.action =
//     retry a crash;
//   - the sandbox refuses the program its model: that, a configuration failure;
//   - a limit: that, unless a valid outcome was reported;
//   - another failure: that;
//   - no final word: a crash;
//   - else the report, or the last message if there is none.
func (t *Turn) End(e End) (executor.AgentEnded, error) {
	close(t.done)
	cause := context.Cause(t.ctx)
	t.cancel(nil)
	t.wg.Wait()
	if !e.Taken {
		process.SweepDir(t.run.Dir, Mark) // what a tool hid from its own program
	}
	if t.pulse != nil {
		t.pulse.End()
	}
	if err := errors.Join(t.out.Close(), t.stream.Close(), t.base.Scrub(t.run)); err != nil {
		return executor.AgentEnded{}, err
	}
	out := executor.AgentEnded{
		ExitCode: e.Code, End: executor.EndExited, Millis: t.worked().Milliseconds(), Tail: t.base.Plain(Tail(t.run)),
		Agent: AgentOf(t.run), Model: cmp.Or(t.model, ModelOf(t.run)), Session: t.session, Usage: e.Usage,
	}
	if e.Usage.IsZero() {
		out.Usage = t.usage
	}
	if err := t.caller.Err(); err != nil {
		return out, err
	}
	t.answer(&out, e)
	silent := out.Outcome.None() || out.Outcome.Invalid != ""
	name := AgentOf(t.run)
	switch {
	case errors.Is(cause, errTimeout):
		out.End = executor.EndTimeout
	case errors.Is(cause, errStalled) && t.run.Step.Stall.Action == "retry":
		return out, &executor.Failure{Class: executor.FailCrash, Err: fmt.Errorf("agent %s gave no sign of life", name)}
	case errors.Is(cause, errStalled):
		out.End = executor.EndStalled
	case Refused(t.ctx, t.run) != nil && (e.Err != nil || !e.Final):
		return out, Refused(t.ctx, t.run)
	case e.Taken:
		out.End = executor.EndTakenOver
	case Is(e.Err, executor.FailLimit) && !silent && !t.run.Raw:
	case e.Err != nil:
		return out, e.Err
	case !e.Final:
		return out, &executor.Failure{Class: executor.FailCrash, Err: fmt.Errorf("agent %s %s", name, cmp.Or(e.Died, "ended without a final word"))}
	}
	if e.Final && e.Err == nil {
		out.ExitCode = 0 // the final word counts, not the exit code
	}
	out.Bound()
	return out, nil
}

// answer finds what the agent said: reported, else in its last message.
func (t *Turn) answer(out *executor.AgentEnded, e End) {
	if t.run.Raw {
		if t.run.Answer != nil {
			*t.run.Answer = []byte(middleOut(e.Answer, answerCap))
		}
		return
	}
	reported, usage := ReadOutcome(t.run.OutcomeFile())
	if out.Usage.IsZero() {
		out.Usage = usage
	}
	out.Outcome = reported
	switch {
	case !reported.None():
		if e.Final && reported.Result == "success" { // a gate may ask for it beside the outcome
			out.Outcome.Promise = promisedIn(t.base.Plain(e.Answer))
		}
	case !e.Final:
	default:
		out.Outcome = Said(t.base.Plain(e.Answer))
	}
}

// tailSize is how much of each output is kept in the event, in bytes.
const tailSize = executor.MaxNote / 4

// Tail is the end of the turn's output.
func Tail(r executor.AgentRun) string {
	var parts []string
	for _, ext := range []string{OutExt, ErrExt} {
		if t, err := process.Tail(File(r, ext), tailSize); err == nil && strings.TrimSpace(t) != "" {
			parts = append(parts, strings.TrimSpace(t))
		}
	}
	return strings.Join(parts, "\n")
}

// middleOut leaves out the middle of a long text.
func middleOut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n/2] + "\n[the middle is left out here]\n" + s[len(s)-n/2:]
}
