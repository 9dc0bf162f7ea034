package bd

import (
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
// show answer with --json. All issues of all files make one draft; an epic that has
// children is no work of its own: what waits for it waits for its children.
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
	at   diag.Range
	node ir.DraftNode
	kind string // issue_type
	text string // the description
	own  string // the owner
	deps []dep
	ext  map[string]any

	phases *foreign.Value // a second label of a step

	children []*issue
	parent   *issue
}

// dep is a dependency as an issue says it.
type dep struct {
	to, kind string
	at       diag.Range
	raw      any
}

// container reports whether an issue is only what its children are.
func (i *issue) container() bool { return i.kind == TypeEpic && len(i.children) > 0 }

func (d *decoding) issue(r *foreign.Reader, v *foreign.Value) {
	i := &issue{r: r, ext: map[string]any{}}
	f := r.Fields(v, i.ext, known...)
	here := r.File.Range(v.Start, v.Start+1)
	if x := f.Get("issue_type"); x != nil && x.Kind == 's' {
		i.kind = x.Text
	}
	status := ""
	if x := f.Get("status"); x != nil && x.Kind == 's' {
		status = strings.ToLower(x.Text)
	}
	if x := f.Get("_type"); x != nil && x.Text != "issue" || slices.Contains(noWork, i.kind) || status == "tombstone" {
		d.books = append(d.books, here)
		return
	}
	n := &i.node
	n.Kind, n.Word, n.PhaseIndex, n.Ordered = ir.Work, "Issue", -1, true
	n.Range, n.KeyRange, i.at = here, here, here
	if !r.ID(r.Need(v, f, "id", "the id of the issue, such as \"bd-a1b2\""), "the id of the issue", n) {
		return
	}
	i.at = n.IDRange
	if x := r.Need(v, f, "title", "what is to be done"); x != nil {
		n.Title, n.Range = text.OneLine(r.Text(x, "what is to be done")), r.At(x)
	}
	for _, name := range known {
		if x := f.Get(name); x != nil && !slices.Contains(derived, name) {
			i.ext[name] = x.Plain()
		}
	}
	text := func(name string) string {
		x := f.Get(name)
		if !r.Is(x, 's', "text") {
			return ""
		}
		return strings.TrimSpace(strings.ReplaceAll(x.Text, "\r\n", "\n"))
	}
	i.text, i.own = text("description"), text("owner")
	n.Goal = i.text
	for _, name := range []string{"design", "notes"} {
		if s := text(name); s != "" {
			n.Text = append(n.Text, strings.Split(s, "\n")...)
		}
	}
	n.Acceptance = items(text("acceptance_criteria"))
	if p, ok := r.Whole(f.Get("priority"), 0, 4); ok {
		n.Priority = r.Stated(f.Get("priority"), fmt.Sprint(p))
	}
	if x := f.Get("issue_type"); x != nil && x.Kind != 's' {
		r.Wrong(x, "a type, such as \"task\"")
	} else if x != nil && i.kind != "" {
		if i.kind != Types[0] && i.kind != Types[1] {
			n.Type = r.Stated(x, i.kind)
		}
		if i.kind == Types[1] {
			n.Kind = ir.Merge
		}
		if i.kind == "gate" {
			n.Kind = ir.Manual // somebody resolves it
		}
	}
	if m, ok := r.Whole(f.Get("estimated_minutes"), 0, 10*366*24*60); ok && m > 0 {
		n.Estimate = r.Stated(f.Get("estimated_minutes"), fmt.Sprintf("%dm", m))
	}
	i.labels(f.Get("labels"))
	d.dependencies(i, f)
	switch x := f.Get("status"); {
	case foreign.IssueStatuses.Read(status) == foreign.Done:
		n.Done, n.DoneBy, n.DoneRange = true, "status", r.At(x)
		d.closed = append(d.closed, r.At(x))
	case foreign.IssueStatuses.Read(status) == foreign.Begun:
		d.begun = append(d.begun, r.At(x))
	case x != nil && x.Kind != 's':
		r.Wrong(x, "a status, such as \"open\"")
	}
	if n.Done { // it begins nowhere
		n.Start = ir.Stated{}
	} else if i.phases != nil {
		r.Wrong(i.phases, "at most one label "+PhaseLabel+"STEP, the step that work begins at")
	}
	d.issues = append(d.issues, i)
	if d.byID[string(n.ID)] == nil {
		d.byID[string(n.ID)] = i
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
		case l == "" || l == Label || strings.HasPrefix(l, EpicLabel) || i.kind == TypeEpic && strings.HasPrefix(l, ComplexLabel):
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
	if v := f.Get("parent"); v != nil && v.Kind == 's' && v.Text != "" && !parent {
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
