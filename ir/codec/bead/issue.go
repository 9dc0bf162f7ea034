package bead

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

// keyPattern is a sprint that can be a key.
var keyPattern = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// topKeys are the keys of an issue that have a meaning.
var topKeys = []string{
	"id", "title", "description", "status", "priority", "issue_type", "assignee", "owner", "dependencies", "labels",
	"comments", "metadata", "external_ref", "created_at", "updated_at", "closed_at",
}

// issue reads one bead.
func (d *decoding) issue(r *foreign.Reader, v *foreign.Value) {
	b := &bead{r: r, v: v, top: map[string]json.RawMessage{}, metadata: map[string]json.RawMessage{}, qa: map[string]map[string]json.RawMessage{}}
	n := &b.node
	n.Kind, n.Word, n.PhaseIndex, n.Ordered = ir.Work, "Sprint", -1, true
	here := r.File.Range(v.Start, v.Start+1)
	n.Range, n.KeyRange = here, here
	f := r.Fields(v, b.top, topKeys...)
	r.ID(f.Get("id"), "the id of the bead", n)
	if x := f.Get("title"); x != nil {
		n.Title, n.Range = text.OneLine(r.Text(x, "what is to be done")), r.At(x)
	}
	if x := f.Get("description"); x != nil && strings.ContainsRune(x.Text, 0) {
		r.Wrong(x, "a text")
	} else if r.Is(x, 's', "a text") {
		n.Goal = foreign.Lines(x.Text)
	}
	switch x := f.Get("issue_type"); {
	case x == nil || x.Kind != 's' || x.Text == "" || x.Text == TypeWork:
	case x.Text == "epic":
		d.epic = cmp.Or(d.epic, b)
		return
	case x.Text == TypeMerge:
		n.Kind = ir.Merge
	default:
		n.Type = b.stated(x, x.Text)
	}
	d.beads = append(d.beads, b)
	d.demand(b)
	d.details(b, f)
	b.finish()
}

// details reads everything but what a bead is.
func (d *decoding) details(b *bead, f foreign.Fields) {
	if x := f.Get("status"); x != nil {
		d.status(b, x)
	}
	if x := f.Get("priority"); x != nil {
		b.priority(x)
	}
	if x := f.Get("dependencies"); x != nil {
		b.dependencies(x)
	}
	if x := f.Get("assignee"); x != nil && x.Text != Assignee {
		b.top["assignee"] = x.Plain()
	}
	if x := f.Get("owner"); x != nil && x.Kind == 's' {
		b.owner = x.Text
	}
	for _, name := range []string{"comments", "external_ref", "created_at", "updated_at", "closed_at"} {
		if x := f.Get(name); x != nil {
			b.top[name] = x.Plain()
		}
	}
	if m := f.Get("metadata"); b.r.Is(m, '{', "an object") {
		d.metadata(b, m)
	}
	if x := f.Get("labels"); x != nil { // the metadata say which of them export writes anyway
		b.labels(x)
	}
}

// status takes over what is finished. How far another executor got with the rest is
// kept and means nothing to ralph, whose journal knows what its gates have seen.
func (d *decoding) status(b *bead, v *foreign.Value) {
	switch w := strings.ToLower(v.Text); {
	case w == "open":
	case foreign.IssueStatuses.Read(w) == foreign.Done:
		b.node.Done, b.node.DoneBy, b.node.DoneRange = true, "status", b.r.At(v)
		b.r.Diags.Add(diag.New("bead-completed", b.r.At(v), "the bead is closed").
			WithDetail("Its status says that the work is done, so apply does not run it. Write open to run it."))
	default:
		b.top["status"] = v.Plain()
		d.unused(b, v, "bead-status", "the status is not taken over",
			"%q is what another executor knows of the bead; for ralph the work has not begun, and apply starts it. Make sure that nobody is at work on it.", foreign.Clip(v.Text))
	}
}

func (b *bead) priority(v *foreign.Value) {
	if v.Kind == 'n' && len(v.Text) == 1 && v.Text <= "4" {
		b.node.Priority = b.stated(v, v.Text)
		return
	}
	b.top["priority"] = v.Plain() // demands has said what it has to be
}

// dependencyOf takes a dependency apart: an id, or an object in one of bd's shapes.
func dependencyOf(v *foreign.Value) (id, typ *foreign.Value) {
	switch v.Kind {
	case 's':
		return v, nil
	case '{':
		id = v.Any("depends_on_id")
		if id == nil {
			id = v.Any("id")
		}
		typ = v.Any("dependency_type")
		if typ == nil && v.Any("depends_on_id") != nil || typ == nil && v.Any("title") == nil {
			typ = v.Any("type")
		}
	}
	if id != nil && id.Kind != 's' {
		id = nil
	}
	return id, typ
}

// dependencies reads what the bead waits for. Types of bd that ralph does not have
// become the nearest: what schedules blocks, everything else is related.
func (b *bead) dependencies(v *foreign.Value) {
	for _, x := range v.Items {
		id, typ := dependencyOf(x)
		if id == nil || id.Text == "" {
			continue // demands has said so
		}
		t := ir.Blocks
		if typ != nil {
			switch typ.Text {
			case "", "blocks", "conditional-blocks", "waits-for":
			case string(ir.ParentChild):
				t = ir.ParentChild
			case string(ir.DiscoveredFrom):
				t = ir.DiscoveredFrom
			default:
				t = ir.Related
			}
		}
		if slices.ContainsFunc(b.needs, func(n need) bool { return n.id == id.Text && n.typ == t }) {
			continue
		}
		b.needs = append(b.needs, need{id.Text, t, x})
	}
}

// labels keeps those that export does not write anyway.
func (b *bead) labels(v *foreign.Value) {
	own := conventional(b.node.Phase, b.sprint, b.node.Kind == ir.Merge)
	for _, x := range v.Items {
		if isSaid(x) && !slices.Contains(own, x.Text) {
			b.node.Labels = lists.Include(b.node.Labels, x.Text)
		}
	}
}

// finish fills in what follows from the rest.
func (b *bead) finish() {
	n := &b.node
	n.Key = cmp.Or(n.Key, ir.Key(foreign.Slug(n.Title)))
	if n.Key == "" || n.Key == "integration" {
		n.Key = "bead"
	}
	n.Title = cmp.Or(n.Title, text.OneLine(text.FirstLine(n.Goal)))
	if n.Title == "" && b.v.Any("title") == nil {
		b.r.Missing(b.v, "title", "what is to be done, in a line")
	}
}

// ext is what has no place in a draft, as Node.Ext has it; nil if nothing.
func (b *bead) ext() map[string]json.RawMessage {
	if len(b.qa) > 0 {
		b.metadata["qa_agents"] = rawJSON(b.qa)
	}
	if len(b.metadata) > 0 {
		b.top["metadata"] = foreign.Raw(b.metadata)
	}
	return foreign.Ext(Format, b.top)
}
