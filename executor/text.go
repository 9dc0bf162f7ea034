package executor

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/ralph-compiler/ralph/internal/text"
)

func AgentFailure(e AgentEnded) string {
	switch {
	case e.Sandbox.OutOfMemory() != "":
		return e.Sandbox.OutOfMemory()
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

// Plain makes an error's text suitable for an event: bounded, no control characters.
func Plain(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return Fitting(s)
}

// Note makes external text suitable for an event: no control characters, at most MaxNote
// bytes, and at most maxEscaped as JSON.
func Note(s string) string {
	return Fitting(Clean(strings.ToValidUTF8(strings.TrimSpace(s), "\uFFFD")))
}

// Fitting is as much of the begin of a text as an event has room for: at most MaxNote bytes,
// and at most maxEscaped as JSON.
func Fitting(s string) string {
	s = text.Head(s, MaxNote)
	for escaped(s) > maxEscaped {
		s = text.Head(s, len(s)*3/4)
	}
	return s
}

// maxEscaped bounds a note in an event, in bytes of JSON.
const maxEscaped = 3000

// escaped is how many bytes of JSON a text takes that has no control characters but
// tabs and ends of lines.
func escaped(s string) int {
	n := len(s)
	for _, r := range s {
		switch r {
		case '"', '\\', '\n', '\t':
			n++
		case '\u2028', '\u2029':
			n += 3
		}
	}
	return n
}
