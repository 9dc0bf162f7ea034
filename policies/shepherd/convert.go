package shepherd

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/internal/yaml"
	"github.com/ralph-compiler/ralph/policies"
)

// Format is the name of the format: of --as.
const Format = "shepherd"

// Options are the settings that the files lack.
type Options struct {
	// Approver may approve where the files ask for an approval and none of their
	// agents is a person. Default: "you".
	Approver string
}

// Convert writes the files' policy; nil if the list holds an error. The order of the
// files makes no difference. Safe for concurrent use; no bytes make it panic.
func Convert(files []*diag.File, o Options) ([]byte, diag.List) {
	c := &conversion{approver: cmp.Or(o.Approver, "you"), agentsByID: map[string]*agent{}}
	files = slices.Clone(files)
	slices.SortStableFunc(files, func(a, b *diag.File) int { return strings.Compare(a.Name, b.Name) })
	for _, f := range files {
		if newer := shadows(f, files); newer != nil {
			c.outside = append(c.outside, fmt.Sprintf("%s: %s is there, too, and counts.", line(f.Name), line(newer.Name)))
			c.diags.Add(diag.New("shepherd-left-out", f.Range(0, 0), "the file in config counts").
				WithDetail("%s is of the older layout, %s of the newer one. Delete the one that you do not use.", f.Name, newer.Name))
			continue
		}
		c.file(f)
	}
	c.resolve()
	if !c.diags.HasErrors() && len(c.policies)+len(c.agents) == 0 && !c.configured {
		c.diags.Add(diag.New("shepherd-value", firstRange(files), "there is nothing to convert").
			WithDetail("None of the files has policies, agents or the keys of config.yaml. Name .agent-shepherd, or its policies.yaml, agents.yaml and config.yaml."))
	}
	var text []byte
	if !c.diags.HasErrors() {
		text = policies.Format([]byte(c.write()))
	}
	c.told() // also beside errors: a key that is misspelt may be why another one is missing
	c.diags.Sort()
	return text, c.diags
}

func firstRange(files []*diag.File) diag.Range {
	if len(files) == 0 {
		return diag.Range{}
	}
	return files[0].Range(0, 0)
}

// conversion is the state of one Convert.
type conversion struct {
	approver   string
	diags      diag.List
	sources    []*source
	config     config
	configured bool // there is a config.yaml
	agents     []*agent
	agentsByID map[string]*agent
	registry   bool // there is an agents.yaml
	policies   []*policy
	defaults   node // default_policy
	gates      []criteria
	typed      bool     // agents have a type, which was said
	outside    []string // comments about what is beside config, agents and policies
}

// file reads one file.
func (c *conversion) file(f *diag.File) {
	src := &source{File: f}
	text := f.Bytes
	bad := func(fix string) {
		c.diags.Add(diag.New("shepherd-yaml", f.Range(0, 0), "the file is not YAML in UTF-8").WithDetail("%s", fix))
	}
	switch {
	case bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")):
		bad("It is UTF-16. Save it as UTF-8; in PowerShell: Set-Content -Encoding utf8.")
		return
	case !utf8.Valid(text):
		bad("It is not UTF-8. Save it as UTF-8.")
		return
	}
	if rest, ok := bytes.CutPrefix(text, []byte("\xef\xbb\xbf")); ok {
		text, src.shift = rest, 3
	}
	root, err := yaml.Parse(text)
	var broken *yaml.SyntaxError
	if errors.As(err, &broken) {
		at := src.place(broken.Line, broken.Column)
		fix := cmp.Or(broken.Fix, "Fix it here.")
		c.diags.Add(diag.New("shepherd-yaml", at, "the file cannot be read as YAML").
			WithDetail("Read as YAML: %s. %s", broken.Message, fix))
		return
	}
	c.sources = append(c.sources, src)
	n := node{Node: root, in: src}
	if n.absent() {
		return // empty
	}
	top, ok := c.fields(n, "Agent Shepherd's configuration")
	if !ok {
		return
	}
	c.top(top)
}

// place is the offset of a line and column, both from 1.
func (s *source) place(line, column int) diag.Range {
	text, start := s.Line(line)
	if line == 1 {
		text, start = strings.TrimPrefix(text, "\ufeff"), start+s.shift
	}
	for i := range text {
		if column--; column == 0 {
			return s.Range(start+i, start+i)
		}
	}
	return s.Range(start+len(text), start+len(text))
}

// top reads the keys at the top of a file: those of any of the three.
func (c *conversion) top(f *fields) {
	f.get("version")
	f.get("$schema")
	known := false
	if n := f.get("policies"); !n.absent() {
		known = true
		c.readPolicies(n)
	}
	if n := f.get("default_policy"); !n.absent() {
		known = true
		c.setDefault(n)
	}
	if n := f.get("agents"); !n.absent() {
		known = true
		c.registry = true
		c.readAgents(n)
	}
	if c.readConfig(f) {
		known = true
	}
	if !known && f.in.Kind == yaml.Mapping {
		keys := lists.Map(f.in.Keys, func(k *yaml.Node) string { return line(k.Value) })
		f.in.in.leftOut = append(f.in.in.leftOut, f.in)
		c.outside = append(c.outside, fmt.Sprintf("%s (%s): it holds neither policies nor agents nor the keys of config.yaml.", line(f.in.in.Name), clip(strings.Join(keys, ", "))))
		return
	}
	c.outside = append(c.outside, f.rest("")...)
}

func (c *conversion) setDefault(n node) {
	if !c.defaults.absent() {
		c.diags.Add(diag.New("shepherd-value", n.at(), "default_policy appears twice").
			WithDetail("Keep one of them.").WithRelated(c.defaults.at(), "first here"))
		return
	}
	if c.text(n) != "" {
		c.defaults = n
	}
}

// told reports what is in comments only, in one note for each file.
func (c *conversion) told() {
	for _, s := range c.sources {
		say := func(code diag.Code, list []node, format, detail string) {
			if len(list) == 0 {
				return
			}
			const most = 8
			var names []string
			for _, n := range list {
				names = lists.Include(names, cmp.Or(line(n.path), "the file"))
			}
			c.diags.Add(diag.Newf(code, list[0].keyAt(), format, len(names)).WithDetail("%s. "+detail, text.Some(names, most)))
		}
		say("shepherd-left-out", s.leftOut, "without a place in a policy: %d", "They are comments in the result, each with the reason.")
		say("shepherd-unknown-key", s.unknown, "keys that Agent Shepherd does not have: %d", "They are comments in the result and do nothing. If one of them is misspelt, correct it.")
	}
}

// changed warns of something that means another thing now.
func (c *conversion) changed(n node, summary, format string, args ...any) {
	c.diags.Add(diag.New("shepherd-changed", n.at(), summary).WithDetail(format, args...))
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
