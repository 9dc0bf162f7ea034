package runner

import (
	"strings"

	"github.com/ralph-compiler/ralph/executor"
)

// Said reads an outcome from an agent's last message: a JSON object that is the
// whole of it, or stands in its last fence of kind json, or a promise. Everything
// else is no outcome, and says so.
func Said(message string) executor.Outcome {
	text := strings.TrimSpace(message)
	if strings.HasPrefix(text, "{") {
		o, _ := executor.ParseOutcome([]byte(text))
		return o
	}
	if i := strings.LastIndex(text, "```json"); i >= 0 {
		body, _, closed := strings.Cut(text[i+len("```json"):], "```")
		if closed {
			o, _ := executor.ParseOutcome([]byte(strings.TrimSpace(body)))
			return o
		}
	}
	if p := promisedIn(text); p != "" {
		return executor.Outcome{Promise: p}
	}
	if text == "" {
		return executor.InvalidOutcome("it ended without reporting an outcome (report_outcome was not called) and without a last message")
	}
	return executor.InvalidOutcome("it ended without reporting an outcome (report_outcome was not called), and its last message is none: %q", executor.Clip(text, 120))
}
