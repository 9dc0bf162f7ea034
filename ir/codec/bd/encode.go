package bd

import (
	"cmp"
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
	{Field: "events, messages, tombstones, memories", What: "are not work and are not exported"},
	{Field: "epics with children", What: "the one that holds all issues comes out with its title, description, owner and labels; others do not come out, and their children have what their edges ordered"},
	{Field: "an epic, `/labels`", What: "where no epic held all issues there is one now; ralph's labels (ralph, ralph-epic:…, merge) are added, no label is there twice, sorted, without commas"},
	{Field: "`/metadata`", What: "keys that ralph writes itself come out as ralph has them; all others stay"},
	{Field: "`/dependencies`", What: "conditional-blocks and waits-for order the graph as blocks do, and come out as both, as does relates-to, which is related; each issue without parent gets the epic as one; created_at and created_by of edges go"},
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
	list := make([]json.RawMessage, len(rows))
	for i := range rows {
		if list[i], err = foreign.JSON(&rows[i]); err != nil {
			return nil, fmt.Errorf("bead %s: %w", rows[i].ID, err)
		}
		if i > 0 && len(e.Nodes[i-1].Ext[Format]) > 0 {
			if list[i], err = again(e, &e.Nodes[i-1], h, list[i]); err != nil {
				return nil, err
			}
		}
	}
	return nil, foreign.WriteLines(w, list)
}

// again is the row of an issue that was imported, with what the import kept of it.
func again(e *ir.Epic, n *ir.Node, h *ir.History, row json.RawMessage) (json.RawMessage, error) {
	ext, err := foreign.Kept(n, Format)
	if err != nil {
		return nil, err
	}
	out, err := foreign.Members(row)
	if err != nil {
		return nil, err
	}
	begun := !h.Node(n.ID).Updated.IsZero()
	if !begun { // an issue that is not assigned has no assignee
		delete(out, "assignee")
		delete(out, "close_reason")
	}
	for k, v := range ext {
		switch {
		case k == "metadata" || k == "comments":
		case begun && slices.Contains(ours, k):
		default:
			out[k] = v
		}
	}
	if out["metadata"], err = metadataAgain(ext["metadata"], out["metadata"]); err != nil {
		return nil, err
	}
	if all := slices.Concat(foreign.List(ext["comments"]), foreign.List(out["comments"])); len(all) > 0 {
		out["comments"] = foreign.Raw(all)
	}
	out["dependencies"] = foreign.Raw(edgesAgain(e, n, ext))
	return foreign.Raw(out), nil
}

// metadataAgain is what the import kept of an issue's metadata, with ralph's own keys. What
// is no object stays as it was.
func metadataAgain(kept, own json.RawMessage) (json.RawMessage, error) {
	switch {
	case len(kept) == 0:
		return own, nil
	case kept[0] != '{':
		return kept, nil
	}
	all, err := foreign.Members(kept)
	if err != nil {
		return nil, err
	}
	ours, err := foreign.Members(own)
	if err != nil {
		return nil, err
	}
	maps.Copy(all, ours)
	return foreign.Raw(all), nil
}

// edgesAgain are all edges that an imported issue had, those that others imply too.
func edgesAgain(e *ir.Epic, n *ir.Node, ext map[string]json.RawMessage) []json.RawMessage {
	ids := idsOf(e.Nodes)
	kept := foreign.List(ext["dependencies"])
	parent := slices.ContainsFunc(kept, func(x json.RawMessage) bool {
		o, _ := foreign.Members(x) // an id has none
		return cmp.Or(foreign.Text(o["type"]), foreign.Text(o["dependency_type"])) == string(ir.ParentChild)
	})
	var out []json.RawMessage
	for _, x := range n.After {
		out = append(out, edge(n.ID, ids[x.Key], x.Type))
		parent = parent || x.Type == ir.ParentChild
	}
	if !parent {
		out = append(out, edge(n.ID, e.Epic.ID, ir.ParentChild))
	}
	return append(out, kept...)
}

// edge is an edge as JSON.
func edge(from, to ir.NodeID, typ ir.EdgeType) json.RawMessage {
	return foreign.Raw(foreign.Object{foreign.Key("issue_id", from), foreign.Key("depends_on_id", to), foreign.Key("type", typ)})
}
