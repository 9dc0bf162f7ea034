package gsd

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/internal/yaml"
	"github.com/ralph-compiler/ralph/ir"
)

// entry is a key of the front matter with its value and its text.
type entry struct {
	key      string
	at       diag.Range // of the key
	value    *yaml.Node // nil if it is no YAML
	offset   int        // of the value's text in the file: places in value count from here
	file     *diag.File
	source   string
	mistaken *yaml.SyntaxError
}

func (e *entry) place(n *yaml.Node) diag.Range {
	return e.file.Range(min(e.offset+n.Start, len(e.file.Bytes)), min(e.offset+n.End, len(e.file.Bytes)))
}

// frontMatter returns the keys of the front matter in order, and where the body begins.
// Each key is read by itself: people and models write values that are no YAML, and one
// of them must not hide the others.
func frontMatter(f *diag.File) (entries []entry, body int) {
	src := f.Bytes
	at := 0
	if bytes.HasPrefix(src, []byte("\ufeff")) {
		at = 3
	}
	line := func(from int) (string, int) {
		i := bytes.IndexByte(src[from:], '\n')
		if i < 0 {
			return strings.TrimRight(string(src[from:]), " \t\r"), len(src)
		}
		return strings.TrimRight(string(src[from:from+i]), " \t\r"), from + i + 1
	}
	first, next := line(at)
	if first != "---" {
		return nil, at
	}
	var starts []int
	for from := next; from < len(src); {
		l, after := line(from)
		if l == "---" {
			for i, start := range starts {
				end := from
				if i+1 < len(starts) {
					end = starts[i+1]
				}
				entries = append(entries, readEntry(f, start, end))
			}
			return entries, after
		}
		if l != "" && l[0] != ' ' && l[0] != '\t' && l[0] != '#' && l[0] != '-' && l[0] != ']' && l[0] != '}' {
			starts = append(starts, from)
		}
		from = after
	}
	return nil, at // never closed: a rule, not front matter
}

func readEntry(f *diag.File, start, end int) entry {
	text := string(f.Bytes[start:end])
	key, _, _ := strings.Cut(text, ":")
	e := entry{key: strings.TrimSpace(key), at: f.Range(start, start+len(strings.TrimRight(key, "\r\n"))), offset: start, file: f, source: text}
	doc, err := yaml.Parse([]byte(text))
	switch {
	case errors.As(err, &e.mistaken):
	case doc.Kind != yaml.Mapping || len(doc.Values) != 1:
		e.mistaken = &yaml.SyntaxError{Line: 1, Message: "it is not a key with a value"}
	default:
		e.value = doc.Values[0]
	}
	return e
}

// control are the keys that say what runs when: they have to be read.
var control = []string{"phase", "plan", "wave", "depends_on"}

// front reads the front matter of a plan.
func (d *decoding) front(p *plan) {
	var entries []entry
	entries, p.body = frontMatter(p.file)
	n := &p.node
	for _, e := range lists.Each(entries) {
		key := strings.ReplaceAll(strings.ToLower(e.key), "-", "_")
		if e.mistaken != nil {
			d.unread(p, e, slices.Contains(control, key))
			continue
		}
		switch key {
		case "phase":
			p.phaseText = e.value.Value
		case "plan":
			p.numberText = e.value.Value
		case "title", "name":
			p.title = text.OneLine(e.value.Value)
		case "type":
			if v := text.OneLine(e.value.Value); v != "" && v != "execute" {
				n.Type = ir.Stated{Value: v, Range: e.place(e.value)}
			}
		case "wave":
			d.wave(p, e)
		case "depends_on":
			for _, v := range scalars(e.value) {
				if text := text.OneLine(v.Value); text != "" {
					p.needs = append(p.needs, need{text: text, at: e.place(v)})
				}
			}
		case "files_modified":
			for _, v := range scalars(e.value) {
				p.addPath(&n.Scope.Files, v.Value)
			}
		case "requirements", "requirements_addressed":
			for _, v := range scalars(e.value) {
				if id := text.OneLine(v.Value); id != "" && !p.implied[id] {
					p.implied[id] = true
					n.Implements = append(n.Implements, id)
				}
			}
		case "must_haves":
			d.mustHaves(p, e)
		case "user_setup":
			d.userSetup(p, e)
		}
	}
}

// unread reports a key whose value is no YAML. What says nothing about the order of
// work goes to the agent unchanged.
func (d *decoding) unread(p *plan, e *entry, needed bool) {
	line := e.file.Position(e.offset).Line + e.mistaken.Line - 1
	text, offset := e.file.Line(line)
	at := e.file.Range(offset, offset+len(strings.TrimRight(text, "\r\n")))
	if needed {
		fix := cmp.Or(e.mistaken.Fix, "Write it as in depends_on: [\"01-01\"].")
		d.diags.Add(diag.Newf("gsd-front-matter", at, "%s cannot be read", e.key).WithDetail("It is not YAML: %s. %s", e.mistaken.Message, fix))
		return
	}
	d.diags.Add(diag.Newf("gsd-kept-as-text", at, "%s is not YAML", short(e.key)).
		WithDetail("%s. It is told to the agent as text. Put the value into quotes to have it read.", strings.TrimSuffix(sentence(e.mistaken.Message), ".")))
	p.node.Text = append(p.node.Text, lines(e.source)...)
}

func (d *decoding) wave(p *plan, e *entry) {
	w, err := strconv.Atoi(e.value.Value)
	if err != nil || w < 0 || w > 10_000 {
		d.diags.Add(diag.New("gsd-front-matter", e.place(e.value), "wave is not a whole number").WithDetail("The wave of a plan is a whole number from 0 to 10000. Write wave: 1."))
		return
	}
	p.wave, p.waveAt = w, e.place(e.value)
}

// mustHaves makes acceptance criteria of what has to be true at the end.
func (d *decoding) mustHaves(p *plan, e *entry) {
	add := func(list *yaml.Node) {
		for _, v := range values(list) {
			if s := said(v); s != "" {
				p.node.Acceptance = append(p.node.Acceptance, s)
			}
		}
	}
	if e.value.Kind != yaml.Mapping {
		add(e.value)
		return
	}
	for _, v := range e.value.Values {
		add(v)
	}
}

// said is a value of must_haves in words.
func said(v *yaml.Node) string {
	if v.Kind == yaml.Scalar {
		return text.OneLine(v.Value)
	}
	get := func(name string) string {
		x := v.Get(name)
		if x == nil {
			return ""
		}
		all := lists.Map(scalars(x), func(s *yaml.Node) string { return text.OneLine(s.Value) })
		return strings.Join(all, ", ")
	}
	out := ""
	switch {
	case get("path") != "":
		out = get("path")
		if s := get("provides"); s != "" {
			out += ": " + s
		}
	case get("from") != "" || get("to") != "":
		out = get("from") + " is linked to " + get("to")
		if s := get("via"); s != "" {
			out += " by " + s
		}
	}
	for i, k := range v.Keys {
		if !slices.Contains([]string{"path", "provides", "from", "to", "via"}, k.Value) && v.Values[i].Kind != yaml.Null {
			out = strings.TrimLeft(out+"; "+k.Value+": "+get(k.Value), "; ")
		}
	}
	return out
}

// userSetup is what a person has to do at other services before the work can be tried.
func (d *decoding) userSetup(p *plan, e *entry) {
	if len(values(e.value)) == 0 {
		return
	}
	p.setup = e.at
	p.node.Text = append(p.node.Text, "A person sets this up, not you; ask when it is missing:")
	p.node.Text = append(p.node.Text, lines(strings.TrimPrefix(strings.TrimSpace(e.source), e.key+":"))...)
}

// values are the entries of a list; a single value is a list of one.
func values(n *yaml.Node) []*yaml.Node {
	switch n.Kind {
	case yaml.Sequence:
		return n.Values
	case yaml.Null:
		return nil
	}
	return []*yaml.Node{n}
}

// scalars are the texts of a list, those of nested ones too.
func scalars(n *yaml.Node) []*yaml.Node {
	if n.Kind == yaml.Scalar {
		return []*yaml.Node{n}
	}
	var out []*yaml.Node
	for _, v := range n.Values {
		out = append(out, scalars(v)...)
	}
	return out
}

// addPath adds a file of the project to a scope. What is no such path, a file on a
// server or of the user's, is not lost: it is in the text of its task.
func (p *plan) addPath(to *[]string, written string) {
	s := strings.Trim(text.OneLine(written), "`\"'")
	s = strings.TrimPrefix(strings.TrimPrefix(s, "@"), "./")
	s, _, _ = strings.Cut(s, " (")
	clean := path.Clean(strings.TrimSuffix(s, "/"))
	if clean == "." || !fs.ValidPath(clean) || strings.ContainsAny(s, "\\: \x00~") || slices.Contains(*to, s) || len(*to) >= 1000 {
		return
	}
	*to = append(*to, s)
}

func sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
