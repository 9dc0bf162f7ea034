package runner

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/ir"
)

// Base is the common part of every runner. It may be used concurrently.
type Base struct {
	Secrets map[string]ir.Secret // of the epic, by name
	Cap     int64                // bytes kept of each output; 0 is 64 MiB
	Grace   time.Duration        // between the steps of stopping a program; 0 is 5 s
	Now     func() time.Time     // nil is time.Now

	// Redact and Filter take secrets out of what is stored and printed; nil: nothing is taken.
	Redact func(string) string
	Filter func(io.Writer) io.WriteCloser
}

// Mark is the variable by which an agent's processes are found again, even after ralph
// was killed: its value is a path below the run's state.
const Mark = "RALPH_OUTCOME"

// File names a file of the turn; ext is, for example, ".out".
func File(r executor.AgentRun, ext string) string { return filepath.Join(r.Files, r.Turn()+ext) }

// Seen is where the program of a turn finds a file of it; OutcomeExt ends that of its outcome.
func Seen(r executor.AgentRun, ext string) string { return filepath.Join(r.Seen(), r.Turn()+ext) }

// Ends of the names of a turn's files.
const (
	PromptExt   = ".prompt.md"
	FeedbackExt = ".feedback.md"
	OutExt      = ".out"
	ErrExt      = ".err"
	StreamExt   = ".stream.jsonl"
	OutcomeExt  = ".outcome.json" // see executor.AgentRun.OutcomeFile
)

// Configuration is a failure that a person has to fix first.
func Configuration(err error) error { return &executor.Failure{Class: executor.FailConfig, Err: err} }

// AgentOf names the agent that runs.
func AgentOf(r executor.AgentRun) string {
	if r.Agent != "" || r.Step == nil {
		return r.Agent
	}
	return r.Step.Agent
}

// ModelOf is the model that the program must use; "" if it may choose.
func ModelOf(r executor.AgentRun) string {
	if r.Model != "" || r.Step == nil {
		return r.Model
	}
	return r.Step.Model
}

// Prompt is the whole prompt, after the agent's text: for programs without a system
// prompt.
func Prompt(r executor.AgentRun) []byte {
	if r.Text == "" {
		return r.Prompt
	}
	return append([]byte(trimRight(r.Text)+"\n\n"), r.Prompt...)
}

// Conventions points the agent of a step to the repository's notes, for programs that
// would read them only together with settings from there; "" if there are none. A judge
// does not get it: the judged agent may have written them.
func Conventions(r executor.AgentRun) string {
	st, err := os.Lstat(filepath.Join(r.Dir, "AGENTS.md"))
	if err != nil || !st.Mode().IsRegular() || r.Effect.Gate != "" || r.Raw {
		return ""
	}
	return "\nThe file AGENTS.md in your directory says how people work in this repository. Read it before you begin; what is above comes first.\n"
}

// Argument is the most informative of a tool's arguments, else all of them.
func Argument(raw json.RawMessage) string {
	var m map[string]json.RawMessage
	_ = json.Unmarshal(raw, &m) // what is no object is told as it is
	for _, name := range []string{"command", "file_path", "filePath", "notebook_path", "pattern", "path", "url", "query", "skill", "description", "prompt"} {
		var s string
		if json.Unmarshal(m[name], &s) == nil && s != "" {
			return s
		}
	}
	return string(raw)
}

// Argv is the program and its first arguments from the runner's block, else usual. Its
// error is a configuration failure.
func (b Base) Argv(r executor.AgentRun, usual ...string) ([]string, error) {
	list := r.Runner.Run
	if len(list) == 0 {
		list = usual
	}
	if len(list) == 0 {
		return nil, Configuration(fmt.Errorf("runner of agent %s names no program", AgentOf(r)))
	}
	out := make([]string, len(list))
	for i, a := range list {
		s, err := fill(a, &r)
		if err != nil {
			return nil, Configuration(err)
		}
		out[i] = s
	}
	return out, nil
}

// fill puts values for run.* into a template of the runner.
func fill(template string, r *executor.AgentRun) (string, error) {
	values := map[string]string{
		"worktree": r.Dir, "branch": r.Node.Git.Branch, "model": ModelOf(*r), "attempt": strconv.Itoa(r.Effect.Attempt),
		"prompt_file": Seen(*r, PromptExt), "outcome_file": Seen(*r, OutcomeExt), "feedback": Seen(*r, FeedbackExt),
	}
	return executor.Fill(template, func(name string) (string, bool) {
		v, ok := values[name]
		return v, ok
	})
}

// Env is the environment of the agent's program: variables that the runner passes and
// sets, its secrets, the turn's RALPH_ variables, and also. Its error is a configuration
// failure.
func (b Base) Env(r executor.AgentRun, also map[string]string) ([]string, error) {
	set := lists.Merged(r.Env)
	for _, name := range slices.Sorted(maps.Keys(r.Runner.Set)) {
		v, err := fill(r.Runner.Set[name], &r)
		if err != nil {
			return nil, Configuration(err)
		}
		set[name] = v
	}
	names := append([]string{"PATH"}, r.Runner.Env...)
	variables := map[string]string{}
	for _, s := range r.Runner.Secrets {
		secret, ok := b.Secrets[s]
		if !ok {
			return nil, Configuration(fmt.Errorf("secret %q is not declared", s))
		}
		variables[s] = secret.Env
	}
	if err := process.Secrets(set, variables); err != nil {
		return nil, Configuration(err)
	}
	maps.Copy(set, map[string]string{
		"RALPH_EPIC": string(r.Epic), "RALPH_NODE": string(r.Node.Key), "RALPH_ID": string(r.Node.ID),
		"RALPH_STEP": r.Step.Name, "RALPH_ATTEMPT": strconv.Itoa(r.Effect.Attempt), "RALPH_BRANCH": r.Node.Git.Branch,
		"RALPH_PROMPT": Seen(r, PromptExt), "RALPH_FEEDBACK": Seen(r, FeedbackExt), Mark: Seen(r, OutcomeExt),
	})
	maps.Copy(set, also)
	env := process.Allowed(names, set)
	if r.Runner.Kind == "command" {
		return env, nil
	}
	return direct(env), nil
}

// Look finds the program in the agent's environment; a missing one is a
// configuration failure that names it.
func (b Base) Look(r executor.AgentRun, usual ...string) (path string, err error) {
	argv, env, err := b.Program(r, nil, usual...)
	if err != nil {
		return "", err
	}
	if filepath.Base(argv[0]) != argv[0] && !filepath.IsAbs(argv[0]) {
		return argv[0], nil // in the worktree, which need not exist yet
	}
	if path, err = process.Look(argv[0], env, r.Dir); err != nil {
		return "", Configuration(fmt.Errorf("agent %s: %w", AgentOf(r), err))
	}
	return path, nil
}

// Time is the present time by the runner's clock.
func (b Base) Time() time.Time {
	if b.Now != nil {
		return b.Now()
	}
	return time.Now()
}

// Plain removes secrets from a text.
func (b Base) Plain(s string) string {
	if b.Redact == nil {
		return s
	}
	return b.Redact(s)
}
