package codex

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
)

// servers returns the names of the MCP servers that Codex would start besides ours:
// Codex itself is asked, since they may be in the user's configuration, in a
// profile or in the system's. There is no option that leaves all of them out.
func (c Runner) servers(ctx context.Context, r executor.AgentRun, argv, env []string) ([]string, error) {
	args := slices.Clone(argv)
	if r.Slug != "" {
		args = append(args, "-p", r.Slug)
	}
	args = append(args, "mcp", "list", "--json", "-c", untrusted(r.Dir), "-c", "features.plugins=false")
	out, err := c.Base.Ask(ctx, r, r.Dir, args, env)
	if err != nil {
		return nil, err
	}
	var list []struct {
		Name    string `json:"name"`
		Enabled *bool  `json:"enabled"`
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil {
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
	return c.Base.SaysVersion(ctx, r, program)
}
