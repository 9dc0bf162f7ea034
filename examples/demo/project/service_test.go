package main

import (
	"strings"
	"testing"
)

// says sends lines to a new service and returns its answers.
func says(t *testing.T, lines ...string) []string {
	t.Helper()
	var out strings.Builder
	if err := New().Serve(strings.NewReader(strings.Join(lines, "\n")), &out); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

// last is the answer to the last line.
func last(t *testing.T, lines ...string) string {
	t.Helper()
	answers := says(t, lines...)
	return answers[len(answers)-1]
}

func TestPing(t *testing.T) {
	if got := last(t, "ping"); got != "ok" {
		t.Errorf("got %q, want ok", got)
	}
}

func TestWhatIsUnknownIsAnError(t *testing.T) {
	for line, want := range map[string]string{"sing": "error unknown command", "": "error nothing said"} {
		if got := last(t, line, "ping"); got != "ok" {
			t.Errorf("%q: the service does not go on: %q", line, got)
		}
		if got := says(t, line+"\nping")[0]; got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}
