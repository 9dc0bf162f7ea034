package policies

import (
	"io/fs"
	"path"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/yaml"
)

// AgentFile is the front matter of an agent file (.claude/agents/NAME.md).
type AgentFile struct {
	Path        string
	Name        string // front matter, else the file's stem
	Model       string // "" if it names none
	Description string
	Tools       []string
	Digest      string // "sha256:…" of the bytes
}

// ReadAgentFile reads an agent file. The error satisfies errors.Is(err,
// fs.ErrNotExist) when there is none. Front matter that is not valid YAML is a
// warning: the agent programs accept it, and name and model are found line by
// line.
func ReadAgentFile(fsys fs.FS, name string) (*AgentFile, diag.List, error) {
	if err := inside(name); err != nil {
		return nil, nil, err
	}
	name = path.Clean(strings.TrimPrefix(name, "./"))
	if _, err := fs.Stat(fsys, name); err != nil {
		return nil, nil, err
	}
	b, err := readBounded(fsys, name)
	if err != nil {
		return nil, nil, err
	}
	out := &AgentFile{Path: name, Name: strings.TrimSuffix(path.Base(name), path.Ext(name)), Digest: digest(b)}
	front, start, ok := frontMatter(string(b))
	if !ok {
		return out, nil, nil
	}
	file := diag.NewFile(name, b)
	root, err := yaml.Parse([]byte(front))
	if err != nil {
		line := 1
		if se, ok := err.(*yaml.SyntaxError); ok {
			line = max(se.Line, 1)
		}
		at := lineRange(file, front, start, line)
		out.scan(front)
		return out, diag.List{diag.New("agent-file-yaml", at, "the agent file's front matter is not YAML").
			WithDetail("%s Agent programs read it all the same, and so does ralph, line by line. Quote the value, as in description: \"…\".", hclSentence(sentence(printableText(err.Error()))))}, nil
	}
	for i, key := range root.Keys {
		out.set(key.Value, root.Values[i].Value)
		if key.Value == "tools" {
			out.Tools = toolList(root.Values[i])
		}
	}
	return out, nil, nil
}

func toolList(n *yaml.Node) []string {
	if n.Kind != yaml.Sequence {
		return strings.FieldsFunc(n.Value, func(r rune) bool { return r == ',' || r == ' ' })
	}
	return lists.Map(n.Values, func(v *yaml.Node) string { return v.Value })
}

func (a *AgentFile) set(key, value string) {
	value = strings.TrimSpace(value)
	switch key {
	case "name":
		if value != "" {
			a.Name = value
		}
	case "model":
		if value != "inherit" {
			a.Model = value
		}
	case "description":
		a.Description = value
	}
}

var scalarLine = lazyregexp.New(`^(name|model|description)[ \t]*:[ \t]*(.*)$`)

// scan finds scalars at the beginning of lines; the first of each counts.
func (a *AgentFile) scan(front string) {
	seen := map[string]bool{}
	for line := range strings.Lines(front) {
		m := scalarLine.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil || seen[m[1]] {
			continue
		}
		seen[m[1]] = true
		a.set(m[1], strings.Trim(strings.TrimSpace(m[2]), `"'`))
	}
}

// frontMatter returns the text between the --- lines and where it begins.
func frontMatter(s string) (text string, start int, ok bool) {
	body := strings.TrimPrefix(s, "\ufeff")
	start = len(s) - len(body)
	first, rest, found := strings.Cut(body, "\n")
	if !found || strings.TrimRight(first, " \t\r") != "---" {
		return "", 0, false
	}
	start += len(first) + 1
	end := 0
	for line := range strings.Lines(rest) {
		if strings.TrimRight(line, " \t\r\n") == "---" {
			return rest[:end], start, true
		}
		end += len(line)
	}
	return "", 0, false
}

// lineRange returns the range of a line (from 1) of the front matter.
func lineRange(f *diag.File, front string, start, line int) diag.Range {
	n := 1
	for l := range strings.Lines(front) {
		if n == line {
			return f.Range(start, start+len(strings.TrimRight(l, "\r\n")))
		}
		start += len(l)
		n++
	}
	return f.Range(start, start)
}
