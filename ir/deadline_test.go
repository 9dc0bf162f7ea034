package ir_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/irtest"
)

func TestDeadline(t *testing.T) { // S3-15
	for in, want := range map[string]string{ // "" is none
		"2026-01-31":                "2026-02-01T00:00:00Z",
		"2024-02-29":                "2024-03-01T00:00:00Z",
		"2020-01-02T15:04Z":         "2020-01-02T15:04:00Z",
		"2020-01-02T15:04:00Z":      "2020-01-02T15:04:00Z",
		"2020-01-02T15:04:05Z":      "2020-01-02T15:04:05Z",
		"2020-01-02T15:04+02:00":    "2020-01-02T13:04:00Z",
		"2020-01-02T15:04:05-05:30": "2020-01-02T20:34:05Z",

		"":                       "",
		"2026-02-31":             "",
		"2026-1-31":              "",
		"2026-01-31 18:00":       "",
		"2026-01-31T18:00":       "", // where?
		"2026-01-31T18Z":         "",
		"2026-01-31T8:00Z":       "",
		"2026-01-31T8:00:00Z":    "",
		"2026-01-31T24:00Z":      "",
		"2026-01-31T18:00:00.5Z": "",
		"2026-01-31T18:00:00,5Z": "",
		"2026-01-31t18:00:00z":   "",
		" 2026-01-31":            "",
		"tomorrow":               "",
	} {
		end, ok := ir.Deadline(in)
		got := ""
		if ok {
			got = end.UTC().Format(time.RFC3339Nano)
		}
		if got != want {
			t.Errorf("Deadline(%q) = %q, want %q", in, got, want)
		}
	}
}

// An epic with a deadline that nobody can read would run as if it had none.
func TestVerifyReadsDeadlines(t *testing.T) {
	for in, fails := range map[string]bool{"": false, "2026-01-31T18:00Z": false, "2026-02-31": true} {
		e := irtest.Worked()
		e.Nodes[0].Limits.Deadline = in
		found := false
		for _, err := range e.Verify() {
			found = found || strings.Contains(err.Error(), "nodes[0].limits.deadline: ")
		}
		if found != fails {
			t.Errorf("%q: %v", in, e.Verify())
		}
	}
}

// Deadlines are compared as times, in whatever zone they are written.
func TestALaterDeadlineIsWeaker(t *testing.T) {
	for _, c := range []struct {
		old, now string
		weaker   bool
	}{
		{"2026-01-31", "2026-02-01T00:00:00Z", false},
		{"2026-01-31T18:00:00+02:00", "2026-01-31T17:00:00Z", true},
		{"2026-01-31T18:00:00Z", "2026-01-31T19:00:00+02:00", false},
		{"2026-01-31T18:00Z", "2026-01-31", true},
		{"2026-01-31", "", true},
		{"", "2026-01-31", false},
	} {
		old, now := irtest.Worked(), irtest.Worked()
		old.Nodes[0].Limits.Deadline, now.Nodes[0].Limits.Deadline = c.old, c.now
		weaker := false
		for _, w := range ir.Diff(old, now).Weaker {
			weaker = weaker || strings.Contains(w.Message, "deadline")
		}
		if weaker != c.weaker {
			t.Errorf("%q to %q: weaker %v, want %v", c.old, c.now, weaker, c.weaker)
		}
	}
}
