package ralphbead

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

// idPattern is an id that can also be a part of git's refs.
var idPattern = lazyregexp.New(`^[A-Za-z0-9](?:[A-Za-z0-9_-]|\.[A-Za-z0-9_-])*$`)

// maxID is the longest id, in characters: that of an annotation in a plan.
const maxID = 64

// bead reads the object of the file.
func (d *decoding) bead(root *foreign.Value) {
	f := d.Fields(root, d.ext, "$schema", "id", "title", "intent", "type", "priority", "lane", "dod", "constraints", "ralph_meta", "status", "artifacts", "blocking")
	n := &d.node
	n.Kind, n.Word, n.PhaseIndex, n.Ordered = ir.Work, "Bead", -1, true
	here := d.File.Range(root.Start, root.Start+1)
	n.Range, n.KeyRange = here, here
	d.repository = byRepository(f)
	if v := f[foreign.Plain("$schema")]; v != nil {
		d.ext["$schema"] = v.Plain()
	}
	if v := f["id"]; v != nil {
		d.id(v)
	}
	if v := f["title"]; v != nil {
		n.Title = text.OneLine(d.Text(v, "the title"))
		n.Range = d.At(v)
	}
	if v := f["intent"]; v != nil {
		n.Goal = strings.TrimSpace(strings.ReplaceAll(d.Text(v, "what must be accomplished"), "\r\n", "\n"))
	} else {
		d.Missing(root, "intent", "what must be accomplished, a text")
	}
	if v := f["type"]; v != nil {
		if w := d.Word(v, "task", "feature", "bugfix", "gate"); w != "" {
			n.Type = d.Stated(v, w)
			if w == "gate" {
				n.Kind = ir.GateKind
			}
		}
	}
	if v := f["priority"]; v != nil {
		d.priority(v)
	}
	if v := f["lane"]; v != nil {
		if w := strings.ToLower(d.Text(v, "the lane")); strings.ContainsAny(w, " \t\n") {
			d.Wrong(v, "one word: fast, feature, maintenance, experimental, or a lane that the policy declares")
		} else if w != "" {
			n.Lane = d.Stated(v, w)
		}
	}
	if v := f["status"]; v != nil {
		d.status(v)
	}
	if v := f[foreign.Plain("ralph_meta")]; v != nil {
		if v.Kind != '{' {
			d.Wrong(v, "an object")
		}
		d.ext["ralph_meta"] = v.Plain()
	}
	if v := f["artifacts"]; v != nil {
		d.artifacts(v)
	}
	if v := f["blocking"]; v != nil {
		d.blocking(v)
	}
	if v := f["constraints"]; v != nil {
		d.constraints(v)
	}
	if v := f["dod"]; v != nil {
		d.dod(v)
	} else {
		d.Missing(root, "dod", "the definition of done, an object with verifiers")
	}
}

func (d *decoding) id(v *foreign.Value) {
	id := d.Text(v, "the id of the bead")
	if id == "" {
		return
	}
	if len(id) > maxID || !idPattern.MatchString(id) || strings.HasSuffix(id, ".lock") || id == "integration" {
		d.Wrong(v, fmt.Sprintf("letters, digits, \"-\", \"_\" and single dots, at most %d of them; ids become part of git's refs, and \"integration\" is ralph's own", maxID))
		return
	}
	d.node.ID, d.node.IDRange = ir.NodeID(id), d.At(v)
	d.node.Key, d.node.KeyRange = ir.Key(id), d.At(v)
}

// priority has one step more than ralph's own scale.
func (d *decoding) priority(v *foreign.Value) {
	p, ok := d.Whole(v, 0, 5)
	if !ok {
		return
	}
	if p == 5 {
		d.ext["priority"] = json.Number("5")
		d.Diags.Add(diag.New("bead-priority", d.At(v), "priority 5 becomes 4").
			WithDetail("ralph's priorities go from 0 (critical) to 4 (minimal). The 5 is kept in epic.json (nodes.ext.%s). Write 4 to silence this.", Format))
		p = 4
	}
	d.node.Priority = d.Stated(v, fmt.Sprint(p))
}

// status says how far another executor got. Only completed is taken over: what
// ralph itself does is in its journal.
func (d *decoding) status(v *foreign.Value) {
	w := d.Word(v, "pending", "in_progress", "completed", "failed", "blocked")
	if w == "" {
		return
	}
	d.ext["status"] = w
	if w != "completed" {
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
	raw, err := json.Marshal(d.ext)
	if err != nil {
		panic(fmt.Sprintf("ralphbead: %v", err)) // it was read from JSON
	}
	n.Ext = map[string]json.RawMessage{Format: raw}
}
