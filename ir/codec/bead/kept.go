package bead

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

// kept is what an import kept beside a node because an epic has no place for it:
// Node.Ext["bead"].
type kept struct {
	top      map[string]json.RawMessage            // keys of the issue
	metadata map[string]json.RawMessage            // keys of its metadata
	qa       map[string]map[string]json.RawMessage // keys of QA agents, by the names of their gates
}

func keptOf(n *ir.Node) (*kept, error) {
	k := &kept{}
	raw := n.Ext[Format]
	if len(raw) == 0 {
		return k, nil
	}
	if err := json.Unmarshal(raw, &k.top); err != nil {
		return nil, wrong(n, err)
	}
	if err := k.take(k.top, "metadata", &k.metadata); err != nil {
		return nil, wrong(n, err)
	}
	if err := k.take(k.metadata, "qa_agents", &k.qa); err != nil {
		return nil, wrong(n, err)
	}
	return k, nil
}

// take reads a key and removes it.
func (k *kept) take(from map[string]json.RawMessage, key string, to any) error {
	raw, ok := from[key]
	if !ok {
		return nil
	}
	delete(from, key)
	return json.Unmarshal(raw, to)
}

// text is a key of the metadata that was kept, "" if it is no text.
func (k *kept) text(name string) string { return asText(k.metadata[name]) }

func asText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

func (k *kept) or(name, value string) string { return cmp.Or(k.text(name), value) }

// number is a key of the metadata that was kept, 0 if it is not a number.
func (k *kept) number(name string) int {
	var n int
	if json.Unmarshal(k.metadata[name], &n) != nil {
		return 0
	}
	return n
}

// list is a key of the metadata that was kept: its items.
// items are those of a list as they are; none of what is no list.
func items(raw json.RawMessage) []any {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return []any{}
	}
	return lists.Map(list, func(x json.RawMessage) any { return x })
}

// put puts a key of the issue that was kept.
func (k *kept) put(o *foreign.Object, name string) {
	if raw := k.top[name]; raw != nil {
		o.Put(name, raw)
	}
}

// said is the path of an agent as the bead has it, so that what was run names those
// agents that the bead names.
func (k *kept) said(file string) string {
	paths := []string{k.text("dev_agent_path")}
	for _, gate := range slices.Sorted(maps.Keys(k.qa)) {
		paths = append(paths, asText(k.qa[gate]["agent_path"]))
	}
	for _, p := range paths {
		if p != "" && asSaid(p, file) == p {
			return p
		}
	}
	return file
}

// qaAgent adds what was kept of a QA agent, by the name of its gate.
func (k *kept) qaAgent(gate string, q qaAgent) any {
	more := maps.Clone(k.qa[gate])
	if len(more) == 0 || q.Gate != "" {
		return q
	}
	q.AgentPath = asSaid(asText(more["agent_path"]), q.AgentPath)
	delete(more, "agent_path")
	var o foreign.Object
	o.Put("agent_path", q.AgentPath)
	o.Put("model", q.Model)
	o.Put("prompt", q.Prompt)
	if len(q.InputSchema) > 0 {
		o.Put("input_schema", q.InputSchema)
	}
	o.Put("output_schema", q.OutputSchema)
	foreign.Rest(&o, more)
	return o
}
