package executor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/internal/strictjson"
	"github.com/ralph-compiler/ralph/internal/text"
)

var (
	results = []string{"success", "partial", "failed"}
	actions = []string{"", "advance_phase", "repeat_phase", "need_human", "needs_human", "none"}
)

// reported is what an agent may write: an outcome (result, next_action, …) or, in
// its place, the result of a scrum master (success, error, fatal, pr_url, …).
type reported struct {
	Result        *string `json:"result"`
	NextAction    *string `json:"next_action"`
	Summary       string  `json:"summary"`
	SuggestedNext *string `json:"suggested_next_phase"`
	NeedsHuman    bool    `json:"needs_human"`
	CreatedIssues texts   `json:"created_issues"`
	Pointers      texts   `json:"pointers"`
	Errors        texts   `json:"errors"`
	Usage         *struct {
		Tokens *float64 `json:"tokens"`
		USD    *float64 `json:"usd"`
	} `json:"usage"`

	Success *bool  `json:"success"`
	Error   texts  `json:"error"`
	Fatal   bool   `json:"fatal"`
	PRURL   string `json:"pr_url"`
	PR      int    `json:"pr_number"`
}

// texts takes a list, or one value for a texts of one; null is an empty list. Each value is
// a text or an object.
type texts []listed

// listed is a text, or an object of which the texts that name it are taken.
type listed struct{ name, text string }

func (l *texts) UnmarshalJSON(b []byte) (err error) {
	raw := []json.RawMessage{b}
	if bytes.HasPrefix(b, []byte("[")) {
		raw = nil // it would be written into b
		err = json.Unmarshal(b, &raw)
	}
	for _, r := range raw {
		if i := readListed(r); i != (listed{}) {
			*l = append(*l, i)
		}
	}
	return err
}

// readListed takes what is said from a value; everything else stays in the file.
func readListed(raw json.RawMessage) listed {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return listed{name: s}
	}
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return listed{name: string(raw)}
	}
	first := func(keys ...string) string {
		for _, k := range keys {
			var s string
			if json.Unmarshal(m[k], &s) == nil && strings.TrimSpace(s) != "" {
				return s
			}
		}
		return ""
	}
	i := listed{name: first("title", "message", "path", "url", "ref", "name", "id"), text: first("text", "description", "body", "detail", "details")}
	if i.name == "" {
		i.name = string(raw)
	}
	return i
}

// anyDepth is more than encoding/json takes.
const anyDepth = 1 << 20

// ParseOutcome reads an outcome from an agent's JSON object, in any of the accepted
// forms. An invalid outcome has Invalid set to the reason. Unknown keys are ignored.
func ParseOutcome(b []byte) (Outcome, Usage) {
	none := Usage{}
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(b) {
		return Outcome{Invalid: "it is not valid UTF-8"}, none
	}
	if b = bytes.TrimSpace(b); len(b) == 0 || b[0] != '{' {
		return InvalidOutcome("it is not the JSON object that is asked for: it begins with %q", text.Head(string(b), 20)), none
	}
	if twice, ok := errors.AsType[*strictjson.Twice](strictjson.Check(b, anyDepth, true)); ok { // what else is wrong is said by who reads it
		return InvalidOutcome("the key %q is in it twice: say it once", text.Head(twice.Key, 60)), none
	}
	if out, u, ok := typedOutcome(b); ok {
		return out, u
	}
	var r reported
	if err := json.Unmarshal(b, &r); err != nil {
		return InvalidOutcome("it is not the JSON object that is asked for: %v", err), none
	}
	result, why := r.result()
	if why != "" {
		return Outcome{Invalid: why}, none
	}
	action := deref(r.NextAction)
	if !slices.Contains(actions, action) {
		return InvalidOutcome(`"next_action" is %q; it must be "advance_phase", "repeat_phase", "need_human" or "none"`, text.Head(action, 100)), none
	}
	out := Outcome{
		Result: result, NextAction: action, Summary: note(r.Summary, MaxNote), SuggestedNext: note(deref(r.SuggestedNext), 100),
		NeedsHuman: r.NeedsHuman, Fatal: r.Fatal, Pull: Pull{Number: max(r.PR, 0), URL: note(r.PRURL, 200)},
	}
	for _, i := range append(r.Errors, r.Error...) {
		out.Errors = append(out.Errors, shortLine(i.name, i.text))
	}
	for _, i := range r.Pointers {
		out.Pointers = append(out.Pointers, note(i.name, 200))
	}
	for _, i := range r.CreatedIssues {
		out.Proposals = append(out.Proposals, Proposal{Title: note(i.name, 200), Text: note(i.text, 300)})
	}
	if out.Summary == "" && len(out.Errors) > 0 {
		out.Summary = out.Errors[0]
	}
	return out, r.usage()
}

// result is the one word of both forms; why says why there is none.
func (r reported) result() (word, why string) {
	switch {
	case r.Result == nil && r.Success == nil && r.Fatal:
		return "failed", ""
	case r.Result == nil && r.Success == nil:
		return "", `it has no "result": write "success", "partial" or "failed"`
	case r.Result == nil && *r.Success && r.Fatal:
		return "", `"success" and "fatal" are both true: one of them is wrong`
	case r.Result == nil && *r.Success:
		return "success", ""
	case r.Result == nil:
		return "failed", ""
	case !slices.Contains(results, *r.Result):
		return "", InvalidOutcome(`"result" is %q; it must be "success", "partial" or "failed"`, text.Head(*r.Result, 100)).Invalid
	case r.Success != nil && *r.Success != (*r.Result == "success"):
		return "", InvalidOutcome(`"result" is %q and "success" is %v: one of them is wrong`, *r.Result, *r.Success).Invalid
	case r.Fatal && *r.Result == "success":
		return "", `"result" is "success" and "fatal" is true: one of them is wrong`
	}
	return *r.Result, ""
}

// usage is what the turn cost; what is missing or cannot be is unknown.
func (r reported) usage() Usage {
	var u Usage
	if r.Usage == nil {
		return u
	}
	u.Tokens, u.USDMicro = figure(r.Usage.Tokens, 1), figure(r.Usage.USD, 1e6)
	return u
}

// figure is a number of an agent's in whole parts, nil if it cannot be one.
func figure(f *float64, by float64) *int64 {
	if f == nil || !(*f >= 0) || *f*by > 1e15 {
		return nil
	}
	n := int64(math.Round(*f * by))
	return &n
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func note(s string, n int) string { return text.Head(Clean(strings.TrimSpace(s)), n) }

func shortLine(parts ...string) string { return note(text.OneLine(strings.Join(parts, " ")), 200) }

// InvalidOutcome is an invalid outcome with the reason.
func InvalidOutcome(format string, args ...any) Outcome {
	return Outcome{Invalid: text.Head(Clean(fmt.Sprintf(format, args...)), 300)}
}

// Clean removes control characters, so that an agent's text cannot control a terminal.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, s)
}

func (o Outcome) Asks() bool {
	return o.NeedsHuman || o.NextAction == "need_human" || o.NextAction == "needs_human"
}

// Claims reports whether the agent's outcome lets gates begin.
func (e AgentEnded) Claims() bool {
	switch {
	case e.End != EndExited || e.Outcome.Fatal || e.Outcome.Invalid != "" || e.Outcome.Result == "failed":
		return false
	case e.Outcome.Result == "" && e.Outcome.Promise == "" && e.ExitCode != 0:
		return false
	}
	return true
}

// Size is the minimum number of bytes that an input takes in an event.
func (x Result) Size() int {
	return len(`{"node":"","commit":"","tree":"","same":""},`) + len(x.Node) + len(x.Commit) + len(x.Tree.Tree) + len(x.Same)
}
