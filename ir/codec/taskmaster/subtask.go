package taskmaster

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

func (d *decoding) subtasks(list *foreign.Value, t *task) {
	if !d.Is(list, '[', "a list of subtasks") {
		return
	}
	kept := map[string]json.RawMessage{}
	for _, v := range list.Items {
		if !d.Is(v, '{', "a subtask, an object with id and title") {
			continue
		}
		s := &subtask{ext: map[string]json.RawMessage{}, at: d.File.Range(v.Start, v.Start+1)}
		f := d.fields(v, s.ext)
		if x := f.Get("id"); x == nil {
			d.Missing(v, "id", "the number of the subtask")
		} else if s.id = d.subID(x, t.id); s.id != "" {
			s.at = d.At(x)
			if before := t.subtask(s.id); before != nil {
				d.Diags.Add(diag.Newf("duplicate-id", s.at, "subtask %s appears twice", s.id).
					WithDetail("%s is the id of another subtask of this task. Give one of them another.", x.Pointer).WithRelated(before.at, "first here"))
			}
		}
		s.title = text.OneLine(d.Text(d.Need(v, f, "title", "what the subtask is called, a text"), "what the subtask is called"))
		s.status = d.Word(f.Get("status"), "pending", "in-progress", "done", "completed", "deferred", "cancelled", "blocked", "review")
		if s.status != "" && s.status != "pending" {
			s.ext["status"] = foreign.Raw(s.status)
		}
		if x := f.Get("subtasks"); x != nil && (x.Kind != '[' || len(x.Items) > 0) {
			d.Wrong(x, "left out: a subtask has no subtasks")
		}
		s.needs = d.needs(f.Get("dependencies"))
		s.detail = append(d.prose(f.Get("description")), d.guidance(f)...)
		s.detail = append(s.detail, prefixed("Accepted when: ", d.criteria(f.Get("acceptanceCriteria")))...)
		s.detail = append(s.detail, prefixed("To test: ", d.criteria(f.Get("testStrategy")))...)
		t.subtasks = append(t.subtasks, s)
		if len(s.ext) > 0 {
			kept[s.id] = foreign.Raw(s.ext)
		}
	}
	if len(kept) > 0 {
		t.ext["subtasks"] = foreign.Raw(kept)
	}
}

// subID is the number of a subtask within its task; "5.1" says the task again.
func (d *decoding) subID(v *foreign.Value, of string) string {
	if v.Kind == 's' {
		if rest, ok := strings.CutPrefix(v.Text, of+"."); ok && idForm.MatchString(rest) {
			return rest
		}
	}
	return d.id(v)
}

// list writes the subtasks as the task list, each after those that it depends on.
func (d *decoding) list(t *task) {
	placed := map[string]bool{}
	waits := func(s *subtask) bool {
		return slices.ContainsFunc(s.needs, func(n need) bool {
			id := strings.TrimPrefix(n.id, t.id+".")
			return t.subtask(id) != nil && !placed[id]
		})
	}
	left := slices.Clone(t.subtasks)
	for len(left) > 0 {
		i := slices.IndexFunc(left, func(s *subtask) bool { return !waits(s) })
		if i < 0 {
			names := lists.Map(left, func(s *subtask) string { return t.id + "." + s.id })
			d.Diags.Add(diag.New("dependency-cycle", left[0].at, "subtasks wait for each other").
				WithDetail("None of %s can be the first. Take one of the dependencies out.", listed(names)))
			return
		}
		s := left[i]
		left = slices.Delete(left, i, i+1)
		placed[s.id] = true
		text := s.title
		switch s.status {
		case "done", "completed":
			text += " (done already)"
		case "cancelled", "deferred":
			text += fmt.Sprintf(" (%s: leave it out)", s.status)
		}
		t.node.Tasks = append(t.node.Tasks, ir.Task{Text: text, Detail: s.detail})
	}
}

// guidance is what a task says of how it is to be done.
func (d *decoding) guidance(f foreign.Fields) []string {
	out := d.prose(f.Get("details"))
	section := func(head string, list []string) {
		if len(list) == 0 {
			return
		}
		if len(out) > 0 {
			out = append(out, "")
		}
		out = append(out, head)
		out = append(out, list...)
	}
	section("Approach:", d.prose(f.Get("implementationApproach")))
	for _, x := range []struct{ key, head string }{{"technicalConstraints", "Constraints:"}, {"codebasePatterns", "Patterns of this code base:"}} {
		if v := f.Get(x.key); v != nil {
			section(x.head, prefixed("- ", d.texts(v)))
		}
	}
	if v := f.Get("scopeBoundaries"); d.Is(v, '{', "an object with included and excluded") {
		for _, x := range []struct{ key, head string }{{"included", "In scope:"}, {"excluded", "Out of scope:"}} {
			section(x.head, d.prose(v.Get(x.key)))
		}
	}
	return out
}

func prefixed(with string, list []string) []string {
	return lists.Map(list, func(s string) string { return with + s })
}

// prose is a text as lines; nil if there is none.
func (d *decoding) prose(v *foreign.Value) []string {
	switch {
	case v == nil || v.Kind == '0':
		return nil
	case v.Kind != 's' || strings.ContainsRune(v.Text, 0):
		d.Wrong(v, "a text")
		return nil
	}
	return lines(v.Text)
}

// texts is a list of texts; a single one is a list of one.
func (d *decoding) texts(v *foreign.Value) []string {
	if v.Kind == 's' {
		return d.prose(v)
	}
	if !d.Is(v, '[', "a list of texts") {
		return nil
	}
	var out []string
	for _, x := range v.Items {
		if x.Kind != 's' {
			d.Wrong(x, "a text")
		} else if s := text.OneLine(x.Text); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// criteria are the points of a text, or of a list of texts.
func (d *decoding) criteria(v *foreign.Value) []string {
	if v == nil {
		return nil
	}
	var out []string
	for _, s := range d.texts(v) {
		s = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(s), "- "), "* "))
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// files are those that a task is about; what it only refers to is left to the prompt.
func (d *decoding) files(v *foreign.Value, n *ir.DraftNode) {
	if !d.Is(v, '[', "a list of files") {
		return
	}
	for _, x := range v.Items {
		p, action := x, ""
		if x.Kind == '{' {
			p = x.Get("path")
			if a := x.Get("action"); a != nil {
				action = a.Text
			}
		}
		if p == nil || p.Kind != 's' || strings.TrimSpace(p.Text) == "" {
			d.Wrong(x, "a path, or an object with path and action")
			continue
		}
		switch name := text.OneLine(p.Text); {
		case path.IsAbs(name), strings.Contains(name, ":\\"), strings.ContainsRune(name, 0), strings.HasPrefix(path.Clean(name)+"/", "../"):
			d.Wrong(p, "a path of the project, relative to its root, with forward slashes")
		case action == "reference":
			n.Scope.Reads = append(n.Scope.Reads, name)
		default:
			n.Scope.Files = append(n.Scope.Files, name)
		}
	}
}

func lines(s string) []string {
	s = strings.Trim(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	if strings.TrimSpace(s) == "" {
		return nil
	}
	return strings.Split(s, "\n")
}
