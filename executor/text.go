package executor

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/ralph-compiler/ralph/internal/text"
)

func AgentFailure(e AgentEnded) string {
	switch {
	case e.Outcome.Summary != "":
		return "the agent reported failure: " + text.FirstLine(e.Outcome.Summary)
	case e.Outcome.Result == "failed":
		return "the agent reported failure"
	}
	return fmt.Sprintf("the agent ended with exit code %d", e.ExitCode)
}

func Because(message string) string {
	if m := text.FirstLine(message); m != "" {
		return ": " + m
	}
	return ""
}

func Attempts(n int) string {
	return text.Form(n, "the one attempt", fmt.Sprintf("the %d attempts", n))
}

// Plain makes an error's text fit for an event: bounded and without control
// characters.
func Plain(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return text.Head(s, MaxNote)
}
