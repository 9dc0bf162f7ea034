package command

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/executor"
)

var (
	results = []string{"success", "partial", "failed"}
	actions = []string{"", "advance_phase", "repeat_phase", "need_human", "needs_human", "none"}
)

// report is what an agent may write: an outcome (result, next_action, …) or, in
// its place, the result of a scrum master (success, error, fatal, pr_url, …).
type report struct {
	Result        *string `json:"result"`
	NextAction    *string `json:"next_action"`
	Summary       string  `json:"summary"`
	SuggestedNext *string `json:"suggested_next_phase"`
	NeedsHuman    bool    `json:"needs_human"`
	CreatedIssues list    `json:"created_issues"`
	Pointers      list    `json:"pointers"`
	Errors        list    `json:"errors"`
	Usage         *struct {
		Tokens *float64 `json:"tokens"`
		USD    *float64 `json:"usd"`
	} `json:"usage"`

	Success *bool  `json:"success"`
	Error   list   `json:"error"`
	Fatal   bool   `json:"fatal"`
	PRURL   string `json:"pr_url"`
	PR      int    `json:"pr_number"`
}

// list takes a list, or one value for a list of one; null is none. Each value is
// a text or an object.
type list []item

// item is a text, or an object of which the texts that name it are taken.
type item struct{ name, text string }

func (l *list) UnmarshalJSON(b []byte) error {
	*l = nil
	var raw []json.RawMessage
	if b = bytes.TrimSpace(b); len(b) > 0 && b[0] == '[' {
		if err := json.Unmarshal(b, &raw); err != nil {
			return err
		}
	} else if !bytes.Equal(b, []byte("null")) {
		raw = []json.RawMessage{b}
	}
	for _, r := range raw {
		if i := read(r); i != (item{}) {
			*l = append(*l, i)
		}
	}
	return nil
}

// read takes what is said from a value; everything else stays in the file.
func read(raw json.RawMessage) item {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return item{name: s}
	}
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return item{name: string(raw)}
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
	i := item{name: first("title", "message", "path", "url", "ref", "name", "id"), text: first("text", "description", "body", "detail", "details")}
	if i.name == "" {
		i.name = string(raw)
	}
	return i
}

// parseOutcome reads an outcome. Keys that it does not know are left to others.
func parseOutcome(b []byte) (executor.Outcome, executor.Usage) {
	none := executor.Usage{}
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(b) {
		return executor.Outcome{Invalid: "it is not valid UTF-8"}, none
	}
	if b = bytes.TrimSpace(b); len(b) == 0 || b[0] != '{' {
		return invalid("it is not the JSON object that is asked for: it begins with %q", clip(string(b), 20)), none
	}
	var r report
	if err := json.Unmarshal(b, &r); err != nil {
		return invalid("it is not the JSON object that is asked for: %v", err), none
	}
	result, why := r.result()
	if why != "" {
		return executor.Outcome{Invalid: why}, none
	}
	action := deref(r.NextAction)
	if !slices.Contains(actions, action) {
		return invalid(`"next_action" is %q; it must be "advance_phase", "repeat_phase", "need_human" or "none"`, clip(action, 100)), none
	}
	out := executor.Outcome{
		Result: result, NextAction: action, Summary: note(r.Summary, executor.MaxNote), SuggestedNext: note(deref(r.SuggestedNext), 100),
		NeedsHuman: r.NeedsHuman, Fatal: r.Fatal, Pull: executor.Pull{Number: max(r.PR, 0), URL: note(r.PRURL, 200)},
	}
	for _, i := range append(r.Errors, r.Error...) {
		out.Errors = append(out.Errors, oneLine(i.name, i.text))
	}
	for _, i := range r.Pointers {
		out.Pointers = append(out.Pointers, note(i.name, 200))
	}
	for _, i := range r.CreatedIssues {
		out.Proposals = append(out.Proposals, executor.Proposal{Title: note(i.name, 200), Text: note(i.text, 300)})
	}
	if out.Summary == "" && len(out.Errors) > 0 {
		out.Summary = out.Errors[0]
	}
	return out, r.usage()
}

// result is the one word of both forms; why says why there is none.
func (r report) result() (word, why string) {
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
		return "", invalid(`"result" is %q; it must be "success", "partial" or "failed"`, clip(*r.Result, 100)).Invalid
	case r.Success != nil && *r.Success != (*r.Result == "success"):
		return "", invalid(`"result" is %q and "success" is %v: one of them is wrong`, *r.Result, *r.Success).Invalid
	case r.Fatal && *r.Result == "success":
		return "", `"result" is "success" and "fatal" is true: one of them is wrong`
	}
	return *r.Result, ""
}

// usage is what the turn cost; what is missing or cannot be is unknown.
func (r report) usage() executor.Usage {
	var u executor.Usage
	if r.Usage == nil {
		return u
	}
	figure := func(f *float64, by float64) *int64 {
		if f == nil || !(*f >= 0) || *f*by > 1e15 {
			return nil
		}
		n := int64(math.Round(*f * by))
		return &n
	}
	u.Tokens, u.USDMicro = figure(r.Usage.Tokens, 1), figure(r.Usage.USD, 1e6)
	return u
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func note(s string, n int) string { return clip(clean(strings.TrimSpace(s)), n) }

func oneLine(parts ...string) string {
	return note(strings.Join(strings.Fields(strings.Join(parts, " ")), " "), 200)
}
