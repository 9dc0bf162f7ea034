package policies

import (
	"maps"
	"slices"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/ralph-compiler/ralph/internal/lists"
)

// nodeValue returns the view as expressions see it. Lists are typed even when
// empty, so that every node has the same type.
func nodeValue(v *NodeView) cty.Value {
	if have, ok := v.value.(cty.Value); ok {
		return have
	}
	val := cty.ObjectVal(map[string]cty.Value{
		"key": cty.StringVal(v.Key), "phase": cty.StringVal(v.Phase), "title": cty.StringVal(v.Title), "goal": cty.StringVal(v.Goal),
		"kind": cty.StringVal(v.Kind), "lane": cty.StringVal(v.Lane), "type": cty.StringVal(v.Type),
		"complexity": cty.StringVal(v.Complexity), "priority": cty.NumberIntVal(int64(v.Priority)),
		"labels": stringsValue(v.Labels), "paths": stringsValue(v.Paths), "owns": stringsValue(v.Owns), "after": stringsValue(v.After),
		"done": cty.BoolVal(v.Done), "policy": cty.StringVal(v.Policy), "attempts": cty.NumberIntVal(int64(v.Attempts)),
		"iterations": cty.NumberIntVal(int64(v.Iterations)), "timeout": cty.NumberIntVal(v.TimeoutMS / 1000),
		"gates":  listValue(gateType, v.Gates, gateValue),
		"agents": listValue(agentType, v.Agents, agentValue),
		"steps":  listValue(stepType, v.Steps, stepValue),
	})
	v.value = val
	return val
}

var (
	text_     = cty.String
	textList  = cty.List(cty.String)
	gateType  = cty.Object(map[string]cty.Type{"name": text_, "kind": text_, "agent": text_, "model": text_, "access": text_, "run": text_, "on_failure": text_, "from": text_, "step": text_, "approvers": textList, "protect": textList, "fields": textList})
	agentType = cty.Object(map[string]cty.Type{"name": text_, "step": text_, "model": text_, "access": text_, "runner": text_, "capabilities": textList, "tags": textList, "human": cty.Bool, "implicit": cty.Bool})
	stepType  = cty.Object(map[string]cty.Type{"name": text_, "agent": text_, "model": text_, "access": text_, "gates": textList})
)

func gateValue(g GateView) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{
		"name": cty.StringVal(g.Name), "kind": cty.StringVal(g.Kind), "agent": cty.StringVal(g.Agent), "model": cty.StringVal(g.Model),
		"access": cty.StringVal(g.Access), "run": cty.StringVal(g.Run), "on_failure": cty.StringVal(g.OnFailure), "from": cty.StringVal(g.From),
		"step": cty.StringVal(g.Step), "approvers": stringsValue(g.Approvers), "protect": stringsValue(g.Protect), "fields": stringsValue(g.Fields),
	})
}

func agentValue(a AgentView) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{
		"name": cty.StringVal(a.Name), "step": cty.StringVal(a.Step), "model": cty.StringVal(a.Model), "access": cty.StringVal(a.Access),
		"runner": cty.StringVal(a.Runner), "capabilities": stringsValue(a.Capabilities), "tags": stringsValue(a.Tags),
		"human": cty.BoolVal(a.Human), "implicit": cty.BoolVal(a.Implicit),
	})
}

func stepValue(s StepView) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{
		"name": cty.StringVal(s.Name), "agent": cty.StringVal(s.Agent), "model": cty.StringVal(s.Model),
		"access": cty.StringVal(s.Access), "gates": stringsValue(s.Gates),
	})
}

func stringsValue(list []string) cty.Value { return listValue(cty.String, list, cty.StringVal) }

func listValue[T any](ty cty.Type, list []T, conv func(T) cty.Value) cty.Value {
	if len(list) == 0 {
		return cty.ListValEmpty(ty)
	}
	return cty.ListVal(lists.Map(list, conv))
}

func edgeValue(v *EdgeView) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{
		"from": nodeValue(v.From), "to": nodeValue(v.To), "type": cty.StringVal(v.Type), "origin": cty.StringVal(v.Origin),
	})
}

func planValue(v *PlanView) cty.Value {
	if have, ok := v.value.(cty.Value); ok {
		return have
	}
	val := cty.ObjectVal(map[string]cty.Value{
		"slug": cty.StringVal(v.Slug), "title": cty.StringVal(v.Title), "base": cty.StringVal(v.Base), "target": cty.StringVal(v.Target),
		"owner": cty.StringVal(v.Owner), "labels": stringsValue(v.Labels),
		"nodes": listValue(nodeValue(sampleNode()).Type(), v.Nodes, nodeValue),
	})
	v.value = val
	return val
}

// sampleNode is a node with one element in each list: expressions are tried on
// it before any plan exists.
func sampleNode() *NodeView {
	one := []string{"a"}
	return &NodeView{
		Key: "1.1", Phase: "1", Title: "sample", Goal: "sample", Kind: "work", Complexity: "standard", Priority: 2,
		Labels: one, Paths: one, Owns: one, After: one, Policy: "default", Attempts: 3, Iterations: 20, TimeoutMS: 1_200_000,
		Gates:  []GateView{{Name: "unit", Kind: "command", Approvers: one, Protect: one, Fields: one}},
		Agents: []AgentView{{Name: "dev", Capabilities: one, Tags: one}},
		Steps:  []StepView{{Name: "implement", Gates: one}},
	}
}

func samplePlan() *PlanView {
	return &PlanView{Slug: "plan", Title: "Plan", Labels: []string{"a"}, Nodes: []*NodeView{sampleNode()}}
}

var nodeNames = sync.OnceValue(func() []string {
	return slices.Sorted(maps.Keys(nodeValue(sampleNode()).Type().AttributeTypes()))
})
