package executor

import (
	"encoding/json"
	"slices"
	"strings"
)

// typed is the other form of an outcome: one of success, failure and cancelled,
// told apart by its type.
type typed struct {
	Type      string `json:"type"`
	Result    string `json:"result"` // success: what was done
	NextPhase string `json:"next_phase"`
	Artifacts texts  `json:"artifacts"`
	Metrics   *struct {
		Tokens *float64 `json:"tokens_used"`
		Cost   *float64 `json:"cost"` // US dollars
	} `json:"metrics"`

	Error           string `json:"error"` // failure
	ErrorCode       string `json:"error_code"`
	Retryable       *bool  `json:"retryable"` // nil is yes
	SuggestedAction string `json:"suggested_action"`

	Reason      string `json:"reason"` // cancelled
	CancelledBy string `json:"cancelled_by"`
}

// typedOutcome reads the other form. It may be under "outcome" in the record of
// a run. ok is false if b is neither.
func typedOutcome(b []byte) (out Outcome, u Usage, ok bool) {
	var is struct {
		Type    json.RawMessage `json:"type"`
		Result  json.RawMessage `json:"result"`
		Outcome json.RawMessage `json:"outcome"`
	}
	if json.Unmarshal(b, &is) != nil {
		return out, u, false
	}
	if is.Type == nil && is.Result == nil && len(is.Outcome) > 0 && is.Outcome[0] == '{' {
		b = is.Outcome
		if json.Unmarshal(b, &is) != nil {
			return out, u, false
		}
	}
	switch string(is.Type) {
	case `"success"`, `"failure"`, `"cancelled"`:
	default:
		return out, u, false
	}
	if word := strings.Trim(string(is.Result), `"`); slices.Contains(results, word) { // the first form, and says its kind too
		if (word == "success") != (string(is.Type) == `"success"`) {
			return InvalidOutcome(`its "type" is %s and its "result" is %q: one of them is wrong`, is.Type, word), u, true
		}
		return out, u, false
	}
	var t typed
	if err := json.Unmarshal(b, &t); err != nil {
		return InvalidOutcome("it is not the JSON object that is asked for: %v", err), u, true
	}
	out = t.outcome()
	if m := t.Metrics; m != nil && out.Invalid == "" {
		u = Usage{Tokens: figure(m.Tokens, 1), USDMicro: figure(m.Cost, 1e6)}
	}
	return out, u, true
}

// outcome says it in the words of the first form. What cannot be tried again, or
// was cancelled by a person, is for a person to decide.
func (t typed) outcome() Outcome {
	out := Outcome{SuggestedNext: note(t.NextPhase, 100)}
	for _, a := range t.Artifacts {
		out.Pointers = append(out.Pointers, note(a.name, 200))
	}
	said := strings.TrimSpace(map[string]string{"success": t.Result, "failure": t.Error, "cancelled": t.Reason}[t.Type])
	if said == "" {
		return InvalidOutcome(`its "type" is %q, and it has no "%s"`, t.Type, map[string]string{"success": "result", "failure": "error", "cancelled": "reason"}[t.Type])
	}
	switch t.Type {
	case "success":
		out.Result = "success"
	case "failure":
		out.Result = "failed"
		out.NeedsHuman = t.Retryable != nil && !*t.Retryable
		if code := note(t.ErrorCode, 100); code != "" {
			said = code + ": " + said
		}
		out.Errors = []string{shortLine(said)}
		if do := strings.TrimSpace(t.SuggestedAction); do != "" {
			said = note(said, MaxNote/2) + "\nSuggested: " + do
		}
	case "cancelled":
		out.Result = "failed"
		out.NeedsHuman = t.CancelledBy == "user"
		by := ""
		if t.CancelledBy != "" {
			by = " by " + shortLine(t.CancelledBy)
		}
		said = "cancelled" + by + ": " + said
	}
	out.Summary = note(said, MaxNote)
	return out
}
