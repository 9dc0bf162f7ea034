package claude

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// execution §4: until when a limit holds.
func TestLimitsSayWhenTheyEnd(t *testing.T) {
	now := time.Date(2026, 11, 21, 20, 0, 0, 0, time.UTC)
	for words, want := range map[string]string{
		"You've hit your 5-hour limit · resets 10:26pm (UTC)":                     "2026-11-21T22:26:00Z",
		"You've hit your session limit · resets 3am (UTC)":                        "2026-11-22T03:00:00Z",
		"5-hour limit reached ∙ resets 9pm":                                       "2026-11-21T21:00:00Z",
		"You've hit your weekly limit · resets Nov 23, 9:30am (UTC)":              "2026-11-23T09:30:00Z",
		"You've hit your weekly limit · resets Nov 23 at 9am (UTC)":               "2026-11-23T09:00:00Z",
		"You've hit your weekly limit · resets Jan 2, 5pm (UTC)":                  "2027-01-02T17:00:00Z",
		"Limit reached · resets 10pm (Europe/Berlin) · /upgrade for more":         "2026-11-21T21:00:00Z",
		"API Error: Request rejected (429) · exceeded your per-minute rate limit": "",
		"the password resets at midnight":                                         "",
	} {
		got := ""
		if at := resetTime(words, now); !at.IsZero() {
			got = at.UTC().Format(time.RFC3339)
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", words, got, want)
		}
	}
}

// execution §4: whose fault a failure is.
func TestFailuresAreTold(t *testing.T) {
	const result = `{"type":"result","subtype":"success","is_error":true,"api_error_status":%s,"terminal_reason":"%s","result":"%s"}` + "\n"
	for name, c := range map[string]struct {
		kind, status, terminal, words string
		resume                        bool
		class                         executor.FailureClass // "" is none
		until                         string
	}{
		"no money":                                {kind: "billing_error", status: "400", words: "Credit balance is too low", class: executor.FailConfig},
		"a model that is not there":               {kind: "model_not_found", status: "404", class: executor.FailConfig},
		"overloaded":                              {kind: "server_error", status: "529", class: executor.FailTransient},
		"a connection that is refused":            {kind: "unknown", status: "null", words: "Connection refused", class: executor.FailTransient},
		"a status alone, 503":                     {status: "503", class: executor.FailTransient},
		"a status alone, 422":                     {status: "422", class: executor.FailConfig},
		"a status alone, 429":                     {status: "429", words: "resets 3am (UTC)", class: executor.FailLimit, until: "2026-11-22T03:00:00Z"},
		"a kind that is new":                      {kind: "brand_new", status: "502", class: executor.FailTransient},
		"too long for the model":                  {kind: "invalid_request", status: "400", terminal: "prompt_too_long", class: executor.FailConfig},
		"a session that has become too long":      {kind: "invalid_request", status: "400", terminal: "prompt_too_long", resume: true, class: executor.FailSession},
		"an answer that is too long is the agent": {kind: "max_output_tokens", status: "null", words: "too many words"},
		"a limit as it was written before":        {kind: "rate_limit", status: "429", words: "Claude AI usage limit reached|1795300000", class: executor.FailLimit, until: "2026-11-21T22:26:40Z"},
	} {
		t.Run(name, func(t *testing.T) {
			stream := ""
			if c.kind != "" {
				stream = `{"type":"assistant","error":"` + c.kind + `","api_error_status":` + c.status + `,"message":{"id":"x","model":"<synthetic>","content":[{"type":"text","text":"API Error"}]}}` + "\n"
			}
			r := standIn(t, []byte(stream+fmt.Sprintf(result, c.status, c.terminal, c.words)), play+"exit 1")
			if c.resume {
				r.Effect.Session = newID()
			}
			run := hasty
			run.Base.Now = func() time.Time { return time.Date(2026, 11, 21, 20, 0, 0, 0, time.UTC) }
			got, err := run.Run(t.Context(), r)
			if c.class == "" {
				if err != nil || got.Outcome.Invalid == "" {
					t.Errorf("got %+v, %v", got, err)
				}
				return
			}
			if f := classIs(t, err, c.class); f.Until != c.until || !strings.Contains(f.Error(), "agent dev: ") || !strings.Contains(f.Error(), c.words) {
				t.Errorf("got %v, until %q, want %q", f, f.Until, c.until)
			}
		})
	}
}

// A limit that is told as if it were an answer, as versions before did.
func TestALimitThatLooksLikeAnAnswer(t *testing.T) {
	r := standIn(t, []byte(`{"type":"result","subtype":"success","is_error":false,"result":"Claude AI usage limit reached|1795300000"}`), play)
	_, err := hasty.Run(t.Context(), r)
	if f := classIs(t, err, executor.FailLimit); f.Until != "2026-11-21T22:26:40Z" {
		t.Errorf("until %q", f.Until)
	}
}

func TestCheckFindsWhatIsMissing(t *testing.T) {
	for name, r := range map[string]ir.Runner{
		"a program that is not on PATH": {Run: []string{"no-such-claude"}},
		"a pattern that is none":        {Run: []string{"sh"}, LimitedWhen: &ir.LimitedWhen{Output: "("}},
	} {
		t.Run(name, func(t *testing.T) {
			classIs(t, hasty.Check(t.Context(), executortest.AgentRun(t, r)), executor.FailConfig)
		})
	}
	if err := hasty.Check(t.Context(), executortest.AgentRun(t, ir.Runner{Run: []string{"sh"}})); err != nil {
		t.Error(err)
	}
}
