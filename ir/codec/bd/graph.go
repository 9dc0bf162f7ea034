package bd

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

// family finds the children of each issue; who is their own ancestor has no parent.
func (d *decoding) family() {
	for _, i := range d.issues {
		for _, e := range i.deps {
			p := d.byID[e.to]
			if e.kind != string(ir.ParentChild) || p == nil || i.parent != nil || within(p, i) {
				continue
			}
			i.parent = p
			p.children = append(p.children, i)
		}
	}
}

// within reports whether an issue is another one or is below it.
func within(i, of *issue) bool {
	for ; i != nil; i = i.parent {
		if i == of {
			return true
		}
	}
	return false
}

// work are the issues that stand for one: itself, or what is below a container.
func (i *issue) work(out []*issue) []*issue {
	if !i.container() {
		return append(out, i)
	}
	for _, c := range i.children {
		out = c.work(out)
	}
	return out
}

// softened are the types of edges that order nothing in ralph; bd has more than ralph.
var softened = map[string]ir.EdgeType{
	string(ir.ParentChild): ir.ParentChild, string(ir.DiscoveredFrom): ir.DiscoveredFrom, string(ir.Related): ir.Related, "relates-to": ir.Related,
}

// ordering are the types that do: a bead is not ready before what they lead to is closed.
var ordering = []string{string(ir.Blocks), "conditional-blocks", "waits-for"}

// silent are the types of bd that ralph does nothing with.
var silent = []string{
	"replies-to", "duplicates", "supersedes", "authored-by", "assigned-to", "approved-by", "attests", "tracks", "until", "caused-by", "validates",
	"delegated-from",
}

// edges gives the nodes their edges, and keeps what is no edge of the graph.
func (d *decoding) edges() {
	for _, i := range d.issues {
		var kept []json.RawMessage
		for _, e := range i.deps {
			to := d.byID[e.to]
			typ, soft := softened[e.kind]
			orders := slices.Contains(ordering, e.kind)
			if !orders && !soft && !slices.Contains(silent, e.kind) {
				d.odd = append(d.odd, e.at)
				d.oddTypes = lists.Include(d.oddTypes, strconv.Quote(foreign.Clip(e.kind)))
			}
			switch {
			case to == nil && orders:
				d.diags.Add(diag.Newf("bead-dependency", e.at, "%s waits for %s, which is not there", foreign.Clip(string(i.node.ID)), foreign.Clip(e.to)).
					WithDetail("ralph waits only for work of the same epic. Export both: bd export writes all issues."))
			case to == nil || !orders && !soft:
			case !i.container() && !to.container():
				if orders {
					typ = ir.Blocks
				}
				i.edge(to, typ, e.at)
				if e.kind == string(typ) {
					continue
				}
			case orders:
				d.lift(i, to, e)
			}
			if e.raw != nil {
				kept = append(kept, e.raw)
			}
		}
		if kept != nil {
			i.ext["dependencies"] = foreign.Raw(kept)
		}
	}
}

// lift makes edges of the children of one that an epic has.
func (d *decoding) lift(from, to *issue, e dep) {
	if within(from, to) || within(to, from) {
		return // bd refuses it, and older ones meant no more than that it belongs there
	}
	d.lifted = append(d.lifted, e.at)
	for _, f := range from.work(nil) {
		for _, t := range to.work(nil) {
			f.edge(t, ir.Blocks, e.at)
		}
	}
}

// edge adds an edge that the issue does not have.
func (i *issue) edge(to *issue, typ ir.EdgeType, at diag.Range) {
	for k := range i.node.Edges {
		if x := &i.node.Edges[k]; x.Key == to.node.Key {
			if typ == ir.Blocks {
				x.Type = typ
			}
			return
		}
	}
	i.node.Edges = append(i.node.Edges, ir.DraftEdge{Key: to.node.Key, From: "import", Type: typ, Range: at})
}

// report says once what holds for many issues.
func (d *decoding) report() {
	say := func(at []diag.Range, code diag.Code, severity diag.Severity, summary, detail string) {
		if len(at) == 0 {
			return
		}
		found := diag.Newf(code, at[0], summary, len(at)).WithDetail("%s", detail)
		found.Severity = severity
		d.diags.Add(found)
	}
	say(d.closed, "bead-completed", diag.Note, "issues that are closed: %d", "They are done, and are not run again. Their results have to be in the branch that the work starts from.")
	say(d.begun, "bead-status", diag.Warning, "issues that were begun elsewhere: %d", "in_progress and blocked are kept in epic.json (nodes.ext.bd) and mean nothing to ralph: it begins with them anew.")
	say(d.books, "bead-place", diag.Note, "records that are not work: %d", "Events, messages, tombstones and memories of bd stay there.")
	most := min(len(d.oddTypes), 8)
	say(d.odd, "bead-dependency", diag.Warning, "dependencies of a type that bd does not know: %d", "They are "+strings.Join(d.oddTypes[:most], ", ")+", and order nothing. Write blocks if the one has to be done before the other.")
	say(d.lifted, "bead-place", diag.Note, "dependencies of epics, held by their children: %d", "An epic with children is not a sprint: what it waits for its children wait for, and what waits for it waits for all of them.")
}

// draft puts the issues together. The one epic that holds all of them is the header.
func (d *decoding) draft(files []*diag.File) *ir.Draft {
	out := &ir.Draft{Plan: files[0].Name, Slug: foreign.Stem(files[0].Name), Title: foreign.Stem(files[0].Name), Range: files[0].Range(0, 0)}
	tops := lists.Keep(d.issues, func(i *issue) bool { return i.parent == nil })
	if len(tops) == 1 && tops[0].container() {
		h := tops[0]
		out.ID, out.IDRange, out.Title, out.Range = h.node.ID, h.node.IDRange, h.node.Title, h.node.Range
		out.Slug, out.Owner, out.Labels = foreign.Slug(h.node.Title), h.own, h.node.Labels
		if h.text != "" {
			out.Description = strings.Split(h.text, "\n")
		}
	} else {
		out.Owner = d.owner()
	}
	for _, i := range d.issues {
		if i.container() {
			continue
		}
		if i.node.Ext = foreign.Ext(Format, i.ext); i.node.Ext == nil { // that it was imported is known by it
			i.node.Ext = map[string]json.RawMessage{Format: json.RawMessage("{}")}
		}
		out.Nodes = append(out.Nodes, i.node)
	}
	return out
}

// owner is who owns every issue, "" if that is not one.
func (d *decoding) owner() string {
	own := d.issues[0].own
	for _, i := range d.issues {
		if i.own != own {
			return ""
		}
	}
	return own
}
