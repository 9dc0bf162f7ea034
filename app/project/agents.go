package project

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/policies"
)

// Planners are the programs for which sync-agents writes a planner and an explorer, with
// the directories of their agent files.
var Planners = map[string]string{
	"claude":   claudeAgents,
	"opencode": ".opencode/agent",
	"codex":    ".agents", // Codex has no agent files in markdown; ralph tells it the text
}

// planning are the agents that `ralph draft` needs.
var planning = []struct{ name, capability, access string }{
	{"planner", "plan", "write"},
	{"explorer", "explore", "read"},
}

// AddPlanners adds a planner and an explorer for the program kind to the agents found; ""
// adds none. kept has a line for each that the policy already has, missing the agent files
// to write, by path.
func AddPlanners(p *Policy, kind string, found []policies.Found) (all []policies.Found, missing map[string][]byte, kept []string, err error) {
	missing = map[string][]byte{}
	if kind == "" {
		return found, missing, nil, nil
	}
	for _, who := range planning {
		if name := able(p.Set, who.capability); name != "" {
			kept = append(kept, fmt.Sprintf("agent %s has the capability %s", name, who.capability))
			continue
		}
		if have := p.Set.Agents[who.name]; have != nil && !have.Builtin {
			kept = append(kept, fmt.Sprintf("agent %s; for ralph draft it needs capabilities = [%q]", who.name, who.capability))
			continue
		}
		at := path.Join(Planners[kind], who.name+".md")
		file, _, err := policies.ReadAgentFile(p.Project.FS(), at)
		if errors.Is(err, fs.ErrNotExist) {
			var text []byte
			if text, err = planningAgent(who.name, kind); err != nil {
				return nil, nil, nil, err
			}
			missing[at], p.Paths[at] = text, filepath.Join(p.Project.Dir, filepath.FromSlash(at))
			if file, _, err = policies.ReadAgentFile(Templates, planningTemplate(who.name)); err == nil && kind != "claude" {
				file.Model = "" // it is a name of Claude Code's
			}
		}
		if err != nil {
			return nil, nil, nil, exit.Inputf("read %s: %w", at, err)
		}
		f := policies.Found{
			Name: who.name, Description: file.Description, From: at, Kind: kind, Path: at, Model: file.Model, Access: who.access,
			Capabilities: []string{who.capability},
		}
		found = slices.DeleteFunc(found, func(o policies.Found) bool { return o.Path == at })
		found = append(found, f)
	}
	return found, missing, kept, nil
}

// able is the first agent of the project's own policy with a capability; "" if there is
// none. The capability "all" does not count.
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
	text, err := Templates.ReadFile(planningTemplate(name))
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

// claudeAgents is where Claude Code keeps the agents of a project.
const claudeAgents = ".claude/agents"

// AgentFiles lists the agents of .claude/agents.
func AgentFiles(project fs.FS) ([]policies.Found, diag.List, error) {
	var names []string
	err := fs.WalkDir(project, claudeAgents, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() && strings.EqualFold(path.Ext(name), ".md") {
			names = append(names, name)
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	var out []policies.Found
	var warnings diag.List
	for _, name := range names {
		f, list, err := policies.ReadAgentFile(project, name)
		if err != nil {
			return nil, nil, fmt.Errorf("read %s: %w", name, err)
		}
		warnings.Add(list...)
		out = append(out, policies.Found{
			Name: f.Name, Description: f.Description, From: claudeAgents, Kind: "claude", Path: f.Path, Model: f.Model, Access: accessOf(f.Tools),
		})
	}
	return out, warnings, nil
}

// accessOf derives the access of a Claude Code agent from its tools; an agent that names
// none has all tools.
func accessOf(tools []string) string {
	if len(tools) == 0 {
		return "write"
	}
	for _, t := range tools {
		name, _, _ := strings.Cut(t, "(")
		if slices.Contains([]string{"*", "Write", "Edit", "MultiEdit", "NotebookEdit"}, name) {
			return "write"
		}
	}
	return "read"
}

// AgentsFile is the file that new blocks go to: agents.hcl beside the policies that are named.
func AgentsFile(p *Policy, named []string) string {
	at := filepath.Join(p.Project.Dir, "policies", "agents.hcl")
	for _, named := range named {
		if IsDir(named) {
			at = filepath.Join(named, "agents.hcl")
			break
		}
		if at = named; strings.HasSuffix(named, ".hcl") {
			break
		}
	}
	name, inside := p.Project.Rel(at)
	if !inside {
		name = filepath.Base(at)
	}
	p.Paths[name] = at
	return name
}

// WriteAgents replaces the files that change, all or none.
func WriteAgents(p *Policy, changed map[string][]byte) error {
	var batch atomicfile.Batch
	was := p.Files()
	for name, b := range changed {
		at := p.Paths[name]
		if err := p.Project.LeadsOut(at); err != nil {
			return err
		}
		now, err := regular.ReadFile(at)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if f := was[name]; f != nil && !bytes.Equal(now, f.Bytes) || f == nil && err == nil {
			return exit.Inputf("%s changed meanwhile; nothing was written: run sync-agents again", name)
		}
		if err := makeDirOf(at); err != nil {
			return err
		}
		batch.Add(at, b, 0o644)
	}
	return batch.Commit()
}
