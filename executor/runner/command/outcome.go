package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/executor"
)

// maxOutcome bounds an outcome file, in bytes.
const maxOutcome = 1 << 20

// readOutcome reads what an agent wrote about its work. No file, or an empty
// one, is the zero Outcome; everything that is not an outcome is Invalid.
func readOutcome(path string) executor.Outcome {
	st, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return executor.Outcome{}
	}
	invalid := func(format string, args ...any) executor.Outcome {
		return executor.Outcome{Invalid: clip(fmt.Sprintf(format, args...), 300)}
	}
	if err != nil {
		return invalid("%v", err)
	}
	if !st.Mode().IsRegular() { // a pipe or a link could make ralph wait, or read elsewhere
		return invalid("the outcome is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return invalid("%v", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxOutcome+1))
	switch {
	case err != nil:
		return invalid("%v", err)
	case len(b) > maxOutcome:
		return invalid("it is longer than %d bytes", maxOutcome)
	case strings.TrimSpace(string(b)) == "":
		return executor.Outcome{}
	}
	return parseOutcome(b)
}

var (
	results = []string{"success", "partial", "failed"}
	actions = []string{"", "advance_phase", "repeat_phase", "need_human", "needs_human", "none"}
)

func parseOutcome(b []byte) executor.Outcome {
	var o struct {
		Result        string `json:"result"`
		NextAction    string `json:"next_action"`
		Summary       string `json:"summary"`
		SuggestedNext string `json:"suggested_next_phase"`
		NeedsHuman    bool   `json:"needs_human"`
	}
	if !utf8.Valid(b) {
		return executor.Outcome{Invalid: "it is not valid UTF-8"}
	}
	if err := json.Unmarshal(b, &o); err != nil {
		return executor.Outcome{Invalid: clip("it is not the JSON object that is asked for: "+err.Error(), 300)}
	}
	if !contains(results, o.Result) {
		return executor.Outcome{Invalid: clip(fmt.Sprintf(`"result" is %q; it must be "success", "partial" or "failed"`, o.Result), 300)}
	}
	if !contains(actions, o.NextAction) {
		return executor.Outcome{Invalid: clip(fmt.Sprintf(`"next_action" is %q; it must be "advance_phase", "repeat_phase", "need_human" or "none"`, o.NextAction), 300)}
	}
	return executor.Outcome{
		Result: o.Result, NextAction: o.NextAction, Summary: clip(clean(o.Summary), executor.MaxNote),
		SuggestedNext: clip(clean(o.SuggestedNext), 100), NeedsHuman: o.NeedsHuman,
	}
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// clean removes control characters, so that a summary cannot steer a terminal.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, s)
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
