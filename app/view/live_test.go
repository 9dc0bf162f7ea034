package view

import (
	"slices"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
)

func TestTheLiveBlockSaysUntilWhenARunnerIsNotAsked(t *testing.T) { // execution §4: a rate limit
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.Local)
	got := parkedLines([]executor.RunnerParked{
		{Runner: "claude", Until: now.Add(15 * time.Minute), Detail: "429"}, {Runner: "codex", Until: now.Add(-time.Second), Detail: "429"},
	}, now)
	if want := []string{"runner claude is on hold until 12:15:00: 429"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
