package beadsmith

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

// kept is what is beside a node that was imported.
type kept struct {
	Criteria []json.RawMessage
	Command  string
	Beads    []json.RawMessage
	Results  []json.RawMessage          // of these beads
	Keys     map[string]json.RawMessage // that ralph has no use for
}

func keptOf(node *ir.Node) kept {
	k := kept{Keys: map[string]json.RawMessage{}}
	var m map[string]json.RawMessage
	if json.Unmarshal(node.Ext[Format], &m) != nil {
		return k
	}
	for name, raw := range m {
		switch name {
		case "successCriteria":
			_ = json.Unmarshal(raw, &k.Criteria)
		case "beads":
			_ = json.Unmarshal(raw, &k.Beads)
		case "beadResults":
			_ = json.Unmarshal(raw, &k.Results)
		case "testCommand":
			_ = json.Unmarshal(raw, &k.Command)
		default:
			k.Keys[name] = raw
		}
	}
	return k
}

// Definition is a node as a task to be executed, in a workspace.
func Definition(e *ir.Epic, node *ir.Node, top string) TaskDefinition {
	def, _ := definition(e, node, top)
	return def
}

func definition(e *ir.Epic, node *ir.Node, top string) (TaskDefinition, kept) {
	k := keptOf(node)
	def := TaskDefinition{
		ID: string(node.ID), Description: node.Goal, WorkspaceRoot: top, SuccessCriteria: []json.RawMessage{},
		MaxIterations: node.Limits.Attempts, TestCommand: k.Command,
	}
	def.Description = cmp.Or(def.Description, node.Title)
	if t := node.Limits.Budget.Tokens; t > 0 {
		def.TokenBudget = &t
	}
	own := map[string]json.RawMessage{} // criteria as they were written, by the gates that they became
	names := map[string]bool{}
	gates := gatesOf(node)
	for _, raw := range k.Criteria {
		name := string(node.Key) + "/" + gateName(names, wanted(raw))
		own[name] = raw
		if slices.Contains(gates, name) {
			def.SuccessCriteria = append(def.SuccessCriteria, raw)
		}
	}
	for _, name := range gates {
		g := e.Gates[name]
		raw, imported := own[name]
		if imported {
			if _, config := read(raw); def.TestCommand == "" && config["command"] == "" {
				def.TestCommand = written(&g) // that of tests was found in the project; others have none
			}
			continue
		}
		if raw, err := foreign.JSON(criterionOf(name, &g)); err == nil {
			def.SuccessCriteria = append(def.SuccessCriteria, raw)
		}
	}
	return def, k
}

// read is a criterion with keys in any spelling.
func read(raw json.RawMessage) (kind string, config map[string]string) {
	config = map[string]string{}
	var c map[string]json.RawMessage
	if json.Unmarshal(raw, &c) != nil {
		return "", config
	}
	for k, v := range c {
		switch foreign.Plain(k) {
		case "type":
			_ = json.Unmarshal(v, &kind)
		case "config":
			var m map[string]json.RawMessage
			if json.Unmarshal(v, &m) == nil {
				for name, x := range m {
					if s := foreign.Text(x); s != "" {
						config[foreign.Plain(name)] = s
					}
				}
			}
		}
	}
	return strings.ToLower(kind), config
}

// wanted is the name that a criterion's gate is to have.
func wanted(raw json.RawMessage) string {
	kind, config := read(raw)
	if config["gate"] != "" {
		return config["gate"]
	}
	return strings.ReplaceAll(kind, "_", "-")
}

// criterionOf says what a gate asks for.
func criterionOf(name string, g *ir.Gate) Criterion {
	c := Criterion{Type: "custom", Config: CriterionConfig{Gate: name}}
	switch {
	case g.Kind == "command":
		c.Config.Command, c.Config.Pattern, c.Config.ExitCode = written(g), g.Expect.StdoutContains, g.Expect.ExitCode
		if g.Expect == (ir.Expect{}) {
			c.Type = "tests_pass"
		}
	case g.Promise != "":
		c.Type, c.Config.Marker = "done_tag", g.Promise
	case g.Kind == "outcome":
		c.Type = "no_errors"
	default:
		c.Config.Kind, c.Config.Agent = g.Kind, g.Agent
	}
	return c
}

// written is the command of a gate as its source has it: what is no policy's is kept
// from being read as a template.
func written(g *ir.Gate) string {
	if g.From == "plan" {
		return strings.ReplaceAll(g.Run, "$${run.", "${run.")
	}
	return g.Run
}
