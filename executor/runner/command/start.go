package command

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/process"
)

// Ends of the names of a turn's files.
const (
	promptExt   = ".prompt.md"
	feedbackExt = ".feedback.md"
)

// file names a file of the turn.
func file(r executor.AgentRun, ext string) string { return filepath.Join(r.Files, r.Turn()+ext) }

func (c Runner) argv(r executor.AgentRun) ([]string, error) {
	if len(r.Runner.Run) == 0 {
		return nil, fmt.Errorf("runner of agent %s names no program", agentOf(r))
	}
	out := make([]string, len(r.Runner.Run))
	for i, a := range r.Runner.Run {
		s, err := fill(a, r)
		if err != nil {
			return nil, err
		}
		out[i] = s
	}
	return out, nil
}

// fill puts values for run.* into a template of the runner.
func fill(template string, r executor.AgentRun) (string, error) {
	values := map[string]string{
		"worktree": r.Dir, "branch": r.Node.Git.Branch, "model": model(r), "attempt": strconv.Itoa(r.Effect.Attempt),
		"prompt_file": file(r, promptExt), "outcome_file": r.OutcomeFile(), "feedback": file(r, feedbackExt),
	}
	return executor.Fill(template, func(name string) (string, bool) {
		v, ok := values[name]
		return v, ok
	})
}

// model is what the program is told to use.
func model(r executor.AgentRun) string {
	if r.Model != "" {
		return r.Model
	}
	return r.Step.Model
}

func (c Runner) env(r executor.AgentRun) ([]string, error) {
	set := maps.Clone(r.Env)
	if set == nil {
		set = map[string]string{}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Runner.Set)) {
		v, err := fill(r.Runner.Set[name], r)
		if err != nil {
			return nil, err
		}
		set[name] = v
	}
	names := append([]string{"PATH"}, r.Runner.Env...)
	for _, s := range r.Runner.Secrets {
		secret, ok := c.Secrets[s]
		if !ok {
			return nil, fmt.Errorf("secret %q is not declared", s)
		}
		v, ok := os.LookupEnv(secret.Env)
		if !ok {
			return nil, fmt.Errorf("secret %s: the variable %s is not set", s, secret.Env)
		}
		set[secret.Env] = v
	}
	for variable, v := range map[string]string{
		"RALPH_EPIC": string(r.Epic), "RALPH_NODE": string(r.Node.Key), "RALPH_ID": string(r.Node.ID),
		"RALPH_STEP": r.Step.Name, "RALPH_ATTEMPT": strconv.Itoa(r.Effect.Attempt), "RALPH_BRANCH": r.Node.Git.Branch,
		"RALPH_PROMPT": file(r, promptExt), "RALPH_FEEDBACK": file(r, feedbackExt), Mark: r.OutcomeFile(),
	} {
		set[variable] = v
	}
	return process.Allowed(names, set), nil
}
