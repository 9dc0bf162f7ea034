package ralphbead

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

func (d *decoding) constraints(v *foreign.Value) {
	if !d.Is(v, '{', "an object") {
		return
	}
	ext := map[string]json.RawMessage{}
	f := d.Fields(v, ext, "max_iterations", "time_budget_minutes", "deadline", "allowed_dirs", "forbidden_ops", "migration_rules")
	defer func() {
		if len(ext) > 0 {
			d.ext["constraints"] = foreign.Raw(ext)
		}
	}()
	number := func(key string, most int64, unit string) (s ir.Stated) {
		x := f.Get(key)
		if n, ok := d.Whole(x, 1, most); ok {
			if s = d.Stated(x, fmt.Sprint(n)+unit); d.node.Kind == ir.GateKind { // it has no attempts: the number is kept for export
				ext[key] = foreign.Raw(n)
			}
		}
		return s
	}
	d.node.Attempts, d.node.Budget = number("max_iterations", maxIterations, ""), number("time_budget_minutes", maxMinutes, "m")
	if x := f.Get("deadline"); x != nil {
		t, err := time.Parse(time.RFC3339, strings.ToUpper(x.Text))
		if x.Kind != 's' || err != nil {
			d.Wrong(x, "a time with its zone, such as 2026-01-31T18:00:00Z")
			return
		}
		d.node.Deadline = d.Stated(x, t.Format(time.RFC3339))
	}
	if x := f.Get("allowed_dirs"); x != nil {
		ext["allowed_dirs"] = x.Plain()
		for _, item := range d.texts(x, "directories, relative to the project") {
			d.owns(item)
		}
	}
	d.forbid(f.Get("forbidden_ops"), ext)
	d.rule(f.Get("migration_rules"), ext, "migration_rules", "Rules for migrations:")
}

// owns reads one of the directories that the agent may change.
func (d *decoding) owns(v *foreign.Value) {
	dir := path.Clean(strings.ReplaceAll(strings.TrimSpace(v.Text), `\`, "/"))
	switch {
	case strings.TrimSpace(v.Text) == "" || strings.HasPrefix(dir, "/") || strings.Contains(dir, ":") || dir == ".." || strings.HasPrefix(dir, "../"):
		d.Wrong(v, "a directory inside the project, relative to its root")
	case dir == ".": // no limit
	case strings.ContainsAny(dir, "*?[{"):
		d.node.Scope.Owns = append(d.node.Scope.Owns, dir)
	default:
		d.node.Scope.Owns = append(d.node.Scope.Owns, dir+"/**")
	}
}

// forbid closes the network to a bead that forbids it, and names what nothing holds for its
// being named.
func (d *decoding) forbid(list *foreign.Value, ext map[string]json.RawMessage) {
	var told []string
	for _, x := range d.rule(list, ext, "forbidden_ops", "This must not be done:") {
		if offline.MatchString(x.Text) {
			d.node.Offline = true
		} else {
			told = append(told, foreign.Clip(text.OneLine(x.Text)))
		}
	}
	if len(told) > 0 {
		found := diag.New("bead-place", d.At(list), "ralph tells the agent of forbidden operations, and enforces none by its name").
			WithDetail("%s: a sandbox holds what it holds whether or not a bead names it.", strings.Join(told, ", "))
		found.Severity = diag.Note
		d.Diags.Add(found)
	}
}

// offline are the words for the network as a whole.
var offline = lazyregexp.New(`(?i)^\s*(any[ _-])?(external[ _-])?(network|internet|web)([ _-](access|calls?|requests?|use|usage))?\s*$`)

// rule keeps a list, tells it to the agent, and returns its texts.
func (d *decoding) rule(v *foreign.Value, ext map[string]json.RawMessage, name, head string) []*foreign.Value {
	if v == nil {
		return nil
	}
	ext[name] = v.Plain()
	items := d.texts(v, "what it says, as texts")
	if len(items) == 0 {
		return nil
	}
	if len(d.node.Text) > 0 {
		d.node.Text = append(d.node.Text, "")
	}
	d.node.Text = append(d.node.Text, head, "")
	for _, x := range items {
		d.node.Text = append(d.node.Text, "- "+text.OneLine(x.Text))
	}
	return items
}

// texts are the items of a list that are texts.
func (d *decoding) texts(v *foreign.Value, what string) []*foreign.Value {
	if !d.Is(v, '[', "a list of "+what) {
		return nil
	}
	var out []*foreign.Value
	for _, x := range v.Items {
		if x.Kind != 's' || strings.ContainsRune(x.Text, 0) {
			d.Wrong(x, "a text")
			continue
		}
		out = append(out, x)
	}
	return out
}
