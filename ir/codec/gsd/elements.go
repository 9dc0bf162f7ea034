package gsd

import (
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/text"
)

// element is <name attributes>…</name> in the body of a plan. Its content is no XML:
// code is in it as it is.
type element struct {
	name, attrs string
	start       int // of "<", in bytes of the file
	from, to    int // of the content
}

var openTag = lazyregexp.New(`^<([a-z][a-z0-9_-]{0,39})((?:\s+[a-z_-]+="[^"<>\n]{0,200}")*)\s*>`)

var closeTag = lazyregexp.New(`^</([a-z][a-z0-9_-]{0,39})>`)

// maxTag bounds how long an opening tag is.
const maxTag = 600

// elements returns the elements of text[from:to] and the ranges of the text between
// them. An element begins on its own line or right after another one. One that is not
// closed is reported, and is text.
func (d *decoding) elements(f *diag.File, text string, from, to int) (out []element, between [][2]int) {
	closed := map[string]int{} // where an element of that name is closed for the last time
	for i := from; ; {
		next := strings.Index(text[i:to], "</")
		if next < 0 {
			break
		}
		i += next
		if m := closeTag.FindStringSubmatch(text[i:min(to, i+maxTag)]); m != nil {
			closed[m[1]] = i
		}
		i += 2
	}
	kept, at, fenced := from, from, false
	for at < to {
		line := at // the first character of the line that says something, or of the rest after an element
		for line < to && (text[line] == ' ' || text[line] == '\t') {
			line++
		}
		rest := text[line:min(to, line+maxTag)]
		if strings.HasPrefix(rest, "```") || strings.HasPrefix(rest, "~~~") {
			fenced = !fenced
		}
		if m := openTag.FindStringSubmatch(rest); m != nil && !fenced {
			e := element{name: m[1], attrs: m[2], start: line, from: line + len(m[0])}
			if closed[e.name] >= e.from {
				e.to = e.from + strings.Index(text[e.from:to], "</"+e.name+">")
				out = append(out, e)
				between = append(between, [2]int{kept, line})
				at = e.to + len(e.name) + 3
				kept = at
				continue
			}
			if meant[e.name] {
				d.diags.Add(diag.Newf("gsd-element", f.Range(line, e.from), "<%s> is not closed", e.name).
					WithDetail("What belongs to it cannot be told from what follows. Write </%s> after it.", e.name))
			}
		}
		if i := strings.IndexByte(text[line:to], '\n'); i >= 0 {
			at = line + i + 1
		} else {
			at = to
		}
	}
	return out, append(between, [2]int{kept, to})
}

// meant are the elements that GSD's plans have: text may hold others, such as <div>.
var meant = map[string]bool{
	"objective": true, "execution_context": true, "context": true, "tasks": true, "task": true, "verification": true, "success_criteria": true, "output": true,
	"name": true, "files": true, "action": true, "verify": true, "automated": true, "done": true, "acceptance_criteria": true, "read_first": true,
}

// attr returns the value of an attribute.
func (e element) attr(name string) string {
	_, rest, ok := strings.Cut(" "+text.OneLine(e.attrs), " "+name+`="`)
	if !ok {
		return ""
	}
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// lines are the lines of a text without the indentation that all of them have, and
// without empty ones at both ends.
func lines(text string) []string {
	all := strings.Split(strings.ReplaceAll(strings.TrimRight(text, " \t\r\n"), "\r\n", "\n"), "\n")
	for len(all) > 0 && strings.TrimSpace(all[0]) == "" {
		all = all[1:]
	}
	least := -1
	for i, l := range all {
		all[i] = strings.TrimRight(strings.ReplaceAll(l, "\t", "    "), " ")
		if indent := len(all[i]) - len(strings.TrimLeft(all[i], " ")); all[i] != "" && (i > 0 || indent > 0) && (least < 0 || indent < least) {
			least = indent
		}
	}
	for i := range all {
		all[i] = all[i][min(max(least, 0), len(all[i])-len(strings.TrimLeft(all[i], " "))):]
	}
	return all
}

// points are the entries of a list, each with what goes on below it; a text that is no
// list is one point.
func points(text string) []string {
	var out []string
	listed := false
	for _, l := range lines(text) {
		s := strings.TrimSpace(l)
		switch rest, ok := bulleted(s); {
		case s == "":
		case ok && (!strings.HasPrefix(l, " ") || !listed):
			if !listed && len(out) == 1 && strings.HasPrefix(out[0], "Before declaring") {
				out = nil // GSD's own words before the list
			}
			out, listed = append(out, rest), true
		case ok:
			out = append(out, "  "+s)
		case len(out) > 0:
			out[len(out)-1] += " " + s
		default:
			out = append(out, s)
		}
	}
	return out
}

// bulleted returns a line without its bullet or number, and its check box.
func bulleted(s string) (string, bool) {
	rest, ok := strings.CutPrefix(s, "- ")
	if !ok {
		rest, ok = strings.CutPrefix(s, "* ")
	}
	if i := strings.IndexAny(s, ".)"); i > 0 && i < 4 && strings.Trim(s[:i], "0123456789") == "" && strings.HasPrefix(s[i+1:], " ") {
		rest, ok = s[i+2:], true
	}
	if !ok {
		return s, false
	}
	rest = strings.TrimSpace(rest)
	if len(rest) > 3 && rest[0] == '[' && rest[2:4] == "] " {
		rest = strings.TrimSpace(rest[3:])
	}
	return rest, true
}
