package codex

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/process"
)

// waiting is in what Codex says while there is no network.
const waiting = "waiting for network"

// reconnecting is how Codex says that it tries again, and why.
var reconnecting = lazyregexp.New(`(?s)^Reconnecting\.\.\. (?:\d+/\d+|` + waiting + `)\s*(?:\((.*)\))?\s*$`)

// retried reports whether an error is one for which Codex tries again.
func retried(message string) (why string, again bool) {
	m := reconnecting.FindStringSubmatch(strings.TrimSpace(message))
	switch {
	case m == nil && !strings.HasPrefix(message, "Reconnecting..."):
		return "", false
	case m == nil || m[1] == "":
		return strings.TrimSpace(message), true
	}
	return m[1], true
}

// status is an HTTP status in a message.
var status = lazyregexp.New(`(?:unexpected status|last status:|status code:?|HTTP) (\d{3})\b`)

// words are what tells the classes of failure apart, in lower case, in the order in
// which they are looked for.
var words = []struct {
	class executor.FailureClass
	texts []string
}{
	{executor.FailConfig, []string{"required mcp servers failed", "error loading config", "failed to load bootstrap configuration"}},
	{executor.FailLimit, []string{"hit your usage limit", "usage limit", "too many requests", "rate limit", "rate_limit", "quota exceeded", "insufficient_quota"}},
	{executor.FailConfig, login},
	{executor.FailConfig, []string{
		"missing environment variable", "model provider `", "does not exist", "is not supported when using codex",
		"invalid_request_error", "invalid prompt", "input exceeds the maximum length",
	}},
	{executor.FailCrash, []string{"panicked", "internal error", "agent loop died"}},
	{executor.FailTransient, []string{
		"high demand", "at capacity", "overloaded", "stream disconnected", "connection failed", "error sending request", "timed out", "timeout", waiting, "network error", "connection refused", "connection reset", "database is locked",
	}},
}

// login is what Codex says of one that does not count.
var login = []string{"not logged in", "log in again", "please log in", "sign in again", "refresh token"}

// unauthorized reports whether a failure is that of a login.
func unauthorized(message string) bool {
	if m := status.FindStringSubmatch(message); m != nil {
		return m[1] == "401"
	}
	low := strings.ToLower(message)
	return slices.ContainsFunc(login, func(t string) bool { return strings.Contains(low, t) })
}

// classify tells the class of a failure from what Codex says of it. retried is
// whether Codex itself tried again: what it did not try again was refused.
func classify(message string, retried bool) executor.FailureClass {
	if m := status.FindStringSubmatch(message); m != nil {
		code, _ := strconv.Atoi(m[1])
		if class := runner.ClassOf(code); class != "" {
			return class
		}
	}
	low := strings.ToLower(message)
	for _, w := range words {
		for _, t := range w.texts {
			if strings.Contains(low, t) {
				return w.class
			}
		}
	}
	if retried {
		return executor.FailTransient
	}
	return executor.FailConfig
}

// failure is why there is no final word, nil if unknown.
func (s *stream) failure(r executor.AgentRun, res process.Result, now time.Time) *executor.Failure {
	message, again := s.failed, s.again != ""
	switch {
	case message != "":
	case res.How == process.Exited && !s.began: // it says on stderr why nothing began
		message = lastError(r)
		if message == "" {
			return nil
		}
	default:
		return nil
	}
	f := &executor.Failure{Class: classify(message, again), Err: errors.New("codex: " + message)}
	resumed := r.Effect.Session != ""
	switch low := strings.ToLower(message); {
	case resumed && f.Class != executor.FailTransient && lost(low):
		f.Class = executor.FailSession
	case strings.Contains(low, "context window"): // no session that is gone on with has room again
		f.Class = executor.FailCrash
		if resumed {
			f.Class = executor.FailSession
		}
	}
	if f.Class == executor.FailLimit {
		at, _ := until(message, now)
		return runner.Limited(at, f.Err)
	}
	return f
}

// lost says whether a session cannot be resumed.
func lost(low string) bool {
	if strings.Contains(low, "no rollout found") || strings.Contains(low, "thread not found") {
		return true
	}
	refused := strings.Contains(low, "thread/resume failed") || strings.Contains(low, "thread/fork failed")
	return refused && !strings.Contains(low, "mcp server") && !strings.Contains(low, "config")
}

// lastError is what Codex says last on stderr of why it does not run.
func lastError(r executor.AgentRun) string {
	text, err := process.Tail(runner.File(r, runner.ErrExt), 16<<10)
	if err != nil {
		return ""
	}
	if at := strings.LastIndex("\n"+text, "\nError"); at >= 0 {
		return strings.TrimSpace(text[at:])
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if l := strings.TrimSpace(lines[i]); l != "" && !strings.HasPrefix(strings.ToLower(l), "warning:") && !strings.HasPrefix(l, "Reading ") {
			return l
		}
	}
	return ""
}

// How Codex says when a limit ends: "try again at 10:26 PM.", "try again at Nov
// 25th, 2026 3:04 PM.", "try again in 2.054s.", "try again in 3 days 4 minutes."
var (
	againAt = lazyregexp.New(`(?i)try again at ([A-Za-z0-9:, ]+)`)
	againIn = lazyregexp.New(`(?i)try again in ((?:\d+(?:\.\d+)? ?[a-z]+[ ,]*)+)`)
	part    = lazyregexp.New(`(?i)(\d+(?:\.\d+)?) ?([a-z]+)`)
	ordinal = lazyregexp.New(`(\d)(?:st|nd|rd|th)\b,?`)
)

// until is when a limit ends, as Codex says it.
func until(message string, now time.Time) (time.Time, bool) {
	if m := againIn.FindStringSubmatch(message); m != nil {
		var sum time.Duration
		for _, p := range part.FindAllStringSubmatch(m[1], -1) {
			unit, ok := units[strings.ToLower(p[2])]
			n, err := strconv.ParseFloat(p[1], 64)
			if err != nil || !ok || n > 1e6 {
				break
			}
			sum += time.Duration(n * float64(unit))
		}
		return now.Add(sum), sum > 0
	}
	m := againAt.FindStringSubmatch(message)
	if m == nil {
		return time.Time{}, false
	}
	text := strings.TrimSpace(ordinal.ReplaceAllString(m[1], "$1"))
	at, ok := runner.Moment(text, now)
	if ok && !strings.ContainsAny(text, ",") && len(text) <= len("10:26 PM") && at.Sub(now) > 24*time.Hour-time.Minute {
		at = now.Add(time.Minute) // the minute that has begun, not tomorrow's
	}
	return at, ok
}

var units = map[string]time.Duration{
	"ms": time.Millisecond, "s": time.Second, "sec": time.Second, "second": time.Second, "seconds": time.Second,
	"m": time.Minute, "min": time.Minute, "minute": time.Minute, "minutes": time.Minute,
	"h": time.Hour, "hour": time.Hour, "hours": time.Hour, "d": 24 * time.Hour, "day": 24 * time.Hour, "days": 24 * time.Hour,
}
