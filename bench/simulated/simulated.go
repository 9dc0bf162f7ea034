// Package simulated makes a repository whose epic has a simulated night behind it: a plan,
// compiled, and a journal of what would have happened. Nothing was run: there are no
// worktrees and no commits of sprints. It is for measurements.
package simulated

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/ralph-compiler/ralph/bench"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/simulate"
	"github.com/ralph-compiler/ralph/ir"
)

// scenario: most goes well, and some gates fail once. What is written ends after four fifths
// of it: the night was interrupted.
const scenario = `
seed: 4
start: 2026-01-05T22:00:00Z
slots: 40
agents:
  - {takes: 2m..9m}
gates:
  - {chance: 8%, attempt: 1, verdict: fail, message: "TestPrice failed"}
`

// Night is what was made.
type Night struct {
	Epic   *ir.Epic
	State  string           // directory of the journal
	Events int              // in the journal
	Rest   []executor.Event // what would have come after them
}

// Make makes the repository in dir, with a plan of n sprints. ralph is the program that
// compiles it.
func Make(ralph string, n int, dir string) (*Night, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "plan.md"), bench.Plan(n), 0o644); err != nil {
		return nil, err
	}
	for _, c := range [][]string{
		{"git", "init", "-q", "-b", "main", "."},
		{"git", "-c", "user.name=n", "-c", "user.email=n@example.org", "commit", "-q", "--allow-empty", "-m", "empty"},
		{ralph, "compile", "plan.md", "--no-annotate", "--format", "json"},
	} {
		cmd := exec.Command(c[0], c[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%q: %w\n%s", c, err, out)
		}
	}
	raw, err := os.ReadFile(filepath.Join(dir, "epic.json"))
	if err != nil {
		return nil, err
	}
	return write(raw, filepath.Join(dir, ".git", "ralph"))
}

// write plays the night and writes its journal.
func write(raw []byte, runs string) (*Night, error) {
	epic, err := ir.Decode(raw)
	if err != nil {
		return nil, err
	}
	s, err := simulate.Parse("scenario", []byte(scenario))
	if err != nil {
		return nil, err
	}
	state := filepath.Join(runs, string(epic.Epic.ID))
	if err := os.MkdirAll(state, 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(state, "epic.json"), raw, 0o600); err != nil {
		return nil, err
	}
	log, err := journal.Open(state, epic.Epic.ID)
	if err != nil {
		return nil, err
	}
	for _, err := range log.Events(context.Background()) {
		if err != nil {
			return nil, err
		}
	}
	var all []executor.Event
	if _, err = simulate.Run(epic, s, func(list []executor.Event) { all = append(all, list...) }); err != nil {
		return nil, err
	}
	for batch := range slices.Chunk(all[:len(all)*4/5], 2000) {
		if err := log.Append(context.Background(), batch); err != nil {
			return nil, err
		}
	}
	return &Night{Epic: epic, State: state, Events: len(all) * 4 / 5, Rest: all[len(all)*4/5:]}, log.Close()
}
