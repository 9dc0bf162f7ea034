package codex

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/process"
)

// askTime is how long Codex may take to answer a question about itself.
const askTime = 30 * time.Second

// servers returns the names of the MCP servers that Codex would start besides ours:
// Codex itself is asked, since they may stand in the user's configuration, in a
// profile or in the system's. There is no option that leaves all of them out.
func (c Runner) servers(ctx context.Context, r executor.AgentRun, argv, env []string) ([]string, error) {
	args := append([]string{}, argv...)
	if r.Slug != "" {
		args = append(args, "-p", r.Slug)
	}
	args = append(args, "mcp", "list", "--json", "-c", untrusted(r.Dir), "-c", "features.plugins=false")
	out, err := c.ask(ctx, r, args, env)
	if err != nil {
		return nil, err
	}
	var list []struct {
		Name    string `json:"name"`
		Enabled *bool  `json:"enabled"`
	}
	if err := json.Unmarshal(bytes.TrimSpace(out), &list); err != nil {
		return nil, runner.Configuration(fmt.Errorf("agent %s: `codex mcp list --json` does not answer with a list of MCP servers, so that they cannot be left out: %w", runner.AgentOf(r), err))
	}
	var names []string
	for _, s := range list {
		if s.Name != "" && (s.Enabled == nil || *s.Enabled) {
			names = append(names, s.Name)
		}
	}
	return names, nil
}

// Version implements executor.Program.
func (c Runner) Version(ctx context.Context, r executor.AgentRun) (string, error) {
	argv, err := c.Argv(r, program)
	if err != nil {
		return "", runner.Configuration(err)
	}
	env, err := c.Env(r, nil)
	if err != nil {
		return "", runner.Configuration(err)
	}
	out, err := c.ask(ctx, r, append(argv, "--version"), env)
	if err != nil {
		return "", err
	}
	words := bytes.Fields(out) // codex-cli 0.169.0
	if len(words) == 0 {
		return "", runner.Configuration(fmt.Errorf("agent %s: `codex --version` says nothing", runner.AgentOf(r)))
	}
	return executor.Clean(string(words[len(words)-1])), nil
}

// ask runs the program for an answer of at most 1 MiB.
func (c Runner) ask(ctx context.Context, r executor.AgentRun, argv, env []string) ([]byte, error) {
	var out, errOut bytes.Buffer
	res, err := process.Run(ctx, process.Spec{
		Argv: argv, Dir: r.Dir, Env: env, Mark: runner.Mark, Time: askTime, Grace: c.Grace, Stderr: os.DevNull, // apart from stdout
		Tap: func(stderr bool, b []byte) { // each of the two goroutines writes to its own
			to := &out
			if stderr {
				to = &errOut
			}
			_, _ = io.CopyN(to, bytes.NewReader(b), int64(max(0, 1<<20-to.Len())))
		},
	})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, runner.Configuration(fmt.Errorf("agent %s cannot run: %w", runner.AgentOf(r), err))
	case res.How == process.TimedOut:
		return nil, &executor.Failure{Class: executor.FailTransient, Err: fmt.Errorf("agent %s: codex did not say within %s what it was asked", runner.AgentOf(r), askTime)}
	case res.How != process.Exited || res.Code != 0:
		return nil, c.named(r, &executor.Failure{Class: executor.FailConfig, Err: fmt.Errorf("codex does not run: exit code %d: %s", res.Code, clip(errOut.String(), 500))})
	}
	return out.Bytes(), nil
}
