package compiler

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/compiler/depend"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
)

// splitAgents cuts "a (opus), b and c" where no note follows; a note may hold
// commas, so with one the text is left whole.
func splitAgents(e entry) []ir.Stated {
	whole := []ir.Stated{{Value: e.text, Range: e.at}}
	if strings.Contains(e.text, " - ") || strings.ContainsAny(e.text, "–—:") {
		return whole
	}
	var out []ir.Stated
	parts := depend.ValueParts(e.text)
	for k, sp := range parts {
		// What is in parentheses, the model, is no part: it ends where the next name begins.
		end := len(e.text)
		if k+1 < len(parts) {
			end = parts[k+1].Start
		}
		piece := strings.TrimRight(e.text[sp.Start:end], " ,;&+\n`")
		piece = strings.TrimRight(strings.TrimSuffix(piece, " and"), " ,")
		if name, _, _ := strings.Cut(piece, "("); strings.ContainsAny(strings.TrimSpace(name), " \t") {
			return whole
		}
		r := e.at
		if e.value.Value != "" {
			r = e.value.Sub(sp.Start, sp.Start+len(piece))
		}
		out = append(out, ir.Stated{Value: piece, Range: r})
	}
	return out
}

// agentRef reads one agent: a name or a path, the model in parentheses, a note
// after a dash or colon.
func agentRef(s string, at diag.Range) (ir.AgentRef, bool) {
	s = strings.TrimSpace(s)
	head, note := s, ""
	for _, dash := range []string{" - ", " – ", " — ", " -- ", ": "} {
		if i := strings.Index(s, dash); i >= 0 && i < len(head) {
			head, note = s[:i], strings.TrimSpace(s[i+len(dash):])
		}
	}
	model := ""
	if i := strings.IndexByte(head, '('); i >= 0 {
		if j := strings.IndexByte(head[i:], ')'); j > 0 {
			model = strings.TrimSpace(head[i+1 : i+j])
			if rest := strings.TrimSpace(head[i+j+1:]); note == "" {
				note = strings.TrimLeft(rest, "-–—: ")
			}
		}
		head = head[:i]
	}
	name := strings.Trim(strings.TrimSpace(head), "`*_\"'")
	name = strings.TrimSpace(strings.TrimPrefix(name, "@"))
	if name == "" || depend.SaysNone(name) {
		return ir.AgentRef{}, false
	}
	r := ir.AgentRef{Name: name, Model: model, Note: note, Range: at}
	if strings.ContainsAny(model, " ,") { // a remark, not a model
		r.Model = ""
	}
	if strings.Contains(name, "/") || strings.HasSuffix(name, ".md") {
		r.Path = name
		if path.Ext(name) == "" {
			r.Path += ".md"
		}
		r.Name = strings.TrimSuffix(path.Base(name), ".md")
	}
	return r, true
}

// agentName reports whether a name can be that of an agent or a gate. A word with a
// colon behind it introduces what follows.
func agentName(s string) bool {
	return s != "" && len(s) <= 100 && !strings.HasSuffix(s, ":") && !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || r == utf8.RuneError || strings.ContainsRune("/\\<>|", r)
	})
}

// badPath says why a plan may not name a path; "" if it may.
func badPath(p string) string {
	if why := foreignPath(p); why != "" {
		return why
	}
	if clean := path.Clean(p); clean == ".." || strings.HasPrefix(clean, "../") {
		return "leads out of the project"
	}
	return ""
}

// foreignPath says why a path cannot be a relative one with forward slashes; "" if it can.
func foreignPath(p string) string {
	switch {
	case p == "":
		return "is empty"
	case strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~"):
		return "is absolute"
	case onDrive(p):
		return "names a drive"
	case strings.ContainsRune(p, 0):
		return "contains a NUL byte"
	case strings.Contains(p, `\`):
		return "contains a backslash"
	}
	return ""
}
