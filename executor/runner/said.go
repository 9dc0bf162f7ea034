package runner

import (
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/text"
)

// Said reads an outcome from an agent's last message: a JSON object that is the whole
// message or in its last json fence, or a promise. Everything else is an invalid
// outcome.
func Said(message string) executor.Outcome {
	said := strings.TrimSpace(message)
	if strings.HasPrefix(said, "{") {
		o, _ := executor.ParseOutcome([]byte(said))
		return o
	}
	if i := strings.LastIndex(said, "```json"); i >= 0 {
		if body, _, closed := strings.Cut(said[i+len("```json"):], "```"); closed {
			o, _ := executor.ParseOutcome([]byte(strings.TrimSpace(body)))
			return o
		}
	}
	if p := promisedIn(said); p != "" {
		return executor.Outcome{Promise: p}
	}
	if said == "" {
		return executor.InvalidOutcome("it ended without reporting an outcome (report_outcome was not called) and without a last message")
	}
	return executor.InvalidOutcome("it ended without reporting an outcome (report_outcome was not called), and its last message is none: %q", text.Head(said, 120))
}
