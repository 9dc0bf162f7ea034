package acp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/text"
)

// Codes of errors that mean something of their own.
const (
	authRequired   = -32000
	methodNotFound = -32601
	invalidParams  = -32602
)

// How an error of a provider shows in the words of a program: it has no code of its
// own in the protocol.
var (
	httpStatus = lazyregexp.New(`(?i)(?:^|\b(?:status(?:[ _]?code)?|https?(?:/[\d.]+)?|error|code|returned)["']?[:= ]+\(?)([45]\d\d)\b`)
	limitWords = lazyregexp.New(`(?i)rate.?limit|too many requests|usage limit|limit reached|quota|resource.?exhausted`)
	againWords = lazyregexp.New(`(?i)overloaded|unavailable|bad gateway|server error|econn|etimedout|enotfound|eai_again|epipe|socket|fetch failed|network|connection|timed? ?out|terminated|disconnected|stream`)
	humanWords = lazyregexp.New(`(?i)unauthori[sz]ed|forbidden|api.?key|authenticat|logged in|log ?in\b|credit|billing|no such model|(?:unknown|invalid) model|model .{0,80}(?:not found|not exist|not supported)`)
	untilWords = lazyregexp.New(`(?i)(?:retry[- _]?after|try again (?:in|at)|resets?(?: at| in)?)["']?[:= ]+["']?([^"',;}\n]{1,60})`)
)

// finalNames are what OpenCode names errors after which it does not try again by
// itself: nothing but a person mends them.
var finalNames = []string{"APIError", "ProviderAuthError", "ProviderModelNotFoundError", "ConfigInvalidError"}

// classify says what kind of failure an error of the program is.
func (t *turn) classify(method string, e *sdk.RequestError, h hello) *executor.Failure {
	words, status, name := wordsOf(e)
	f := &executor.Failure{Class: executor.FailTransient, Err: fmt.Errorf("agent %s: %s: %s", runner.AgentOf(t.run), method, text.Clip(words, 500))}
	switch {
	case status == 429, status == 0 && limitWords.MatchString(words):
		at := time.Time{}
		if m := untilWords.FindStringSubmatch(words); m != nil {
			at, _ = runner.Moment(m[1], t.base.Time())
		}
		return runner.Limited(at, f.Err)
	case e.Code == authRequired && status < 500:
		f.Class = executor.FailConfig
		f.Err = fmt.Errorf("agent %s: %s is not logged in: %s%s", runner.AgentOf(t.run), t.name(h), text.Clip(words, 300), h.logins())
	case runner.ClassOf(status) != "":
		f.Class = runner.ClassOf(status)
	case e.Code == methodNotFound, e.Code == invalidParams, slices.Contains(finalNames, name):
		f.Class = executor.FailConfig
	case status == 0 && humanWords.MatchString(words) && !againWords.MatchString(words):
		f.Class = executor.FailConfig
	}
	return f
}

// wordsOf is what an error says, the HTTP status that is in it (0: none), and the
// name that the program gives it.
func wordsOf(e *sdk.RequestError) (words string, status int, name string) {
	words = e.Message
	data, _ := e.Data.(map[string]any)
	for _, key := range []string{"errorName", "name", "errorKind"} {
		if s, ok := data[key].(string); ok && name == "" {
			name = s
		}
	}
	for _, key := range []string{"status", "statusCode", "status_code", "httpStatus", "code"} {
		if n, ok := data[key].(float64); ok && n >= 400 && n < 600 {
			status = int(n)
		}
	}
	if e.Data != nil {
		if b, err := json.Marshal(e.Data); err == nil && string(b) != "{}" {
			words += " " + string(b)
		}
	}
	if m := httpStatus.FindStringSubmatch(words); m != nil && status == 0 {
		status, _ = strconv.Atoi(m[1])
	}
	return words, status, name
}

// logins is how the user may log in, according to the program.
func (h hello) logins() string {
	var out []string
	for _, l := range h.Logins {
		s := l.Name
		if l.Description != "" {
			s = l.Description
		}
		if s != "" {
			out = append(out, text.Clip(s, 200))
		}
	}
	if len(out) == 0 {
		return "; log in with the program itself, then: ralph retry"
	}
	return "; " + strings.Join(out[:min(len(out), 4)], ", or: ") + "; then: ralph retry"
}

// stopped is what a turn comes to that was not over when it ended, and in which
// nothing was reported: a failed one, or one that goes on. "" if it was over.
func stopped(reason sdk.StopReason) (result, why string) {
	switch reason {
	case sdk.StopReasonRefusal:
		return "failed", "the model refused to go on"
	case sdk.StopReasonMaxTokens:
		return "partial", "the turn ended because the model may write no more at once"
	case sdk.StopReasonMaxTurnRequests:
		return "partial", "the turn ended because the program may ask the model no more often in one turn"
	}
	return "", ""
}
