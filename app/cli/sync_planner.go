package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/policies"
)

// planners are the programs that sync-agents writes a planner and an explorer for, and
// where their agent files lie.
var planners = map[string]string{
	"claude":   claudeAgents,
	"opencode": ".opencode/agent",
	"codex":    ".agents", // Codex has no agent files in markdown; ralph tells it the text
}

// planning are the agents that `ralph draft` needs.
var planning = []struct{ name, capability, access string }{
	{"planner", "plan", "write"},
	{"explorer", "explore", "read"},
}

// addPlanners adds the planner and the explorer to the agents that were found, unless the
// policy has one. It returns the files of theirs that are missing, by path.
func (a *syncArgs) addPlanners(cmd *cobra.Command, p *project.Policy, found []policies.Found) ([]policies.Found, map[string][]byte, error) {
	missing := map[string][]byte{}
	if a.planner == "" {
		return found, missing, nil
	}
	for _, who := range planning {
		if name := able(p.Set, who.capability); name != "" {
			fmt.Fprintf(cmd.OutOrStdout(), "kept   agent %s has the capability %s\n", reveal.Words(name), who.capability)
			continue
		}
		if have := p.Set.Agents[who.name]; have != nil && !have.Builtin {
			fmt.Fprintf(cmd.OutOrStdout(), "kept   agent %s; for ralph draft it needs capabilities = [%q]\n", who.name, who.capability)
			continue
		}
		at := path.Join(planners[a.planner], who.name+".md")
		file, _, err := policies.ReadAgentFile(p.Project.FS(), at)
		if errors.Is(err, fs.ErrNotExist) {
			var text []byte
			if text, err = planningAgent(who.name, a.planner); err != nil {
				return nil, nil, err
			}
			missing[at], p.Paths[at] = text, filepath.Join(p.Project.Dir, filepath.FromSlash(at))
			if file, _, err = policies.ReadAgentFile(templates, planningTemplate(who.name)); err == nil && a.planner != "claude" {
				file.Model = "" // it is a name of Claude Code's
			}
		}
		if err != nil {
			return nil, nil, exit.Inputf("read %s: %w", at, err)
		}
		f := policies.Found{
			Name: who.name, Description: file.Description, From: at, Kind: a.planner, Path: at, Model: file.Model, Access: who.access,
			Capabilities: []string{who.capability},
		}
		found = slices.DeleteFunc(found, func(o policies.Found) bool { return o.Path == at })
		found = append(found, f)
	}
	return found, missing, nil
}

// able is the first agent of the project's own that says it has a capability; "" if
// there is none. One that can do "all" was not made for this.
func able(s *policies.Set, capability string) string {
	for _, name := range slices.Sorted(maps.Keys(s.Agents)) {
		if a := s.Agents[name]; !a.Builtin && a.Active.Get(true) && !a.Human.V && slices.Contains(a.Capabilities.V, capability) {
			return name
		}
	}
	return ""
}

func planningTemplate(name string) string { return "template/agents/" + name + ".md" }

// planningAgent is the agent file of a planner or an explorer for a program.
func planningAgent(name, kind string) ([]byte, error) {
	text, err := templates.ReadFile(planningTemplate(name))
	if err != nil || kind == "claude" {
		return text, err
	}
	front, body, _ := strings.Cut(strings.TrimPrefix(string(text), "---\n"), "\n---\n")
	var out strings.Builder
	out.WriteString("---\n")
	for line := range strings.Lines(front + "\n") {
		switch key, _, _ := strings.Cut(line, ":"); {
		case key == "description", key == "name" && kind != "opencode":
			out.WriteString(line)
		}
	}
	if kind == "opencode" {
		edit := "allow"
		if name == "explorer" {
			edit = "deny"
		}
		out.WriteString("mode: primary\npermission:\n  edit: " + edit + "\n")
	}
	out.WriteString("---\n" + body)
	return []byte(out.String()), nil
}
