package beadsmith

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

// Bounds of numbers: those that the same words have in a plan.
const (
	maxIterations = 10_000
	maxTokens     = 999_999_999
	maxID         = 64 // bytes, as that of an annotation in a plan
)

// idPattern is an id that can also be a part of git's refs.
var idPattern = lazyregexp.New(`^[A-Za-z0-9](?:[A-Za-z0-9_-]|\.[A-Za-z0-9_-])*$`)

// definitionKeys have a meaning in a TaskDefinition, stateKeys in a TaskState too:
// all but the beads follow from the history and are made anew.
var (
	definitionKeys = []string{"id", "description", "workspaceRoot", "successCriteria", "tokenBudget", "maxIterations", "testCommand"}
	stateKeys      = []string{
		"status", "beads", "key", "failureCode", "reason", "currentBeadId", "beadNumber", "beadStatus", "beadIterationCount",
		"tokenBudgetRemaining", "lastBeadSummary", "beadResults",
	}
)

var _ foreign.Decode = Decode

// Decode reads tasks, and beads that belong to them, into one draft: a node for each
// task, no edges.
func Decode(files []*diag.File) (*ir.Draft, diag.List) {
	d := &decoding{tasks: map[string]*task{}}
	for _, f := range files {
		d.Reader, d.placed = foreign.Reader{File: f, Format: Format}, false
		for _, v := range d.Objects() {
			d.object(v)
		}
		d.Unknown()
		d.list.Add(d.Diags...)
	}
	d.Reader = foreign.Reader{Format: Format}
	d.assign()
	d.list.Add(d.Diags...)
	d.list.Sort()
	if !d.list.HasErrors() && len(d.order) == 0 && len(files) > 0 {
		d.list.Add(diag.New("bead-missing", files[0].Range(0, 0), "there is no task").
			WithDetail("A task is an object with id, description and successCriteria. Add one to the file."))
	}
	if d.list.HasErrors() || len(d.order) == 0 {
		return nil, d.list
	}
	return d.draft(files[0].Name), d.list
}

// decoding is the state of one Decode.
type decoding struct {
	foreign.Reader
	list  diag.List
	tasks map[string]*task
	order []*task
	loose []record // beads that stand beside the tasks

	placed bool // a workspace of this file was spoken of
}

// task is a node in the making.
type task struct {
	node     ir.DraftNode
	ext      map[string]any
	command  string // testCommand
	promise  string // text that is asked for already
	promised diag.Range
	names    map[string]bool // of gates
	records  []record
}

// record is a bead of another program.
type record struct {
	task  string
	value any
	at    diag.Range // of its taskId
}

// object tells a task from a bead.
func (d *decoding) object(v *foreign.Value) {
	has := func(name string) bool {
		for _, m := range v.Members {
			if foreign.Plain(m.Name) == foreign.Plain(name) {
				return true
			}
		}
		return false
	}
	if has("taskId") && !has("successCriteria") && !has("description") {
		if r, ok := d.bead(v); ok {
			d.loose = append(d.loose, r)
		}
		return
	}
	d.task(v)
}

func (d *decoding) task(v *foreign.Value) {
	t := &task{ext: map[string]any{}, names: map[string]bool{}}
	f := d.Fields(v, t.ext, append(definitionKeys, stateKeys...)...)
	n := &t.node
	here := d.File.Range(v.Start, v.Start+1)
	n.Kind, n.Word, n.PhaseIndex, n.Range, n.KeyRange = ir.Work, "Task", -1, here, here
	if x := f.Get("id"); x != nil {
		d.id(x, t)
	} else {
		d.Missing(v, "id", "what the task is known by, a text")
	}
	if x := f.Get("description"); x != nil {
		n.Goal = strings.TrimSpace(strings.ReplaceAll(d.Text(x, "what is to be done"), "\r\n", "\n"))
		first, _, _ := strings.Cut(n.Goal, "\n")
		n.Title, n.Range = text.Title(text.OneLine(first), 72), d.At(x)
	} else {
		d.Missing(v, "description", "what is to be done, a text")
	}
	if x := f.Get("workspaceRoot"); x != nil && x.Kind != 's' {
		d.Wrong(x, "the path of the workspace, a text")
	} else if x != nil && x.Text != "" && !d.placed {
		d.placed = true
		d.Diags.Add(diag.New("task-workspace", d.At(x), "the workspace is not kept").
			WithDetail("%s is a path of one machine. apply works in the repository that it is started in.", x.Pointer))
	}
	if x := f.Get("testCommand"); x != nil {
		if t.command = d.Text(x, "the command that runs the tests"); t.command != "" {
			t.ext["testCommand"] = t.command
			t.command = command(t.command)
		}
	}
	if x := f.Get("tokenBudget"); x != nil {
		if b, ok := d.Whole(x, 1, maxTokens); ok {
			n.Budget = d.Stated(x, fmt.Sprintf("%d tokens", b))
		}
	}
	if x := f.Get("maxIterations"); x != nil {
		if m, ok := d.Whole(x, 1, maxIterations); ok {
			n.Attempts = d.Stated(x, fmt.Sprint(m))
		}
	}
	if x := f.Get("status"); x != nil && d.Word(x, "idle", "running", "paused", "awaiting_approval", "completed", "failed") == "completed" {
		n.Done, n.DoneBy, n.DoneRange = true, "status", d.At(x)
		d.Diags.Add(diag.New("bead-completed", d.At(x), "the task is completed").
			WithDetail("Its status says that the work is done, so apply does not run it. Write idle, or remove the status, to run it."))
	}
	d.beads(f.Get("beads"), t)
	d.criteria(v, f.Get("successCriteria"), t)
	if n.Key != "" {
		d.add(t)
	}
}

func (d *decoding) id(v *foreign.Value, t *task) {
	id := d.Text(v, "what the task is known by")
	if id == "" {
		return
	}
	if len(id) > maxID || !idPattern.MatchString(id) || strings.HasSuffix(id, ".lock") || id == "integration" {
		d.Wrong(v, fmt.Sprintf("letters, digits, \"-\", \"_\" and single dots, at most %d of them; ids become part of git's refs, and \"integration\" is ralph's own", maxID))
		return
	}
	n := &t.node
	n.ID, n.IDRange, n.Key, n.KeyRange = ir.NodeID(id), d.At(v), ir.Key(id), d.At(v)
}

func (d *decoding) add(t *task) {
	id := string(t.node.ID)
	if first := d.tasks[id]; first != nil {
		d.Diags.Add(diag.Newf("bead-value", t.node.IDRange, "the id %q stands twice", foreign.Clip(id)).
			WithDetail("Two tasks have this id. Give each task an id of its own.").WithRelated(first.node.IDRange, "first here"))
		return
	}
	d.tasks[id] = t
	d.order = append(d.order, t)
}

// draft is what was read, in the order of the files.
func (d *decoding) draft(file string) *ir.Draft {
	first := &d.order[0].node
	out := &ir.Draft{Plan: file, Title: first.Title, Slug: string(first.ID), Range: first.Range}
	if len(d.order) > 1 {
		out.Slug = foreign.Slug(foreign.Stem(file))
		if out.Slug == "" {
			out.Slug = "tasks"
		}
		out.Title = foreign.Stem(file)
	}
	for _, t := range d.order {
		raw, err := json.Marshal(t.ext)
		if err != nil {
			panic(fmt.Sprintf("beadsmith: %v", err)) // it was read from JSON
		}
		t.node.Ext = map[string]json.RawMessage{Format: raw}
		out.Nodes = append(out.Nodes, t.node)
	}
	return out
}

// command is a text for the shell as a gate has it.
func command(s string) string {
	return strings.TrimRight(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
}
