package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/ir"
)

// Runner runs programs. It is stateless and may be used concurrently.
type Runner struct {
	Secrets map[string]ir.Secret // of the epic, by name
	Cap     int64                // bytes kept of each output; 0 is 64 MiB
	Grace   time.Duration        // between SIGTERM and SIGKILL; 0 is 5 s
}

var _ executor.Runner = Runner{}

// Mark is the variable by which the processes of an agent are found again, even
// after ralph was killed: its value is a file in the attempt's directory.
const Mark = "RALPH_OUTCOME"

func file(r executor.AgentRun, name string) string { return filepath.Join(r.Files, name) }

// Check implements executor.Runner: the program has to be there.
func (c Runner) Check(_ context.Context, r executor.AgentRun) error {
	argv, err := c.argv(r)
	if err != nil {
		return configuration(err)
	}
	env, err := c.env(r)
	if err != nil {
		return configuration(err)
	}
	if strings.Contains(argv[0], "/") && !filepath.IsAbs(argv[0]) {
		return nil // in the worktree, which need not exist yet
	}
	if _, err := process.Look(argv[0], env, r.Dir); err != nil {
		return configuration(fmt.Errorf("agent %s: %w", r.Step.Agent, err))
	}
	return nil
}

func configuration(err error) error {
	return &executor.Failure{Class: executor.FailConfig, Err: err}
}

// Run implements executor.Runner.
func (c Runner) Run(ctx context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
	argv, err := c.argv(r)
	if err != nil {
		return executor.AgentEnded{}, configuration(err)
	}
	env, err := c.env(r)
	if err != nil {
		return executor.AgentEnded{}, configuration(err)
	}
	for name, content := range map[string][]byte{"prompt.md": r.Prompt, "feedback.md": r.Notes} {
		if err := os.WriteFile(file(r, name), content, 0o600); err != nil {
			return executor.AgentEnded{}, err
		}
	}
	if err := os.Remove(file(r, "outcome.json")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return executor.AgentEnded{}, err
	}
	var stdin io.Reader
	switch r.Runner.Prompt {
	case "stdin", "":
		stdin = bytes.NewReader(r.Prompt)
	case "arg":
		argv = append(argv, string(r.Prompt))
	}
	base := file(r, fmt.Sprintf("agent-%d", max(r.Effect.Iteration, 1)))
	res, err := process.Run(ctx, process.Spec{
		Argv: argv, Dir: r.Dir, Env: env, Stdin: stdin,
		Stdout: base + ".out", Stderr: base + ".err", Cap: c.Cap, Grace: c.Grace,
		Time: time.Duration(r.Step.Limits.TimeoutMS) * time.Millisecond,
		Idle: time.Duration(r.Step.Stall.AfterMS) * time.Millisecond,
	})
	var not *process.NotStarted
	switch {
	case errors.As(err, &not):
		return executor.AgentEnded{}, configuration(fmt.Errorf("agent %s cannot run: %w", r.Step.Agent, err))
	case err != nil:
		return executor.AgentEnded{}, err
	}
	return c.ended(r, res, base)
}

// ended turns the end of the program into what the machine knows.
func (c Runner) ended(r executor.AgentRun, res process.Result, base string) (executor.AgentEnded, error) {
	out := executor.AgentEnded{ExitCode: res.Code, End: executor.EndExited, Millis: res.Took.Milliseconds(), Tail: tail(base)}
	out.Outcome = readOutcome(file(r, "outcome.json"))
	none := out.Outcome.None()
	switch {
	case res.How == process.TimedOut:
		out.End = executor.EndTimeout
	case res.How == process.Idled && r.Step.Stall.Action == "retry":
		return out, &executor.Failure{Class: executor.FailCrash, Err: fmt.Errorf("agent %s gave no sign of life", r.Step.Agent)}
	case res.How == process.Idled:
		out.End = executor.EndStalled
	case res.How == process.Signaled && none:
		return out, &executor.Failure{Class: executor.FailCrash, Err: fmt.Errorf("agent %s was killed by signal %d (%s)", r.Step.Agent, res.Signal, res.Signal)}
	case none && (res.Code == 126 || res.Code == 127):
		return out, configuration(fmt.Errorf("agent %s cannot run: exit code %d: %s", r.Step.Agent, res.Code, lastLine(out.Tail)))
	case none && r.Runner.Outcome == "required":
		out.Outcome.Invalid = "it wrote nothing to the file that RALPH_OUTCOME names"
	case none && res.Code == 0:
		out.Outcome.Result = "success"
	}
	return out, nil
}

// tailSize is how much of each output is kept in the event, in bytes.
const tailSize = executor.MaxNote / 4

func tail(base string) string {
	var parts []string
	for _, ext := range []string{".out", ".err"} {
		t, err := process.Tail(base+ext, tailSize)
		if err == nil && strings.TrimSpace(t) != "" {
			parts = append(parts, strings.TrimSpace(t))
		}
	}
	return strings.Join(parts, "\n")
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}

func (c Runner) argv(r executor.AgentRun) ([]string, error) {
	if len(r.Runner.Run) == 0 {
		return nil, fmt.Errorf("runner of agent %s names no program", r.Step.Agent)
	}
	out := make([]string, len(r.Runner.Run))
	for i, a := range r.Runner.Run {
		s, err := fill(a, values(r))
		if err != nil {
			return nil, err
		}
		out[i] = s
	}
	// A path is meant from the project: from the worktree, where the program runs.
	return out, nil
}

// values are what run.* stands for while a node runs.
func values(r executor.AgentRun) map[string]string {
	return map[string]string{
		"worktree": r.Dir, "branch": r.Node.Git.Branch, "model": r.Step.Model, "attempt": strconv.Itoa(r.Effect.Attempt),
		"prompt_file": file(r, "prompt.md"), "outcome_file": file(r, "outcome.json"), "feedback": file(r, "feedback.md"),
	}
}

// fill puts values for "${run.name}" into a template of the IR; "$${" is "${".
func fill(template string, values map[string]string) (string, error) {
	var b strings.Builder
	for {
		i := strings.Index(template, "${")
		if i < 0 {
			b.WriteString(template)
			return b.String(), nil
		}
		if i > 0 && template[i-1] == '$' {
			b.WriteString(template[:i-1] + "${")
			template = template[i+2:]
			continue
		}
		end := strings.IndexByte(template[i:], '}')
		if end < 0 {
			return "", fmt.Errorf("template %q does not end", template)
		}
		name := strings.TrimSpace(template[i+2 : i+end])
		v, ok := values[strings.TrimPrefix(name, "run.")]
		if !ok || !strings.HasPrefix(name, "run.") {
			return "", fmt.Errorf("template: %q is nothing that is known when running", name)
		}
		b.WriteString(template[:i] + v)
		template = template[i+end+1:]
	}
}

func (c Runner) env(r executor.AgentRun) ([]string, error) {
	set := maps.Clone(r.Env)
	if set == nil {
		set = map[string]string{}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Runner.Set)) {
		v, err := fill(r.Runner.Set[name], values(r))
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
	for name, v := range map[string]string{
		"RALPH_EPIC": string(r.Epic), "RALPH_NODE": string(r.Node.Key), "RALPH_ID": string(r.Node.ID),
		"RALPH_STEP": r.Step.Name, "RALPH_ATTEMPT": strconv.Itoa(r.Effect.Attempt), "RALPH_BRANCH": r.Node.Git.Branch,
		"RALPH_PROMPT": file(r, "prompt.md"), "RALPH_FEEDBACK": file(r, "feedback.md"), Mark: file(r, "outcome.json"),
	} {
		set[name] = v
	}
	return process.Allowed(names, set), nil
}
