package opencode

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/text"
)

// limited is how a rate limit shows in what OpenCode says of a failure: while it
// tries again it does not tell the code.
var limited = lazyregexp.New(`(?i)\b429\b|rate.?limit|too many requests|quota|usage limit|limit (was )?(reached|exceeded)`)

// unknown is how a model or an agent shows that is not there.
var unknown = lazyregexp.New(`(?i)model not found|agent not found|provider not found|ModelNotFound|ProviderInit|not a primary agent`)

// overflow is how a session shows that is too long for the model.
var overflow = lazyregexp.New(`(?i)context.{0,20}(length|window|overflow)|prompt is too long|too many tokens|maximum context`)

// state takes in what a session does: OpenCode asks a model that fails again and
// again, for minutes.
func (u *turn) state(id string, s status) *runner.End {
	u.begun = u.begun || s.Type == "busy" || s.Type == "retry"
	s.Message = text.Clip(s.Message, 4<<10)
	if s.Type != "retry" || u.tries[id] == s || u.taken || !keep(u, u.tries, id, s, maxFamily) {
		return nil
	}
	next := time.UnixMilli(s.Next)
	u.t.Say(fmt.Sprintf("[the model failed: %s; try %d at %s]", short(s.Message, 300), s.Attempt+1, next.UTC().Format(time.TimeOnly)))
	patience, tries := cmp.Or(u.c.Patience, time.Minute), cmp.Or(u.c.Tries, 3)
	long := time.Until(next) > patience
	switch {
	case long || s.Attempt >= tries && limited.MatchString(s.Message):
		if s.Next <= 0 {
			next = time.Time{}
		}
		return &runner.End{Err: runner.Limited(next, fmt.Errorf("the model is at its limit: %s", short(s.Message, 300)))}
	case s.Attempt >= tries:
		return &runner.End{Err: &executor.Failure{Class: executor.FailTransient, Err: fmt.Errorf("the model failed %d times: %s", s.Attempt, short(s.Message, 300))}}
	}
	return nil
}

// failed is how a turn ended that ended with an error.
func (u *turn) failed(f fault) *runner.End {
	what := cmp.Or(short(f.Data.Message, 400), f.Name)
	fail := func(class executor.FailureClass) *runner.End {
		return &runner.End{Err: &executor.Failure{Class: class, Err: errors.New(what)}}
	}
	code := f.Data.StatusCode
	switch {
	case f.Name == "MessageAbortedError":
		if u.run.Wall != nil { // by the agent itself: a person's comes through the relay
			return &runner.End{Died: "was stopped in the middle of its turn"}
		}
		return u.person("abort", time.Now(), stopped) // not by ralph
	case f.Name == "ContextOverflowError", code == 413, code == 400 && overflow.MatchString(what):
		if u.run.Effect.Session != "" && !u.run.Fork {
			return fail(executor.FailSession) // a fresh one has room
		}
		return u.gaveUp(what)
	case f.Name == "ProviderAuthError", f.Name == "UnknownError" && unknown.MatchString(what):
		return fail(executor.FailConfig)
	case f.Name == "MessageOutputLengthError", f.Name == "ContentFilterError", f.Name == "StructuredOutputError":
		return u.gaveUp(what)
	case code == 429, code == 0 && limited.MatchString(what):
		return &runner.End{Err: runner.Limited(until(f.Data.ResponseHeaders), errors.New(what))}
	}
	return fail(cmp.Or(runner.ClassOf(code), executor.FailTransient))
}

// gaveUp is a turn that the agent could not bring to its end: an attempt of its own
// doing.
func (u *turn) gaveUp(why string) *runner.End {
	u.t.Say("[the turn ended: " + why + "]")
	return &runner.End{Final: true}
}

// until reads when a limit ends from the headers of a refusal.
func until(headers map[string]string) (at time.Time) {
	for k, v := range headers {
		if strings.EqualFold(k, "retry-after") {
			at, _ = runner.Moment(v, time.Now())
		}
	}
	return at
}
