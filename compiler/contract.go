package compiler

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/condition"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

// contracts write the end of the prompts of agent and review gates: how to answer
// so that the answer is a verdict. Gates mostly share a schema, so each is written
// once.
type contracts map[string][]string

// addTo appends the contract of a gate to its prompt.
func (c contracts) addTo(gate ir.Gate) ir.Gate {
	if gate.Kind != "agent" && gate.Kind != "review" || len(gate.OutputSchema) == 0 {
		return gate
	}
	lines, done := c[string(gate.OutputSchema)]
	if !done {
		lines = contract(gate.OutputSchema)
		c[string(gate.OutputSchema)] = lines
	}
	prompt := slices.Clip(gate.Prompt)
	if len(prompt) > 0 {
		prompt = append(prompt, "")
	}
	gate.Prompt = slices.Concat(prompt, lines, demands(gate))
	return gate
}

// demands says what fields of the answer must be for a pass.
func demands(gate ir.Gate) []string {
	if len(gate.Require) == 0 {
		return nil
	}
	out := []string{"A pass must have these fields, as you measured them. It counts only if they are as said here:"}
	for _, name := range sortedNames(gate.Require) {
		f, _ := condition.Find(gate.OutputSchema, name)
		what, err := condition.Parse(gate.Require[name])
		if err != nil {
			continue // it was reported with the policy
		}
		line := fmt.Sprintf("- %q", name)
		if in := f.Object(); in != "" {
			line += fmt.Sprintf(" in %q", in)
		}
		out = append(out, literally(fmt.Sprintf("%s (%s): %s", line, what.Type(), what)))
	}
	return out
}

// contract describes the answer that a schema asks for: field by field, and with
// the schema itself where that does not say it all.
func contract(schema json.RawMessage) []string {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	out := []string{ir.Contract}
	if json.Unmarshal(schema, &s) != nil {
		s.Properties = nil
	}
	names := sortedNames(s.Properties)
	slices.SortStableFunc(names, func(a, b string) int { return fieldRank(a) - fieldRank(b) })
	whole := onlyKeys(schema, "$schema", "$id", "title", "description", "type", "properties", "required")
	for _, name := range names {
		line, all := field(name, s.Properties[name], slices.Contains(s.Required, name))
		whole = whole && all
		out = append(out, line)
	}
	if !whole {
		compact, err := ir.NormalizeJSON(schema)
		if err != nil {
			compact = schema
		}
		out = append(out, "It must be valid under this JSON Schema:", string(compact))
	}
	return lists.Map(out, literally)
}

// fieldRank puts the verdict before everything else.
func fieldRank(name string) int {
	return (slices.Index([]string{"status", "message"}, name) + 3) % 3 // -1 is 2
}

// field describes one property; all says whether the line says everything.
func field(name string, raw json.RawMessage, required bool) (line string, all bool) {
	var p struct {
		Type        string            `json:"type"`
		Enum        []json.RawMessage `json:"enum"`
		Description string            `json:"description"`
	}
	err := json.Unmarshal(raw, &p)
	what := p.Type
	if len(p.Enum) > 0 {
		words := lists.Map(p.Enum, func(w json.RawMessage) string { return string(w) })
		what = "one of " + strings.Join(words, ", ")
	}
	if required {
		what = strings.TrimPrefix(what+", required", ", ")
	}
	line = fmt.Sprintf("- %q", name)
	if what != "" {
		line += " (" + what + ")"
	}
	if p.Description != "" {
		line += ": " + text.OneLine(p.Description)
	}
	return line, err == nil && onlyKeys(raw, "type", "enum", "description")
}

// onlyKeys reports whether a JSON object has no other keys.
func onlyKeys(raw json.RawMessage, keys ...string) bool {
	var m map[string]json.RawMessage
	if json.Unmarshal(bytes.TrimSpace(raw), &m) != nil {
		return false
	}
	for k := range m {
		if !slices.Contains(keys, k) {
			return false
		}
	}
	return true
}

// literally keeps text that is no policy's from being read as a template when
// running.
func literally(s string) string { return strings.ReplaceAll(s, "${run.", "$${run.") }

// verdictSchema is the output schema of a QA agent that has none of its own.
var verdictSchema = policies.DefaultOutput
