package rules

import (
	"slices"
	"strings"
	"testing"
)

func TestRequirements(t *testing.T) {
	for name, c := range map[string]struct {
		wish string
		want []string
	}{
		"anywhere":               {"Do REQ-001 and FR-12, then REQ-001 again; NFR3 later.", []string{"REQ-001", "FR-12", "NFR3"}},
		"with a word in between": {"(REQ-AUTH-07)", []string{"REQ-AUTH-07"}},
		"at a line's beginning":  {"- **R1.2**: one\n### US-4: two\n| R3 | three |\n1. UC-5 - four\n- [ ] SR-6. five", []string{"R1.2", "US-4", "R3", "UC-5", "SR-6"}},
		"not in a sentence":      {"The R2 unit and US-1 are meant.", nil},
		"no requirements":        {"UTF-8, SHA-256 and ISO-8601.\n- RFC-7519: tokens\n- HTTP-2: fast", nil},
		"numbered":               {"### Requirement 1\n\n1. WHEN a word is typed THEN notes appear\n\n## Requirement 2: Speed\n\nRequirement 3 is gone.\n### Requirement: no number", []string{"Requirement 1", "Requirement 2"}},
		"in a fence":             {"```\nREQ-001\n```\nREQ-002\n~~~~\nREQ-003\n~~~\nREQ-004\n~~~~\n", []string{"REQ-002"}},
		"struck through":         {"- ~~REQ-001: old~~\n- REQ-002", []string{"REQ-002"}},
		"parts of words":         {"XREQ-001 REQ-001x FREQ-2", nil},
	} {
		if got := Requirements(c.wish); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
	if got := Requirements(strings.Repeat("#>- ", 200_000) + "R1"); len(got) > 1 {
		t.Error(got)
	}
}

func TestQuestions(t *testing.T) {
	got := Questions("# A\n\n## Open questions\n\n- One,\n  on two lines\n- [ ] Two\n1. Three\n\n### More\n\n* Four\n\n## Notes\n\n- no question\n")
	if want := []string{"One, on two lines", "Two", "Three", "Four"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := Questions("# A\n\n- B"); got != nil {
		t.Errorf("got %q of a plan without any", got)
	}
}
