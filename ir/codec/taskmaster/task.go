package taskmaster

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

// idForm is an id that can be a key: a number in most files.
var idForm = lazyregexp.New(`^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,63})$`)

// Keys of tasks and subtasks that mean something here.
var taskKeys = []string{
	"id", "title", "description", "details", "testStrategy", "status", "priority", "dependencies", "subtasks", "type", "tags",
	"acceptanceCriteria", "relevantFiles", "implementationApproach", "technicalConstraints", "codebasePatterns", "scopeBoundaries",
}

// Keys that Task Master writes and that mean nothing here: they are kept without a
// word.
var otherKeys = []string{
	"complexity", "recommendedSubtasks", "expansionPrompt", "complexityReasoning", "complexityScore", "createdAt", "updatedAt", "effort",
	"actualEffort", "assignee", "databaseId", "metadata", "previousStatus", "parentId", "parentTaskId", "skills", "category", "existingInfrastructure",
}

func (d *decoding) tasks(list *foreign.Value) {
	if len(list.Items) == 0 {
		d.Diags.Add(diag.New("bead-value", d.At(list), "there is no task").WithDetail("%s is empty. Add a task to it.", list.Pointer))
		return
	}
	for _, v := range list.Items {
		if d.Is(v, '{', "a task, an object with id and title") {
			d.task(v)
		}
	}
	for _, t := range d.read {
		d.edges(t)
		d.list(t)
		t.node.Ext = foreign.Ext(Format, t.ext)
	}
	d.circles()
}

// fields takes a task or a subtask apart; keys that mean nothing here go to ext.
func (d *decoding) fields(v *foreign.Value, ext map[string]json.RawMessage) foreign.Fields {
	f := d.Fields(v, ext, append(slices.Clone(taskKeys), otherKeys...)...)
	for _, m := range v.Members {
		if slices.Contains(otherKeys, m.Name) && m.Value.Kind != '0' {
			ext[m.Name] = m.Value.Plain()
		}
	}
	return f
}

func (d *decoding) task(v *foreign.Value) {
	t := &task{ext: map[string]json.RawMessage{}}
	f := d.fields(v, t.ext)
	n := &t.node
	n.Kind, n.Word, n.PhaseIndex = ir.Work, "Task", -1
	x := f.Get("id")
	if x == nil {
		d.Missing(v, "id", "the number of the task")
	} else if t.id = d.id(x); t.id != "" {
		n.Key, n.KeyRange = ir.Key(t.id), d.At(x)
		if before, twice := d.known[t.id]; twice {
			d.Diags.Add(diag.Newf("duplicate-id", d.At(x), "task %s appears twice", t.id).
				WithDetail("%s is the id of another task. Ids are unique within a tag: give one of them another.", x.Pointer).
				WithRelated(d.read[before].node.KeyRange, "first here"))
		} else {
			d.known[t.id] = len(d.read)
		}
	}
	if x := d.Need(v, f, "title", "what the task is called, a text"); x != nil {
		n.Title, n.Range = text.OneLine(d.Text(x, "what the task is called")), d.At(x)
	}
	n.Goal = strings.Join(d.prose(f.Get("description")), "\n")
	n.Text = d.guidance(f)
	n.Acceptance = append(d.criteria(f.Get("acceptanceCriteria")), d.criteria(f.Get("testStrategy"))...)
	if w := d.Word(f.Get("priority"), "low", "medium", "high", "critical"); w != "" {
		n.Priority = d.Stated(f.Get("priority"), map[string]string{"critical": "0", "high": "1", "medium": "2", "low": "3"}[w])
	}
	if x := f.Get("tags"); x != nil {
		n.Labels = lists.Map(d.texts(x), text.OneLine)
	}
	if x := f.Get("relevantFiles"); x != nil {
		d.files(x, n)
	}
	t.needs = d.needs(f.Get("dependencies"))
	d.status(f.Get("status"), t)
	if x := f.Get("type"); x != nil && x.Kind == 's' && strings.TrimSpace(x.Text) != "" {
		if n.Type = d.Stated(x, text.OneLine(x.Text)); n.Type.Value == "checkpoint" && !n.Done {
			n.Kind = ir.Manual // a milestone that a person confirms
		}
	}
	if x := f.Get("subtasks"); x != nil {
		d.subtasks(x, t)
	}
	d.read = append(d.read, t)
}

// id reads a number, or a text that can be a key; "" after a report.
func (d *decoding) id(v *foreign.Value) string {
	if v.Kind == 'n' {
		if n, ok := d.Whole(v, 0, 1<<31-1); ok {
			return fmt.Sprint(n)
		}
		return ""
	}
	if idForm.MatchString(v.Text) && v.Text != "integration" {
		return v.Text
	}
	d.Wrong(v, "a number, or letters, digits, \"-\" and \"_\", at most 64 of them")
	return ""
}

// status says what becomes of a task.
func (d *decoding) status(v *foreign.Value, t *task) {
	w := d.Word(v, "pending", "in-progress", "done", "completed", "deferred", "cancelled", "blocked", "review")
	if w == "" {
		return
	}
	n := &t.node
	switch w {
	case "done", "completed", "cancelled":
		n.Done, n.DoneBy, n.DoneRange = true, "status", d.At(v)
		if w != "cancelled" {
			break
		}
		d.Diags.Add(diag.Newf("taskmaster-cancelled", d.At(v), "task %s is cancelled", foreign.Clip(t.id)).
			WithDetail("It is not run, and nothing waits for it. Set it to pending to have it run."))
	case "deferred", "blocked", "review":
		n.Kind = ir.Manual
		d.Diags.Add(diag.Newf("taskmaster-held", d.At(v), "task %s waits for a person", foreign.Clip(t.id)).
			WithDetail("Its status is %s, so no agent works on it: say ralph approve %s when it is done, or ralph skip %s to go on without it. Set it to pending to have it run.", w, t.id, t.id))
	}
	if w != "pending" {
		t.ext["status"] = foreign.Raw(w)
	}
}

// needs reads dependencies: numbers, or texts such as "2" and "1.2".
func (d *decoding) needs(v *foreign.Value) []need {
	if !d.Is(v, '[', "a list of ids") {
		return nil
	}
	var out []need
	for _, x := range v.Items {
		id := strings.TrimSpace(x.Text)
		if id == "" {
			d.Wrong(x, "the id of a task, such as 3, or of a subtask, such as \"3.1\"")
		} else if !slices.ContainsFunc(out, func(n need) bool { return n.id == id }) {
			out = append(out, need{id, d.At(x)})
		}
	}
	return out
}

// edges turns the dependencies of a task and of its subtasks into edges between
// tasks.
func (d *decoding) edges(t *task) {
	add := func(n need, id string) {
		if !slices.ContainsFunc(t.node.Edges, func(e ir.DraftEdge) bool { return string(e.Key) == id }) {
			t.node.Edges = append(t.node.Edges, ir.DraftEdge{Key: ir.Key(id), From: "import", Type: ir.Blocks, Range: n.at})
		}
	}
	for _, n := range t.needs {
		id, of, ok := d.lookup(n)
		if !ok {
			d.nothing(n)
			continue
		}
		if of != "" && id != t.id {
			d.lifted(n, id)
		}
		add(n, id) // the compiler says what is wrong with a task that waits for itself
	}
	for _, s := range t.subtasks {
		for _, n := range s.needs {
			if t.subtask(n.id) != nil {
				continue // a sibling: it orders the list
			}
			id, _, ok := d.lookup(n)
			switch {
			case !ok:
				d.nothing(n)
			case id == t.id: // a sibling by its whole id
			default:
				d.Diags.Add(diag.Newf("taskmaster-lifted", n.at, "all of task %s waits for task %s", foreign.Clip(t.id), id).
					WithDetail("Subtask %s.%s depends on %s, and one agent does a task with all its subtasks. Make the subtask a task of its own if that is too early.", t.id, s.id, foreign.Clip(n.id)))
				add(n, id)
			}
		}
	}
}

// lookup finds the task that a dependency names, and its subtask if it is one.
func (d *decoding) lookup(n need) (id, subtask string, ok bool) {
	if _, ok := d.known[n.id]; ok {
		return n.id, "", true
	}
	id, subtask, _ = strings.Cut(n.id, ".")
	at, ok := d.known[id]
	return id, subtask, ok && d.read[at].subtask(subtask) != nil
}

func (d *decoding) nothing(n need) {
	d.Diags.Add(diag.Newf("unknown-dependency", n.at, "there is no task %s", foreign.Clip(n.id)).
		WithDetail("Nothing in this list has the id %s. Correct it, or take it out.", foreign.Clip(n.id)))
}

func (d *decoding) lifted(n need, id string) {
	d.Diags.Add(diag.Newf("taskmaster-lifted", n.at, "subtask %s stands for task %s", foreign.Clip(n.id), id).
		WithDetail("One agent does a task with all its subtasks, so this waits for all of task %s. Make the subtask a task of its own if that is too long.", id))
}

func (t *task) subtask(id string) *subtask {
	if i := slices.IndexFunc(t.subtasks, func(s *subtask) bool { return s.id == id }); i >= 0 {
		return t.subtasks[i]
	}
	return nil
}
