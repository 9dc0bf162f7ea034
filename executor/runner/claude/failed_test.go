package claude

import (
	"testing"
	"time"
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
