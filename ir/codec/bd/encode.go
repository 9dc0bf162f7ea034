package bd

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

// Losses lists what does not survive an import and an export. docs/formats/bd.md has it
// as a table.
var Losses = []foreign.Loss{
	{Field: "order of keys and of lines", What: "the epic comes first, then the work in the order of the graph; keys of an issue that was imported are sorted"},
	{Field: "keys that are null, `_type`, counts, `revision`", What: "left out: bd makes them anew"},
	{Field: "events, messages, tombstones, memories", What: "are no work and do not come out"},
	{Field: "epics with children", What: "the one that holds all issues comes out with its title, description, owner and labels; others do not come out, and their children have what their edges ordered"},
	{Field: "an epic, `/labels`", What: "where no epic held all issues there is one now; ralph's labels (ralph, ralph-epic:…, merge) are added, no label is there twice, sorted, without commas"},
	{Field: "`/metadata`", What: "keys that ralph writes itself come out as ralph has them; all others stay"},
	{Field: "`/dependencies`", What: "conditional-blocks and waits-for order the graph as blocks do, and come out as both; each issue without parent gets the epic as one; created_at and created_by of edges go"},
	{Field: "`/priority`", What: "what is absent comes out as the policy's"},
	{Field: "line ends and blanks around texts", What: "a title is one line with single blanks, of at most 500 bytes"},
	{Field: "`/status`, `/assignee`, `/updated_at`, `/closed_at`, `/close_reason`, `/external_ref`", What: "as soon as ralph has begun the work, its own; issues that were begun elsewhere begin anew"},
}

// ours are the keys that are the run's as soon as ralph has begun the work.
var ours = []string{"status", "assignee", "created_at", "updated_at", "started_at", "closed_at", "close_reason", "closed_by_session", "external_ref", "defer_until"}

// Encode writes an epic with its history as lines for bd import. Issues written by bd get
// all their keys back. bd requires nothing that an epic lacks, so there are no breaches.
func Encode(w io.Writer, e *ir.Epic, h *ir.History) ([]foreign.Breach, error) {
	rows, err := Rows(e, h)
	if err != nil {
		return nil, err
	}
	list := make([]any, len(rows))
	for i := range rows {
		if list[i] = &rows[i]; i > 0 && len(e.Nodes[i-1].Ext[Format]) > 0 {
			if list[i], err = again(e, &e.Nodes[i-1], h, &rows[i]); err != nil {
				return nil, err
			}
		}
	}
	return nil, foreign.WriteLines(w, list)
}

// again is the row of an issue that was imported, with what the import kept of it.
func again(e *ir.Epic, n *ir.Node, h *ir.History, r *Row) (map[string]any, error) {
	ext, err := foreign.Kept(n, Format)
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("bead %s: %w", r.ID, err)
	}
	var out map[string]any
	if err := foreign.Exact(b, &out); err != nil {
		return nil, err
	}
	nh := h.Node(n.ID)
	begun := len(nh.Attempts) > 0 || !nh.Started.IsZero() || !nh.Updated.IsZero()
	if !begun {
		for _, k := range ours { // an issue that is not assigned has no assignee
			if _, has := ext[k]; !has && k != "status" && k != "updated_at" && (k != "closed_at" || out["status"] != "closed") {
				delete(out, k)
			}
		}
	}
	for k, v := range ext {
		switch {
		case k == "metadata" || k == "dependencies" || k == "comments":
		case begun && slices.Contains(ours, k):
		default:
			out[k] = v
		}
	}
	if meta, ok := ext["metadata"].(map[string]any); ok {
		all := maps.Clone(meta)
		maps.Copy(all, out["metadata"].(map[string]any))
		out["metadata"] = all
	} else if ext["metadata"] != nil {
		out["metadata"] = ext["metadata"]
	}
	said, _ := ext["comments"].([]any)
	if more, _ := out["comments"].([]any); len(said)+len(more) > 0 {
		out["comments"] = slices.Concat(said, more)
	}
	out["dependencies"] = edgesAgain(e, n, ext)
	return out, nil
}

// edgesAgain are all edges that an imported issue had, those that others imply too.
func edgesAgain(e *ir.Epic, n *ir.Node, ext map[string]any) []any {
	ids := idsOf(e.Nodes)
	var out []any
	has := map[string]bool{}
	kept, _ := ext["dependencies"].([]any)
	for _, x := range kept {
		if o, ok := x.(map[string]any); ok {
			for _, k := range []string{"depends_on_id", "id"} {
				for _, t := range []string{"type", "dependency_type"} {
					if to, _ := o[k].(string); to != "" && o[t] != nil {
						has[fmt.Sprint(o[t], " ", to)] = true
						if o[t] == string(ir.ParentChild) {
							has[string(ir.ParentChild)] = true
						}
					}
				}
			}
		}
	}
	add := func(to ir.NodeID, typ ir.EdgeType) {
		if k := string(typ) + " " + string(to); !has[k] {
			has[k] = true
			out = append(out, Dependency{string(n.ID), string(to), string(typ)})
		}
	}
	for _, x := range n.After {
		add(ids[x.Key], x.Type)
		if x.Type == ir.ParentChild {
			has[string(ir.ParentChild)] = true
		}
	}
	if !has[string(ir.ParentChild)] {
		add(e.Epic.ID, ir.ParentChild)
	}
	return append(out, kept...)
}
