package claude

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/text"
)

// kinds of failure, as Claude Code names them in the message that it puts in the
// place of the model's.
var kinds = map[string]executor.FailureClass{
	"rate_limit":             executor.FailLimit,
	"authentication_failed":  executor.FailConfig,
	"oauth_org_not_allowed":  executor.FailConfig,
	"account_on_hold":        executor.FailConfig,
	"verification_required":  executor.FailConfig,
	"cloud_credential_error": executor.FailConfig,
	"billing_error":          executor.FailConfig,
	"model_not_found":        executor.FailConfig,
	"invalid_request":        executor.FailConfig,
	"overloaded":             executor.FailTransient,
	"server_error":           executor.FailTransient,
}

// end is how the turn ended: by its last result, else by how the program did.
func (s *stream) end(res process.Result, limited *runner.Limit) runner.End {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := runner.End{Code: res.Code, Answer: s.said}
	switch {
	case s.config != nil:
		e.Err = s.config
		return e
	case s.final == nil:
		s.unfinished(&e, res)
	default:
		if s.final.Result != nil {
			e.Answer = *s.final.Result
		}
		e.Err = s.failure(*s.final, e.Answer)
		e.Final = e.Err == nil
	}
	if !e.Final && limited.Matches(s.run, res) && !runner.Is(e.Err, executor.FailLimit) {
		e.Err = limited.Failure(s.run, s.now())
	}
	return e
}

// unfinished says what a program that gave no result met.
func (s *stream) unfinished(e *runner.End, res process.Result) {
	printed, _ := process.Tail(runner.File(s.run, runner.ErrExt), 4<<10) // nothing is known then
	printed = strings.TrimSpace(printed)
	switch {
	case res.How == process.Signaled:
		e.Died = runner.Died(res)
	case res.How == process.Exited && res.Code != 0 && !s.any: // it did not come to its first word
		e.Err = s.notBegun(printed)
	case res.How == process.Exited:
		e.Died = runner.Died(res) + ", without a result"
		if printed != "" {
			e.Died += ": " + oneLine(printed, 300)
		}
	}
}

// notBegun reads why Claude Code does not begin.
func (s *stream) notBegun(why string) error {
	for _, part := range []string{"No conversation found", "requires a valid session", "does not match any session", "is already in use"} {
		if strings.Contains(why, part) {
			return s.fail(executor.FailSession, why)
		}
	}
	return s.fail(executor.FailConfig, why)
}

func (s *stream) fail(class executor.FailureClass, why string) error {
	name := runner.AgentOf(s.run)
	why = oneLine(why, 500)
	switch {
	case why == "":
		why = "Claude Code did not say why"
	case class == executor.FailConfig && s.run.Wall != nil && (strings.Contains(why, "/login") || s.broken != nil && s.broken.Error == "authentication_failed"):
		return &executor.Failure{Class: class, Err: runner.Unauthorized(s.run, fmt.Errorf("agent %s: %s", name, why))}
	case class == executor.FailConfig && strings.Contains(why, "/login"):
		why += " (run claude once and log in, or give the runner a secret that holds a key)"
	}
	return &executor.Failure{Class: class, Err: fmt.Errorf("agent %s: %s", name, why)}
}

// failure is why a result does not count; nil if it does. What the agent did wrong by
// itself, such as words without end, is a result.
func (s *stream) failure(l line, answer string) error {
	if old := oldLimit.FindStringSubmatch(answer); old != nil && !s.turn.Reported() {
		return s.limited(answer, old[1])
	}
	if !l.IsError {
		return nil
	}
	if len(l.Errors) > 0 && s.broken == nil {
		why := strings.Join(l.Errors, "; ")
		if err := s.notBegun(why); runner.Is(err, executor.FailSession) {
			return err
		}
		if strings.HasPrefix(l.Subtype, "error_max") {
			return nil
		}
		return s.fail(executor.FailCrash, "the turn broke off: "+why)
	}
	kind, status := "", l.APIStatus
	if s.broken != nil {
		kind = s.broken.Error
		if status == 0 {
			status = s.broken.APIStatus
		}
	}
	if l.Terminal == "prompt_too_long" {
		if s.run.Effect.Session != "" {
			return s.fail(executor.FailSession, answer) // a fresh one is shorter
		}
		return s.fail(executor.FailConfig, answer)
	}
	if kind == "max_output_tokens" || strings.HasPrefix(l.Subtype, "error_max") {
		return nil
	}
	class, known := kinds[kind]
	if !known {
		class = cmp.Or(runner.ClassOf(status), executor.FailTransient)
	}
	if class == executor.FailLimit {
		return s.limited(answer, "")
	}
	return s.fail(class, answer)
}

var (
	oldLimit = lazyregexp.New(`usage limit reached\|(\d{9,13})`)
	resets   = lazyregexp.New(`(?i)\bresets?(?: at| on)? ([^·()|\n]{1,40}?)(?:\s*\(([A-Za-z_/+\-0-9]{1,40})\))?\s*(?:$|[·.|\n])`)
)

// limited is a limit that is used up, and until when.
func (s *stream) limited(why, epoch string) error {
	until := s.until
	if n, err := strconv.ParseInt(epoch, 10, 64); err == nil {
		if until = time.Unix(n, 0); n >= 1e12 {
			until = time.UnixMilli(n)
		}
	}
	if until.IsZero() {
		until = resetTime(why, s.now())
	}
	return runner.Limited(until, s.fail(executor.FailLimit, why))
}

// resetTime reads when a limit ends from its words, such as "resets 9pm (UTC)" or
// "resets Nov 23, 9:30am"; zero if they do not say.
func resetTime(words string, now time.Time) time.Time {
	m := resets.FindStringSubmatch(words)
	if m == nil {
		return time.Time{}
	}
	if zone, err := time.LoadLocation(m[2]); m[2] != "" && err == nil {
		now = now.In(zone)
	}
	at := strings.ToUpper(text.OneLine(m[1]))
	for _, form := range []string{"Jan 2, 3PM", "Jan 2, 3:04PM", "Jan 2 3PM", "Jan 2 3:04PM"} { // months are read in any case
		t, err := time.ParseInLocation(form, strings.Replace(at, " AT ", " ", 1), now.Location())
		if err != nil {
			continue
		}
		t = time.Date(now.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), 0, 0, now.Location())
		if t.Before(now.AddDate(0, -1, 0)) {
			t = t.AddDate(1, 0, 0)
		}
		return t
	}
	if t, ok := runner.Moment(strings.ReplaceAll(at, " ", ""), now); ok && !t.Before(now) {
		return t
	}
	return time.Time{}
}
