package ir

import (
	"maps"
	"slices"
	"strings"
)

// UsesModel reports whether an agent's program is given the model to
// take. A command is, where what it is started with names ${run.model}; else the model
// in the policy says nothing about what it does, and views leave it out. An agent that
// the epic does not know uses it.
func (e *Epic) UsesModel(agent string) bool {
	a, known := e.Agents[agent]
	r, runs := e.Runners[a.Runner]
	if !known || !runs || r.Kind != "command" {
		return true
	}
	return slices.ContainsFunc(slices.Concat(r.Run, slices.Collect(maps.Values(r.Set))), namesModel)
}

// JudgesByModel is UsesModel of an agent that judges at a gate, whose prompt may name
// the model, too.
func (e *Epic) JudgesByModel(gate, agent string) bool {
	return e.UsesModel(agent) || namesModel(strings.Join(e.Gates[gate].Prompt, "\n"))
}

func namesModel(template string) bool {
	const name = "${run.model}"
	return strings.Contains(strings.ReplaceAll(template, "$"+name, ""), name)
}
