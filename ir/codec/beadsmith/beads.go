package beadsmith

import (
	"encoding/json"
	"time"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

// beadStatuses are the words of a bead.
var beadStatuses = []string{"running", "awaiting_approval", "approved", "rejected", "skipped"}

// beads reads the beads that are in a task.
func (d *decoding) beads(v *foreign.Value, t *task) {
	if !d.Is(v, '[', "a list of beads") {
		return
	}
	for _, x := range v.Items {
		if !d.Is(x, '{', "an object") {
			continue
		}
		if r, ok := d.bead(x); ok {
			t.beads = append(t.beads, r)
		}
	}
}

// bead checks what a bead has to have; all of it is kept as it is.
func (d *decoding) bead(v *foreign.Value) (foreignBead, bool) {
	before := len(d.Diags)
	f := foreign.Fields{}
	for _, m := range v.Members { // whatever else it has is kept with it
		if m.Value.Kind != '0' {
			f[foreign.Plain(m.Name)] = m.Value
		}
	}
	r := foreignBead{value: v.Plain(), at: d.At(v)}
	d.Text(d.Need(v, f, "id", "what the bead is known by, a text"), "what the bead is known by")
	if x := d.Need(v, f, "taskId", "the id of its task"); x != nil {
		r.task, r.at = d.Text(x, "the id of its task"), d.At(x)
	}
	d.Whole(d.Need(v, f, "beadNumber", "its number within its task, from 1"), 1, 1_000_000)
	d.Word(d.Need(v, f, "status", "running, awaiting_approval, approved, rejected or skipped"), beadStatuses...)
	for _, name := range []string{"startedAt", "completedAt"} {
		if x := f.Get(name); x != nil {
			d.time(x)
		}
	}
	d.Whole(f.Get("tokensUsed"), 0, 1<<53)
	for _, name := range []string{"filesChanged", "testResults"} {
		d.Is(f.Get(name), '[', "a list")
	}
	return r, len(d.Diags) == before
}

// time is a Date as JSON has it, or milliseconds since 1970.
func (d *decoding) time(v *foreign.Value) {
	switch v.Kind {
	case 'n':
		d.Whole(v, 0, 1<<53)
	case 's':
		if _, err := time.Parse(time.RFC3339, v.Text); err == nil {
			return
		}
		fallthrough
	default:
		d.Wrong(v, "a time with its zone, such as 2026-01-31T18:00:00Z, or milliseconds since 1970")
	}
}

// assign gives each bead to its task.
func (d *decoding) assign() {
	for _, t := range d.order {
		for _, r := range t.beads {
			if r.task != string(t.node.ID) {
				d.Diags.Add(diag.Newf("bead-value", r.at, "a bead of another task is in %s", foreign.Clip(string(t.node.ID))).
					WithDetail("Its taskId is %q. Write the id of the task that it is in, or move it there.", foreign.Clip(r.task)))
			}
		}
	}
	for _, r := range d.loose {
		t := d.tasks[r.task]
		if t == nil {
			d.Diags.Add(diag.Newf("bead-value", r.at, "the task of a bead is not here").
				WithDetail("Its taskId is %q, and no task that is read has this id. Give the file with the TaskDefinition too.", foreign.Clip(r.task)))
			continue
		}
		t.beads = append(t.beads, r)
	}
	for _, t := range d.order {
		if len(t.beads) == 0 {
			continue
		}
		kept := lists.Map(t.beads, func(b foreignBead) json.RawMessage { return b.value })
		t.ext["beads"] = foreign.Raw(kept)
		d.Diags.Add(diag.Newf("task-records", t.beads[0].at, "beads of %s are kept as a record", foreign.Clip(string(t.node.ID))).
			WithDetail("%d of them are in epic.json (nodes.ext.%s.beads). They count for nothing: ralph's gates have not seen them.", len(kept), Format))
	}
}
