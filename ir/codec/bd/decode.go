package bd

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

var (
	_ foreign.Decode = Decode
	_ foreign.Encode = Encode
)

// known are the keys of bd that an import reads or keeps without a word; counts and
// parent follow from the edges.
var known = []string{
	"_type", "id", "title", "description", "design", "acceptance_criteria", "notes", "status", "priority", "issue_type", "assignee", "owner",
	"estimated_minutes", "created_at", "created_by", "updated_at", "started_at", "closed_at", "close_reason", "closed_by_session", "due_at", "defer_until",
	"external_ref", "source_repo", "spec_id", "labels", "dependencies", "comments", "metadata", "parent",
	"dependency_count", "dependent_count", "comment_count", "revision", "content_hash", "dependents",
}

// derived are those of them that are made anew.
var derived = []string{"_type", "id", "title", "priority", "labels", "dependencies", "parent", "dependency_count", "dependent_count", "comment_count", "revision", "content_hash", "dependents"}

// noWork are types of issues that bd makes to keep books.
var noWork = []string{"event", "message"}

// Decode reads issues of bd: lines of an export, old ones too, or what list, ready and
// show answer with --json. All issues of all files make one draft; an epic with children
// is not work itself: what waits for it waits for its children.
func Decode(files []*diag.File) (*ir.Draft, diag.List) {
	d := &decoding{byID: map[string]*issue{}}
	for _, f := range files {
		r := &foreign.Reader{File: f, Format: Format}
		for _, v := range r.Objects() {
			d.issue(r, v)
		}
		r.Unknown()
		d.diags.Add(r.Diags...)
	}
	if len(d.issues) == 0 && !d.diags.HasErrors() && len(files) > 0 {
		d.diags.Add(diag.New("bead-missing", files[0].Range(0, 0), "there is no issue in it").
			WithDetail("Name a file that bd export wrote, or what bd list --json --all --limit 0 answered."))
	}
	d.family()
	d.edges()
	d.report()
	d.diags.Sort()
	if d.diags.HasErrors() || len(d.issues) == 0 {
		return nil, d.diags
	}
	return d.draft(files), d.diags
}

// decoding is the state of one Decode.
type decoding struct {
	diags  diag.List
	issues []*issue
	byID   map[string]*issue

	closed, begun, books, lifted, odd []diag.Range // what is reported once for all
	oddTypes                          []string     // the types of edges that are odd
}

// issue is one while it is read.
type issue struct {
	r    *foreign.Reader
	node ir.DraftNode
	kind string // issue_type
	text string // the description
	own  string // the owner
	deps []dep
	ext  map[string]json.RawMessage

	phases *foreign.Value // a second label of a step

	children []*issue
	parent   *issue
}

// dep is a dependency as an issue says it.
type dep struct {
	to, kind string
	at       diag.Range
	raw      json.RawMessage // nil: the parent, which is no dependency of its own
}

// container reports whether an issue is only what its children are.
func (i *issue) container() bool { return i.kind == TypeEpic && len(i.children) > 0 }

func (d *decoding) issue(r *foreign.Reader, v *foreign.Value) {
	i := &issue{r: r, ext: map[string]json.RawMessage{}}
	f := r.Fields(v, i.ext, known...)
	here := r.File.Range(v.Start, v.Start+1)
	word := func(x *foreign.Value) string {
		if x == nil {
			return ""
		}
		return x.Text
	}
	i.kind = word(f.Get("issue_type"))
	status := strings.ToLower(word(f.Get("status")))
	if x := f.Get("_type"); x != nil && x.Text != "issue" || slices.Contains(noWork, i.kind) || status == "tombstone" {
		d.books = append(d.books, here)
		return
	}
	n := &i.node
	n.Kind, n.Word, n.PhaseIndex, n.Ordered = ir.Work, "Issue", -1, true
	if !r.ID(r.Need(v, f, "id", "the id of the issue, such as \"bd-a1b2\""), "the id of the issue", n) {
		return
	}
	if x := r.Need(v, f, "title", "what is to be done"); x != nil {
		n.Title, n.Range = text.OneLine(r.Text(x, "what is to be done")), r.At(x)
	}
	for _, name := range known {
		if x := f.Get(name); x != nil && !slices.Contains(derived, name) {
			i.ext[name] = x.Plain()
		}
	}
	i.texts(f)
	i.numbers(f)
	i.typed(f.Get("issue_type"))
	i.labels(f.Get("labels"))
	d.dependencies(i, f)
	d.status(i, f.Get("status"), foreign.IssueStatuses.Read(status))
	d.issues = append(d.issues, i)
	if d.byID[string(n.ID)] == nil {
		d.byID[string(n.ID)] = i
	}
}

// texts reads what is told to people and agents.
func (i *issue) texts(f foreign.Fields) {
	text := func(name string) string {
		x := f.Get(name)
		if !i.r.Is(x, 's', "text") {
			return ""
		}
		return strings.TrimSpace(strings.ReplaceAll(x.Text, "\r\n", "\n"))
	}
	i.text, i.own = text("description"), text("owner")
	i.node.Goal = i.text
	for _, name := range []string{"design", "notes"} {
		if s := text(name); s != "" {
			i.node.Text = append(i.node.Text, strings.Split(s, "\n")...)
		}
	}
	i.node.Acceptance = items(text("acceptance_criteria"))
}

func (i *issue) numbers(f foreign.Fields) {
	if p, ok := i.r.Whole(f.Get("priority"), 0, 4); ok {
		i.node.Priority = i.r.Stated(f.Get("priority"), fmt.Sprint(p))
	}
	if m, _ := i.r.Whole(f.Get("estimated_minutes"), 0, 10*366*24*60); m > 0 {
		i.node.Estimate = i.r.Stated(f.Get("estimated_minutes"), fmt.Sprintf("%dm", m))
	}
}

// typed takes the type over where it means something.
func (i *issue) typed(x *foreign.Value) {
	if !i.r.Is(x, 's', "a type, such as \"task\"") || i.kind == "" {
		return
	}
	switch i.kind {
	case Types[0]:
		return
	case Types[1]:
		i.node.Kind = ir.Merge
		return
	case "gate":
		i.node.Kind = ir.Manual // a person resolves it
	}
	i.node.Type = i.r.Stated(x, i.kind)
}

// status takes over what is done; what has begun elsewhere begins anew.
func (d *decoding) status(i *issue, x *foreign.Value, is foreign.Standing) {
	n := &i.node
	switch {
	case is == foreign.Done:
		n.Done, n.DoneBy, n.DoneRange = true, "status", i.r.At(x)
		n.Start = ir.Stated{} // it begins nowhere
		d.closed = append(d.closed, i.r.At(x))
		return
	case is == foreign.Begun:
		d.begun = append(d.begun, i.r.At(x))
	default:
		i.r.Is(x, 's', "a status, such as \"open\"")
	}
	if i.phases != nil {
		i.r.Wrong(i.phases, "at most one label "+PhaseLabel+"STEP, the step that work begins at")
	}
}

// labels takes the labels over, but for those by which ralph finds its own.
func (i *issue) labels(v *foreign.Value) {
	if !i.r.Is(v, '[', "a list of texts") {
		return
	}
	for _, x := range v.Items {
		l := i.r.Text(x, "a label")
		switch {
		case l == Label || strings.HasPrefix(l, EpicLabel) || i.kind == TypeEpic && strings.HasPrefix(l, ComplexLabel):
		case l == ExcludedLabel:
			i.node.Kind = ir.Manual
		default:
			l = strings.TrimSpace(l)
			i.node.Labels = append(i.node.Labels, l)
			if step, is := strings.CutPrefix(l, PhaseLabel); is && step != "" {
				if i.node.Start.Set() && i.node.Start.Value != step {
					i.phases = x
				}
				i.node.Start = i.r.Stated(x, step)
			}
		}
	}
}

// dependencies reads the shapes that export, list and show have, and the parent that
// list shows besides.
func (d *decoding) dependencies(i *issue, f foreign.Fields) {
	parent := false
	if v := f.Get("dependencies"); v != nil {
		if v.Kind != '[' {
			i.r.Wrong(v, "a list of dependencies")
			return
		}
		for _, x := range v.Items {
			e := dep{kind: string(ir.Blocks), at: i.r.At(x), raw: x.Plain()}
			get := func(names ...string) string {
				for _, n := range names {
					if t := x.Get(n); t != nil && t.Kind == 's' && t.Text != "" {
						return t.Text
					}
				}
				return ""
			}
			switch x.Kind {
			case 's': // as scrum agents write it
				e.to = x.Text
			case '{':
				e.to = get("depends_on_id", "id")
				if k := get("type", "dependency_type"); k != "" {
					e.kind = k
				}
			}
			if e.to == "" {
				i.r.Wrong(x, "a dependency, {\"depends_on_id\": …, \"type\": \"blocks\"}")
				continue
			}
			parent = parent || e.kind == string(ir.ParentChild)
			i.deps = append(i.deps, e)
		}
	}
	if v := f.Get("parent"); v != nil && !parent {
		i.deps = append(i.deps, dep{to: v.Text, kind: string(ir.ParentChild), at: i.r.At(v)})
	}
}

// items are the lines of acceptance criteria, without what marks a list.
func items(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, mark := range []string{"- [ ] ", "- [x] ", "- ", "* "} {
			if rest, ok := strings.CutPrefix(line, mark); ok {
				line = strings.TrimSpace(rest)
				break
			}
		}
		if line != "" {
			out = append(out, line)
		}
	}
	return out
}
