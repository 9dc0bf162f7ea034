package taskmaster

import (
	"cmp"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

// Format is the name of the format: of --as, and of its keys in Node.Ext.
const Format = "taskmaster"

// main is the tag of those who have no tags.
const mainTag = "master"

// Losses are what an import does not keep, or keeps elsewhere.
var Losses = []foreign.Loss{
	{Field: "`subtasks`", What: "become the task list of one sprint, in the order of their dependencies; one agent does them in one worktree. Their own status shows as \"(done already)\", their priority is lost"},
	{Field: "a dependency on a subtask", What: "is one on its whole task, and a note says so"},
	{Field: "`status`", What: "done and completed are done by the plan, cancelled too (what depends on it does not wait); deferred, blocked and review wait for a person; pending and in-progress are work. The word itself is kept"},
	{Field: "`priority`", What: "critical, high, medium and low become 0 to 3"},
	{Field: "`complexity` and other keys without a meaning here", What: "are kept with the task (`nodes.ext.taskmaster`) and do nothing; ralph finds the complexity itself"},
	{Field: "other tags, `metadata` of the file", What: "are not read; the description of a tag becomes that of the epic"},
	{Field: "unknown keys", What: "are kept with the task, in `nodes.ext.taskmaster`; those of subtasks too"},
}

// Decode reads a file that has tasks under one tag only.
func Decode(files []*diag.File) (*ir.Draft, diag.List) { return decode(files, "") }

// DecodeTag returns a Decode that reads the tasks of one tag.
func DecodeTag(tag string) foreign.Decode {
	return func(files []*diag.File) (*ir.Draft, diag.List) { return decode(files, tag) }
}

func decode(files []*diag.File, tag string) (*ir.Draft, diag.List) {
	d := &decoding{Reader: foreign.Reader{File: files[0], Format: Format}, tag: tag, known: map[string]int{}}
	if root := d.Object(foreign.MaxBytes); root != nil {
		if list := d.choose(root); list != nil {
			d.tasks(list)
		}
	}
	d.Unknown()
	for _, f := range files[1:] {
		d.Diags.Add(diag.New("bead-value", f.Range(0, 0), "one file makes one epic").
			WithDetail("A tasks.json holds all tasks of its epic. Import %s by itself.", f.Name))
	}
	d.Diags.Sort()
	if d.Diags.HasErrors() {
		return nil, d.Diags
	}
	d.finish()
	return &d.draft, d.Diags
}

// decoding is the state of one Decode.
type decoding struct {
	foreign.Reader
	tag   string
	draft ir.Draft
	read  []*task
	known map[string]int // task by id
}

// task is an entry of the list, before its dependencies are known to name something.
type task struct {
	id       string
	node     ir.DraftNode
	needs    []need
	subtasks []*subtask
	ext      map[string]json.RawMessage
}

// need is a dependency as it is in the file.
type need struct {
	id string
	at diag.Range
}

type subtask struct {
	id, title, status string
	at                diag.Range
	needs             []need
	detail            []string
	ext               map[string]json.RawMessage
}

// choose finds the list of tasks: that of the file, or of a tag.
func (d *decoding) choose(root *foreign.Value) *foreign.Value {
	here := d.File.Range(root.Start, root.Start+1)
	d.draft.Range = here
	refuse := func(summary, detail string, args ...any) *foreign.Value {
		d.Diags.Add(diag.New("taskmaster-tag", here, summary).WithDetail(detail, args...))
		return nil
	}
	if list := root.Get("tasks"); list != nil && list.Kind == '[' {
		if d.tag != "" && d.tag != mainTag {
			return refuse("the file has no tags", "Its tasks are in it directly, so there is no tag %q. Write --as %s.", foreign.Clip(d.tag), Format)
		}
		if m := root.Get("metadata"); m != nil {
			d.about(m)
		}
		return list
	}
	var names []string
	var chosen *foreign.Value
	for _, m := range root.Members {
		list := m.Value.Get("tasks")
		if list == nil {
			continue
		}
		if list.Kind != '[' {
			d.Wrong(list, "a list of tasks")
			continue
		}
		full := len(list.Items) > 0
		if full {
			names = append(names, m.Name)
		}
		if d.tag == "" && full || d.tag != "" && m.Name == d.tag {
			chosen = m.Value
		}
	}
	slices.Sort(names)
	switch {
	case chosen == nil && d.Diags.HasErrors(): // what its list is instead is said
		return nil
	case chosen == nil && d.tag != "":
		return refuse("the file has no such tag", "There is no tag %q. The tags with tasks are %s.", foreign.Clip(d.tag), listed(names))
	case chosen == nil:
		d.Missing(root, "tasks", "the list of tasks; or a tag, such as \"master\", that has one")
		return nil
	case d.tag == "" && len(names) > 1:
		return refuse("several tags have tasks", "They are %s. Each makes an epic of its own: write --as %s:%s.", listed(names), Format, foreign.Clip(names[0]))
	case d.tag == "":
		d.tag = names[0]
	}
	if m := chosen.Get("metadata"); m != nil {
		d.about(m)
	}
	return chosen.Get("tasks")
}

func listed(names []string) string {
	for i, n := range names {
		names[i] = foreign.Clip(n)
	}
	return cmp.Or(text.Some(names, 20), "none")
}

// about reads what the metadata of a list says.
func (d *decoding) about(m *foreign.Value) {
	if v := m.Get("projectName"); v != nil && v.Kind == 's' {
		d.draft.Title = text.OneLine(v.Text)
	}
	if v := m.Get("description"); v != nil && v.Kind == 's' {
		d.draft.Description = lines(v.Text)
	}
}

// finish fills in what follows from the rest.
func (d *decoding) finish() {
	d.draft.Plan = d.File.Name
	slug := cmp.Or(foreign.Slug(foreign.Stem(d.File.Name)), "tasks")
	if d.tag != "" && d.tag != mainTag {
		// Another list of the same file is another epic: neither its id nor those of
		// its nodes may follow from the path alone.
		slug += "-" + foreign.Slug(d.tag)
		d.draft.ID = d.identity("")
		for _, t := range d.read {
			t.node.ID = d.identity(t.id)
		}
	}
	d.draft.Slug = strings.Trim(slug, "-")
	if d.draft.Title == "" {
		d.draft.Title = "Tasks"
		if d.tag != "" {
			d.draft.Title = "Tasks: " + text.OneLine(d.tag)
		}
	}
	d.draft.Nodes = lists.Map(d.read, func(t *task) ir.DraftNode { return t.node })
}

// identity is an id of one width, so that none is the beginning of another.
func (d *decoding) identity(id string) ir.NodeID {
	sum := sha256.Sum256([]byte(d.File.Name + "\x00" + d.tag + "\x00" + id))
	return ir.NodeID("tm-" + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:5])))
}
