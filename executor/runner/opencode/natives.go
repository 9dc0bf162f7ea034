package opencode

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
)

// Natives implements executor.Program: OpenCode's built-in agents, and those of the user
// and of r.Dir.
func (c *Runner) Natives(ctx context.Context, r executor.AgentRun) ([]executor.Native, error) {
	p, _, err := c.planOf(r)
	if err != nil {
		return nil, err
	}
	alone := runner.OpenCodeAlone()
	p.env = slices.DeleteFunc(p.env, func(v string) bool {
		name, value, _ := strings.Cut(v, "=")
		return alone[name] != "" && alone[name] == value
	})
	s, err := c.acquire(ctx, p, r)
	if err != nil {
		return nil, err
	}
	defer c.release(s)
	at := s.in(r.Dir)
	if all, err := at.statuses(ctx); err == nil && len(all) == 0 {
		if err := at.dispose(ctx); err != nil { // a file that is new is not seen before
			return nil, s.failure(err)
		}
	}
	all, err := get[[]agent](ctx, at, "/agent")
	if err != nil {
		return nil, s.failure(err)
	}
	var out []executor.Native
	for _, a := range all {
		if a.Hidden || a.Name == plainAgent || a.Name == toldAgent {
			continue
		}
		n := executor.Native{Name: a.Name, Description: a.Description, Path: agentFile(p, r.Dir, a), Write: a.edits() && !(a.Native && readers[a.Name])}
		if a.Model != nil {
			n.Model, n.Provider = a.Model.ModelID, a.Model.ProviderID
		}
		out = append(out, n)
	}
	return out, nil
}

// readers are OpenCode's own agents that change nothing. What they are told of
// permissions does not say so here: ralph's own come after it.
var readers = map[string]bool{"explore": true, "plan": true}

// edits reports whether an agent may change files.
func (a agent) edits() bool {
	can := true
	for _, p := range a.Permission {
		if (p.Permission == "edit" || p.Permission == "*") && p.Pattern == "*" {
			can = p.Action != "deny"
		}
	}
	return can
}

// agentFile is where an agent is written down; "" if that is not known.
func agentFile(p plan, dir string, a agent) string {
	if a.Native {
		return ""
	}
	user := cmp.Or(runner.Value(p.env, "XDG_CONFIG_HOME"), filepath.Join(runner.Value(p.env, "HOME"), ".config"))
	for _, dir := range []string{filepath.Join(dir, ".opencode"), filepath.Join(user, "opencode")} {
		for _, sub := range []string{"agent", "agents", "mode", "modes"} {
			path := filepath.Join(dir, sub, filepath.FromSlash(a.Name)+".md")
			if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() {
				return path
			}
		}
	}
	return ""
}
