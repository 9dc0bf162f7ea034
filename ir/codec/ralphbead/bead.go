package ralphbead

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

// bead reads the object of the file.
func (d *decoding) bead(root *foreign.Value) {
	f := d.Fields(root, d.ext, "$schema", "id", "title", "intent", "type", "priority", "lane", "dod", "constraints", "ralph_meta", "status", "artifacts", "blocking")
	n := &d.node
	n.Kind, n.Word, n.PhaseIndex, n.Ordered = ir.Work, "Bead", -1, true
	here := d.File.Range(root.Start, root.Start+1)
	n.Range, n.KeyRange = here, here
	d.repository = byRepository(f)
	if v := f.Get("$schema"); v != nil {
		d.ext["$schema"] = v.Plain()
	}
	d.ID(f.Get("id"), "the id of the bead", n)
	if v := f.Get("title"); v != nil {
		n.Title, n.Range = text.OneLine(d.Text(v, "the title")), d.At(v)
	}
	intent := d.Need(root, f, "intent", "what must be accomplished, a text")
	n.Goal = strings.TrimSpace(strings.ReplaceAll(d.Text(intent, "what must be accomplished"), "\r\n", "\n"))
	if w := d.Word(f.Get("type"), "task", "feature", "bugfix", "gate"); w != "" {
		if n.Type = d.Stated(f.Get("type"), w); w == "gate" {
			n.Kind = ir.GateKind
		}
	}
	d.priority(f.Get("priority"))
	lane := f.Get("lane")
	if w := strings.ToLower(d.Text(lane, "the lane")); strings.ContainsAny(w, " \t\n") {
		d.Wrong(lane, "one word: fast, feature, maintenance, experimental, or a lane that the policy declares")
	} else if w != "" {
		n.Lane = d.Stated(lane, w)
	}
	d.status(f.Get("status"))
	if v := f.Get("ralph_meta"); v != nil {
		d.Is(v, '{', "an object")
		d.ext["ralph_meta"] = v.Plain()
	}
	d.artifacts(f.Get("artifacts"))
	d.blocking(f.Get("blocking"))
	d.constraints(f.Get("constraints"))
	d.dod(d.Need(root, f, "dod", "the definition of done, an object with verifiers"))
}

// priority has one step more than ralph's own scale.
func (d *decoding) priority(v *foreign.Value) {
	p, ok := d.Whole(v, 0, 5)
	if !ok {
		return
	}
	if p == 5 {
		d.ext["priority"] = foreign.Raw(5)
		d.Diags.Add(diag.New("bead-priority", d.At(v), "priority 5 becomes 4").
			WithDetail("ralph's priorities go from 0 (critical) to 4 (minimal). The 5 is kept in epic.json (nodes.ext.%s). Write 4 to silence this.", Format))
		p = 4
	}
	d.node.Priority = d.Stated(v, fmt.Sprint(p))
}

// status says how far another executor got. Only completed is taken over: what
// ralph itself does is in its journal.
func (d *decoding) status(v *foreign.Value) {
	w := d.Word(v, foreign.RalphBeadStatuses.Words()...)
	if w == "" {
		return
	}
	d.ext["status"] = foreign.Raw(w)
	if foreign.RalphBeadStatuses.Read(w) != foreign.Done {
		return
	}
	d.node.Done, d.node.DoneBy, d.node.DoneRange = true, "status", d.At(v)
	d.Diags.Add(diag.New("bead-completed", d.At(v), "the bead is completed").
		WithDetail("Its status says that the work is done, so apply does not run it. Write pending, or remove the status, to run it."))
}

// finish fills in what follows from the rest; name is the key of a bead without an id.
func (d *decoding) finish(name string) {
	n := &d.node
	if n.ID == "" {
		if name == "" || name == "integration" {
			name = "bead"
		}
		n.Key = ir.Key(name)
	}
	if n.Title == "" {
		n.Title, _, _ = strings.Cut(n.Goal, "\n")
		n.Title = text.Title(text.OneLine(n.Title), 72)
	}
	if n.Ext = foreign.Ext(Format, d.ext); n.Ext == nil { // that it was read from a bead is known by it
		n.Ext = map[string]json.RawMessage{Format: json.RawMessage("{}")}
	}
}
