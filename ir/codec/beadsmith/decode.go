package beadsmith

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

// Bounds of numbers: those that the same words have in a plan.
const (
	maxIterations = 10_000
	maxTokens     = 999_999_999
)

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
		d.Reader, d.placed = foreign.Reader{File: f, Format: Format, Diags: d.Diags}, false
		for _, v := range d.Objects() {
			d.object(v)
		}
		d.Unknown()
	}
	d.assign()
	d.Diags.Sort()
	if !d.Diags.HasErrors() && len(d.order) == 0 && len(files) > 0 {
		d.Diags.Add(diag.New("bead-missing", files[0].Range(0, 0), "there is no task").
			WithDetail("A task is an object with id, description and successCriteria. Add one to the file."))
	}
	if d.Diags.HasErrors() || len(d.order) == 0 {
		return nil, d.Diags
	}
	return d.draft(files[0].Name), d.Diags
}

// decoding is the state of one Decode.
type decoding struct {
	foreign.Reader
	tasks map[string]*task
	order []*task
	loose []foreignBead // beads that are beside the tasks

	placed bool // a workspace of this file was spoken of
}

// task is a node in the making.
type task struct {
	node     ir.DraftNode
	ext      map[string]json.RawMessage
	command  string // testCommand
	promise  string // text that is asked for already
	promised diag.Range
	names    map[string]bool // of gates
	beads    []foreignBead
}

// foreignBead is a bead of another program.
type foreignBead struct {
	task  string
	value json.RawMessage
	at    diag.Range // of its taskId
}

// object tells a task from a bead.
func (d *decoding) object(v *foreign.Value) {
	if v.Has("taskId") && !v.Has("successCriteria") && !v.Has("description") {
		if r, ok := d.bead(v); ok {
			d.loose = append(d.loose, r)
		}
		return
	}
	d.task(v)
}

func (d *decoding) task(v *foreign.Value) {
	t := &task{ext: map[string]json.RawMessage{}, names: map[string]bool{}}
	f := d.Fields(v, t.ext, append(definitionKeys, stateKeys...)...)
	n := &t.node
	n.Kind, n.Word, n.PhaseIndex = ir.Work, "Task", -1
	d.ID(d.Need(v, f, "id", "what the task is known by, a text"), "what the task is known by", n)
	if x := d.Need(v, f, "description", "what is to be done, a text"); x != nil {
		n.Goal = strings.TrimSpace(strings.ReplaceAll(d.Text(x, "what is to be done"), "\r\n", "\n"))
		first, _, _ := strings.Cut(n.Goal, "\n")
		n.Title, n.Range = text.Title(text.OneLine(first), 72), d.At(x)
	}
	if x := f.Get("workspaceRoot"); d.Is(x, 's', "the path of the workspace, a text") && x.Text != "" && !d.placed {
		d.placed = true
		d.Diags.Add(diag.New("task-workspace", d.At(x), "the workspace is not kept").
			WithDetail("%s is a path of one machine. apply works in the repository that it is started in.", x.Pointer))
	}
	if t.command = d.Text(f.Get("testCommand"), "the command that runs the tests"); t.command != "" {
		t.ext["testCommand"] = foreign.Raw(t.command)
		t.command = command(t.command)
	}
	if b, ok := d.Whole(f.Get("tokenBudget"), 1, maxTokens); ok {
		n.Budget = d.Stated(f.Get("tokenBudget"), fmt.Sprintf("%d tokens", b))
	}
	if m, ok := d.Whole(f.Get("maxIterations"), 1, maxIterations); ok {
		n.Attempts = d.Stated(f.Get("maxIterations"), fmt.Sprint(m))
	}
	if x := f.Get("status"); foreign.TaskStatuses.Read(d.Word(x, foreign.TaskStatuses.Words()...)) == foreign.Done {
		n.Done, n.DoneBy, n.DoneRange = true, "status", d.At(x)
		d.Diags.Add(diag.New("bead-completed", d.At(x), "the task is completed").
			WithDetail("Its status says that the work is done, so apply does not run it. Write idle, or remove the status, to run it."))
	}
	d.beads(f.Get("beads"), t)
	if x := f.Get("beadResults"); d.Is(x, '[', "a list of results") && len(t.beads) > 0 {
		t.ext["beadResults"] = x.Plain()
	}
	d.criteria(v, f.Get("successCriteria"), t)
	if n.Key != "" {
		d.add(t)
	}
}

func (d *decoding) add(t *task) {
	id := string(t.node.ID)
	if first := d.tasks[id]; first != nil {
		d.Diags.Add(diag.Newf("bead-value", t.node.IDRange, "the id %q appears twice", foreign.Clip(id)).
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
		out.Slug = cmp.Or(out.Slug, "tasks")
		out.Title = foreign.Stem(file)
	}
	for _, t := range d.order {
		t.node.Ext = foreign.Ext(Format, t.ext)
		out.Nodes = append(out.Nodes, t.node)
	}
	return out
}

// command is a text for the shell as a gate has it.
func command(s string) string { return strings.TrimRight(strings.ReplaceAll(s, "\r\n", "\n"), "\n") }
