package executor

import (
	"fmt"

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
