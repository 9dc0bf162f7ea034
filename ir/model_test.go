package ir_test

import (
	"testing"

	"github.com/ralph-compiler/ralph/ir"
)

func TestWhoUsesAModel(t *testing.T) { // K11
	for name, c := range map[string]struct {
		runner ir.Runner
		prompt string
		uses   bool
		judges bool
	}{
		"a command that names it nowhere":     {ir.Runner{Kind: "command", Run: []string{"sh", "agent.sh"}, Set: map[string]string{"A": "b"}}, "Judge it.", false, false},
		"a command that takes it":             {ir.Runner{Kind: "command", Run: []string{"agent", "-m", "${run.model}"}}, "", true, true},
		"a command that has it as a variable": {ir.Runner{Kind: "command", Run: []string{"agent"}, Set: map[string]string{"MODEL": "${run.model}"}}, "", true, true},
		"the words, escaped":                  {ir.Runner{Kind: "command", Run: []string{"echo", "$${run.model}"}}, "", false, false},
		"a gate's prompt that says it":        {ir.Runner{Kind: "command", Run: []string{"agent"}}, "You are ${run.model}.", false, true},
		"a program that is told by itself":    {ir.Runner{Kind: "claude"}, "", true, true},
	} {
		e := &ir.Epic{
			Agents: map[string]ir.Agent{"a": {Runner: "r", Model: "m"}}, Runners: map[string]ir.Runner{"r": c.runner},
			Gates: map[string]ir.Gate{"g": {Kind: "agent", Agent: "a", Prompt: []string{c.prompt}}},
		}
		if e.UsesModel("a") != c.uses || e.JudgesByModel("g", "a") != c.judges {
			t.Errorf("%s: uses %v, judges %v", name, e.UsesModel("a"), e.JudgesByModel("g", "a"))
		}
		if !e.UsesModel("gone") {
			t.Errorf("%s: nobody knows what an unknown agent used", name)
		}
	}
}
