package bead

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

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
	return json.Unmarshal(raw, to)
}

// text is a key of the metadata that was kept, "" if it is no text.
func (k *kept) text(name string) string { return foreign.Text(k.metadata[name]) }

func (k *kept) or(name, value string) string { return cmp.Or(k.text(name), value) }

// number is a key of the metadata that was kept, 0 if it is not a number.
func (k *kept) number(name string) int {
	var n int
	if json.Unmarshal(k.metadata[name], &n) != nil {
		return 0
	}
	return n
}

// put puts a key of the issue that was kept.
func (k *kept) put(o *foreign.Object, name string) {
	if raw := k.top[name]; raw != nil {
		foreign.Put(o, name, raw)
	}
}

// said is the path of an agent as the bead has it, so that what was run names those
// agents that the bead names.
func (k *kept) said(file string) string {
	paths := []string{k.text("dev_agent_path")}
	for _, gate := range slices.Sorted(maps.Keys(k.qa)) {
		paths = append(paths, foreign.Text(k.qa[gate]["agent_path"]))
	}
	for _, p := range paths {
		if asSaid(p, file) == p {
			return p
		}
	}
	return file
}

// qaAgent adds what was kept of a QA agent, by the name of its gate.
func (k *kept) qaAgent(gate string, q qaAgent) json.RawMessage {
	if q.Gate != "" {
		return rawJSON(q)
	}
	more := maps.Clone(k.qa[gate])
	q.AgentPath = asSaid(foreign.Text(more["agent_path"]), q.AgentPath)
	delete(more, "agent_path")
	var o foreign.Object
	foreign.Put(&o, "agent_path", q.AgentPath)
	foreign.Put(&o, "model", q.Model)
	foreign.Put(&o, "prompt", q.Prompt)
	if len(q.InputSchema) > 0 {
		foreign.Put(&o, "input_schema", q.InputSchema)
	}
	foreign.Put(&o, "output_schema", q.OutputSchema)
	o.Rest(more)
	return foreign.Raw(o)
}
