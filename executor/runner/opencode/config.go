package opencode

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// Names of the agents that ralph brings along. The user's own default agent may
// be one that only plans, and its prompt is not the one that the policy names.
const (
	plainAgent = "ralph"      // the program's own system prompt
	toldAgent  = "ralph-told" // what AgentRun.Text says takes its place
)

// toldPrompt takes the place of the program's own system prompt; what the agent is
// told to be comes with each message.
const toldPrompt = "You work with the tools that you are given. Nobody answers questions while you work: decide by yourself, and say what you decided."

// content is what is laid over the user's configuration, and what the runner's
// environment lays over it itself: own, which may be "".
func content(own, shell string, without []string) (string, error) {
	all := map[string]any{}
	if strings.TrimSpace(own) != "" {
		if err := json.Unmarshal([]byte(own), &all); err != nil {
			return "", fmt.Errorf("OPENCODE_CONFIG_CONTENT is not a JSON object: %w", err)
		}
	}
	off := lists.Table(without, func(name string) (string, any) { return name, map[string]any{"enabled": false} })
	lay(all, map[string]any{
		"autoupdate": false,
		"share":      "disabled",
		"snapshot":   false, // ralph keeps what every attempt leaves
		"shell":      shell,
		"mcp":        off,
		"permission": map[string]any{"*": "allow", "question": "deny", "doom_loop": "deny", "plan_enter": "deny", "plan_exit": "deny", "external_directory": "allow"},
		"agent": map[string]any{
			plainAgent: map[string]any{"mode": "primary", "description": "works for ralph"},
			toldAgent:  map[string]any{"mode": "primary", "description": "works for ralph, as it is told", "prompt": toldPrompt},
		},
	})
	b, err := json.Marshal(all)
	return string(b), err
}

// lay puts the values of over into into, deep.
func lay(into, over map[string]any) {
	for k, v := range over {
		below, ok := into[k].(map[string]any)
		if above, both := v.(map[string]any); ok && both {
			lay(below, above)
			continue
		}
		into[k] = v
	}
}

// enabled lists the MCP servers that a configuration turns on.
func (c config) enabled() []string {
	return lists.Keep(slices.Sorted(maps.Keys(c.MCP)), func(name string) bool {
		on := c.MCP[name].Enabled
		return on == nil || *on
	})
}

// modelOf is the provider and the model that a turn asks for; nil leaves the choice
// to the agent, or to the program.
func modelOf(name, provider string) (*modelRef, error) {
	if name == "" {
		return nil, nil
	}
	if provider != "" {
		return &modelRef{ProviderID: provider, ModelID: strings.TrimPrefix(name, provider+"/")}, nil
	}
	provider, model, ok := strings.Cut(name, "/")
	if !ok || provider == "" || model == "" {
		return nil, fmt.Errorf("model %q does not say its provider: give its alias a provider, or write PROVIDER/%s", name, name)
	}
	return &modelRef{ProviderID: provider, ModelID: model}, nil
}

// agentOf is the program's agent that works in a turn, and what it is told to be.
func agentOf(r executor.AgentRun) (name, system string) {
	switch {
	case r.Slug != "":
		return r.Slug, ""
	case strings.TrimSpace(r.Text) != "":
		return toldAgent, r.Text
	}
	return plainAgent, ""
}
