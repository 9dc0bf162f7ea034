package claude

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/yaml"
)

// maxAgentFile bounds what is read of an agent's file, in bytes.
const maxAgentFile = 1 << 20

// Natives implements executor.Program: the agents of the project (.claude/agents) and of
// the user; the project's come first and hide the user's of the same name. Claude Code's
// built-in agents are not included.
func (c Runner) Natives(ctx context.Context, r executor.AgentRun) ([]executor.Native, error) {
	env, err := c.Base.Env(r, nil)
	if err != nil {
		return nil, err
	}
	dirs := []string{filepath.Join(r.Dir, ".claude", "agents")}
	if t := transcripts(env); t != "" {
		dirs = append(dirs, filepath.Join(filepath.Dir(t), "agents"))
	}
	var out []executor.Native
	known := map[string]bool{}
	for _, dir := range dirs {
		found, err := agentsIn(ctx, dir)
		if err != nil {
			return nil, err
		}
		for _, n := range found {
			if !known[n.Name] {
				known[n.Name] = true
				out = append(out, n)
			}
		}
	}
	return out, nil
}

// agentsIn reads the agent files of a directory, in the order of their paths. A
// file without front matter is none.
func agentsIn(ctx context.Context, dir string) ([]executor.Native, error) {
	var out []executor.Native
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return fmt.Errorf("read agents of Claude Code: %w", err)
		case ctx.Err() != nil:
			return ctx.Err()
		case !d.Type().IsRegular() || filepath.Ext(path) != ".md":
			return nil
		}
		if info, err := d.Info(); err != nil || info.Size() > maxAgentFile {
			return err
		}
		b, err := regular.ReadFile(path)
		if err != nil {
			return err
		}
		n, ok, err := native(b)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if ok {
			n.Path = path
			out = append(out, n)
		}
		return nil
	})
	return out, err
}

// native reads the front matter of an agent file.
func native(b []byte) (executor.Native, bool, error) {
	text := strings.ReplaceAll(strings.TrimPrefix(string(b), "\ufeff"), "\r\n", "\n")
	text, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return executor.Native{}, false, nil
	}
	head, _, ok := strings.Cut(text, "\n---")
	if !ok {
		return executor.Native{}, false, nil
	}
	node, err := yaml.Parse([]byte(head))
	if err != nil {
		return executor.Native{}, false, err
	}
	get := func(key string) string {
		if v := node.Get(key); v != nil && v.Kind == yaml.Scalar {
			return strings.TrimSpace(v.Value)
		}
		return ""
	}
	n := executor.Native{Name: get("name"), Description: oneLine(get("description"), 300), Model: get("model"), Provider: "anthropic"}
	if n.Model == "inherit" {
		n.Model = ""
	}
	with, without := list(node.Get("tools")), list(node.Get("disallowedTools"))
	n.Write = slices.ContainsFunc(editing, func(tool string) bool {
		return (len(with) == 0 || slices.Contains(with, "*") || slices.Contains(with, tool)) && !slices.Contains(without, tool)
	})
	return n, n.Name != "", nil
}

// list is a list of YAML, or a text with commas.
func list(n *yaml.Node) []string {
	if n == nil {
		return nil
	}
	if n.Kind == yaml.Sequence {
		return lists.Map(n.Values, func(v *yaml.Node) string { return strings.TrimSpace(v.Value) })
	}
	var out []string
	for v := range strings.SplitSeq(n.Value, ",") {
		if v = strings.TrimSpace(v); v != "" {
			out = append(out, v)
		}
	}
	return out
}
