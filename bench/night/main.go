// Command night makes a repository whose epic has a simulated night behind it: a plan of N
// sprints, compiled, and a journal of what would have happened. Nothing was run: there are
// no worktrees and no commits of sprints.
//
//	night RALPH N DIR
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

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

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "night:", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 4 {
		return fmt.Errorf("usage: night RALPH N DIR")
	}
	ralph, dir := os.Args[1], os.Args[3]
	n, err := strconv.Atoi(os.Args[2])
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "plan.md"), bench.Plan(n), 0o644); err != nil {
		return err
	}
	for _, c := range [][]string{
		{"git", "init", "-q", "-b", "main", "."},
		{"git", "-c", "user.name=n", "-c", "user.email=n@example.org", "commit", "-q", "--allow-empty", "-m", "empty"},
		{ralph, "compile", "plan.md", "--no-annotate", "--format", "json"},
	} {
		cmd := exec.Command(c[0], c[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%q: %w\n%s", c, err, out)
		}
	}
	raw, err := os.ReadFile(filepath.Join(dir, "epic.json"))
	if err != nil {
		return err
	}
	return write(raw, filepath.Join(dir, ".git", "ralph"))
}

// write plays the night and writes its journal.
func write(raw []byte, runs string) error {
	epic, err := ir.Decode(raw)
	if err != nil {
		return err
	}
	s, err := simulate.Parse("scenario", []byte(scenario))
	if err != nil {
		return err
	}
	state := filepath.Join(runs, string(epic.Epic.ID))
	if err := os.MkdirAll(state, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(state, "epic.json"), raw, 0o600); err != nil {
		return err
	}
	log, err := journal.Open(state, epic.Epic.ID)
	if err != nil {
		return err
	}
	for _, err := range log.Events(context.Background()) {
		if err != nil {
			return err
		}
	}
	var all []executor.Event
	if _, err = simulate.Run(epic, s, func(list []executor.Event) { all = append(all, list...) }); err != nil {
		return err
	}
	for batch := range slices.Chunk(all[:len(all)*4/5], 2000) {
		if err := log.Append(context.Background(), batch); err != nil {
			return err
		}
	}
	fmt.Printf("%d events, of %d\n", len(all)*4/5, len(all))
	return log.Close()
}
