package executor

import (
	"fmt"
	"strings"
)

func agentFailure(e AgentEnded) string {
	switch {
	case e.Outcome.Summary != "":
		return "the agent reported failure: " + firstLine(e.Outcome.Summary)
	case e.Outcome.Result == "failed":
		return "the agent reported failure"
	}
	return fmt.Sprintf("the agent ended with exit code %d", e.ExitCode)
}

func because(message string) string {
	if m := firstLine(message); m != "" {
		return ": " + m
	}
	return ""
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(line)
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return strings.TrimSpace(s[strings.LastIndexByte(s, '\n')+1:])
}

// Clip cuts s to at most n bytes, at the start of a character.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}

func attempts(n int) string {
	if n == 1 {
		return "the one attempt"
	}
	return fmt.Sprintf("the %d attempts", n)
}
