package modeltest

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// A tool of an agent, and how its arguments are written.
type dialect struct {
	name string
	args func(value, more string) any
}

// The tools of the agents, by what they do; the first that is offered is called.
var (
	writers = []dialect{
		{"write", func(path, text string) any { return fields{"filePath": path, "content": text} }},       // OpenCode
		{"Write", func(path, text string) any { return fields{"file_path": path, "content": text} }},      // Claude Code
		{"write_file", func(path, text string) any { return fields{"file_path": path, "content": text} }}, // Gemini
	}
	readers = []dialect{
		{"read", func(path, _ string) any { return fields{"filePath": path} }},
		{"Read", func(path, _ string) any { return fields{"file_path": path} }},
		{"read_file", func(path, _ string) any { return fields{"file_path": path} }},
	}
	shells = []dialect{
		{"bash", func(cmd, _ string) any { return fields{"command": cmd, "description": "scripted"} }},
		{"Bash", func(cmd, _ string) any { return fields{"command": cmd, "description": "scripted"} }},
		{"exec_command", func(cmd, _ string) any { return fields{"cmd": cmd} }}, // Codex
		{"shell_command", func(cmd, _ string) any { return fields{"command": cmd} }},
		{"shell", func(cmd, _ string) any { return fields{"command": []string{"bash", "-c", cmd}} }},
		{"run_shell_command", func(cmd, _ string) any { return fields{"command": cmd, "description": "scripted"} }},
	}
	askers = []dialect{
		{"question", func(q, _ string) any {
			return fields{"questions": []fields{{"question": q, "header": "Scripted", "options": []fields{{"label": "yes", "description": "yes"}, {"label": "no", "description": "no"}}}}}
		}},
		{"AskUserQuestion", func(q, _ string) any {
			return fields{"questions": []fields{{"question": q, "header": "Scripted", "multiSelect": false, "options": []fields{{"label": "yes", "description": "yes"}, {"label": "no", "description": "no"}}}}}
		}},
		{"request_user_input", func(q, _ string) any {
			return fields{"questions": []fields{{"id": "q", "question": q, "header": "Scripted", "options": []fields{{"label": "yes", "description": "yes"}, {"label": "no", "description": "no"}}}}}
		}},
		{"ask_user", func(q, _ string) any { return fields{"question": q} }},
	}
)

// call turns an action into a call of one of the request's tools.
func (r Request) call(a Action, id string) Called {
	switch {
	case a.Write != nil:
		return r.write(*a.Write, id)
	case a.Read != nil:
		path := r.absolute(a.Read.Path)
		if c, ok := r.first(readers, id, path, ""); ok && filepath.IsAbs(path) {
			return c
		}
		return r.shell("cat "+quote(a.Read.Path), id)
	case a.Bash != nil:
		return r.shell(a.Bash.Cmd, id)
	case a.Ask != nil:
		c, ok := r.first(askers, id, a.Ask.Question, "")
		if !ok {
			c = Called{ID: id, Name: "question", Args: text(askers[0].args(a.Ask.Question, ""))}
		}
		return c
	case a.Report != nil:
		return r.suffix("report_outcome", a.Report, id)
	}
	return r.suffix(a.Call.Name, a.Call.Args, id)
}

func (r Request) write(w WriteAction, id string) Called {
	path := r.absolute(w.Path)
	if c, ok := r.first(writers, id, path, w.Content); ok && filepath.IsAbs(path) {
		return c
	}
	if i := slices.IndexFunc(r.Tools, func(t Tool) bool { return t.Name == "apply_patch" && t.Custom }); i >= 0 {
		patch := "*** Begin Patch\n*** Add File: " + w.Path + "\n+" + strings.ReplaceAll(strings.TrimSuffix(w.Content, "\n"), "\n", "\n+") + "\n*** End Patch\n"
		return Called{ID: id, Name: "apply_patch", Args: patch, Custom: true}
	}
	return r.shell(fmt.Sprintf("mkdir -p %s && printf %%s %s > %s", quote(filepath.Dir(w.Path)), quote(w.Content), quote(w.Path)), id)
}

// shell calls the agent's shell; an agent without one is asked for bash.
func (r Request) shell(cmd, id string) Called {
	if c, ok := r.first(shells, id, cmd, ""); ok {
		return c
	}
	return Called{ID: id, Name: "bash", Args: text(shells[0].args(cmd, ""))}
}

// first calls the first of the tools that the agent offers.
func (r Request) first(of []dialect, id, value, more string) (Called, bool) {
	for _, d := range of {
		for _, t := range r.Tools {
			if t.Name == d.name && !t.Custom {
				return Called{ID: id, Name: t.Name, Namespace: t.Namespace, Args: text(d.args(value, more))}, true
			}
		}
	}
	return Called{}, false
}

// suffix calls the tool of a name, or the last whose name ends in it.
func (r Request) suffix(name string, args json.RawMessage, id string) Called {
	out := Called{ID: id, Name: name, Args: string(args)}
	for _, t := range slices.Backward(r.Tools) {
		if t.Name == name {
			return Called{ID: id, Name: t.Name, Namespace: t.Namespace, Args: string(args)}
		}
	}
	for _, t := range slices.Backward(r.Tools) {
		if strings.HasSuffix(t.Name, name) {
			return Called{ID: id, Name: t.Name, Namespace: t.Namespace, Args: string(args)}
		}
	}
	return out
}

// absolute is a path as the tools of some agents need it; it stays relative where
// the agent does not say in which directory it works.
func (r Request) absolute(path string) string {
	if dir := r.directory(); dir != "" && !filepath.IsAbs(path) {
		return filepath.Join(dir, path)
	}
	return path
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func text(v any) string { return string(object(v)) }
