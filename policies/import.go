package policies

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// Found is an agent that exists outside of the policy: an agent file of the project, or a
// program's own agent.
type Found struct {
	Name, Description string
	From              string   // where it was found, for people: "opencode", ".claude/agents"
	Kind              string   // of the runner that executes it
	Path              string   // its file in the project; or
	Slug              string   // its name in the program
	Model             string   // "" if it names none
	Access            string   // read, write; "" if that is not known
	Capabilities      []string // what it was made for; a new block gets them
}

// Imported is the result of importing an agent.
type Imported struct {
	Agent string
	File  string   // that its block stands in; "" if it has none
	New   bool     // the block is new
	Lines []string // what changes: "- model = …", "+ model = …"
	Left  string   // why nothing is done about it
}

// Import writes found agents into the policy: path or slug, runner and model of their
// blocks are set wherever they are, and access if it is not written. An agent's block is
// the one that names its file or its slug, whatever the block's name, else the one of its
// name; all others get new blocks, with only the capabilities that they were made for, at
// the end of the file into. Nothing else changes, comments and layout stay. The result
// holds the new text of each changed file, by name. An unreadable policy, which the list
// reports, is not changed.
func Import(in Input, into string, found []Found) (map[string][]byte, []Imported, diag.List) {
	set, list := Decode(in)
	if slices.ContainsFunc(list, func(d diag.Diagnostic) bool { return d.Code == "policy-syntax" || d.Code == "policy-too-large" }) {
		return nil, nil, list
	}
	im := &importer{set: set, into: into, files: map[string]*importFile{}, blocks: map[string]agentPlace{}}
	for _, f := range in.Files {
		im.open(f)
	}
	byBlock := map[string][]Found{}
	for _, f := range found {
		name := cmp.Or(im.about(f), f.Name)
		byBlock[name] = append(byBlock[name], f)
	}
	var out []Imported
	for _, name := range sortedKeys(byBlock) {
		out = append(out, im.agent(name, byBlock[name])...)
	}
	changed := im.texts()
	after := in
	after.Files = nil
	for name, b := range changed {
		after.Files = append(after.Files, diag.NewFile(name, b))
	}
	for _, f := range in.Files {
		if changed[f.Name] == nil {
			after.Files = append(after.Files, f)
		}
	}
	if _, broken := Decode(after); broken.Count(diag.Error) > list.Count(diag.Error) { // what was wrong before may stay so
		return nil, nil, broken
	}
	return changed, out, nil
}

type importer struct {
	set     *Set
	into    string
	files   map[string]*importFile
	blocks  map[string]agentPlace // by the agent's name
	added   bytes.Buffer          // to the end of into
	runners map[string]string     // by kind: runners that are added
}

type importFile struct {
	*diag.File
	newline string
	edits   []diag.Fix
}

type agentPlace struct {
	file  *importFile
	block *hclsyntax.Block
}

// open finds the blocks of agents in a file. Of HCL's JSON form they are not
// edited.
func (im *importer) open(f *diag.File) {
	if strings.HasSuffix(f.Name, ".json") || im.files[f.Name] != nil {
		return
	}
	parsed, diags := hclsyntax.ParseConfig(f.Bytes, f.Name, hcl.InitialPos)
	if diags.HasErrors() {
		return // Decode said so
	}
	file := &importFile{File: f, newline: "\n"}
	if bytes.Contains(f.Bytes, []byte("\r\n")) {
		file.newline = "\r\n"
	}
	im.files[f.Name] = file
	body, ok := parsed.Body.(*hclsyntax.Body)
	if !ok {
		return
	}
	for _, b := range body.Blocks {
		if b.Type == "agent" && len(b.Labels) == 1 {
			im.blocks[b.Labels[0]] = agentPlace{file, b}
		}
	}
}

// about is the name of the block that names an agent's file or its slug; "" if none
// does. Of several it is the one of the agent's own name, else the first.
func (im *importer) about(f Found) string {
	if a := im.set.Agents[f.Name]; a != nil && im.names(a, f) {
		return f.Name
	}
	for _, name := range sortedKeys(im.set.Agents) {
		if im.names(im.set.Agents[name], f) {
			return name
		}
	}
	return ""
}

func (im *importer) names(a *Agent, f Found) bool {
	return !a.Builtin && im.kind(a.Runner.V) == f.Kind && (f.Path != "" && f.Path == path.Clean(a.Path.V) || f.Slug != "" && f.Slug == a.Slug.V)
}

// agent imports one of the agents that were found for a block.
func (im *importer) agent(name string, same []Found) []Imported {
	have := im.set.Agents[name]
	if have != nil && have.Builtin {
		have = nil
	}
	chosen := 0
	if have != nil {
		chosen = max(slices.IndexFunc(same, func(f Found) bool { return im.names(have, f) }), 0)
	}
	out := []Imported{im.one(name, same[chosen], have)}
	for i, f := range same {
		switch {
		case i == chosen:
		case f.Name != same[chosen].Name:
			out = append(out, Imported{Agent: name, Left: fmt.Sprintf("%q of %s is left out: this block is about %q", f.Name, at(f), same[chosen].Name)})
		default:
			out = append(out, Imported{Agent: name, Left: fmt.Sprintf("the one of %s is left out: %s has one of that name, too", at(f), at(same[chosen]))})
		}
	}
	return out
}

// at names the place that an agent was found at.
func at(f Found) string { return cmp.Or(f.Path, f.From) }

func (im *importer) one(name string, f Found, have *Agent) Imported {
	out := Imported{Agent: name}
	place, editable := im.blocks[name]
	switch {
	case f.Name == "" || len(f.Name) > maxName || strings.ContainsFunc(f.Name, unicode.IsControl) || !utf8.ValidString(f.Name):
		out.Left = "its name cannot be that of a block"
	case have == nil:
		out.File, out.New = im.into, true
		out.Lines = im.add(f)
	case !editable:
		out.Left = "its block is written in JSON, which is not edited"
	case have.Human.V:
		out.File, out.Left = place.file.Name, "it is a person there"
	case have.Runner.Set && f.Path != "" && path.Clean(have.Path.V) == f.Path && im.kind(have.Runner.V) != f.Kind:
		out.File, out.Left = place.file.Name, fmt.Sprintf("its block gives that file to runner %q", have.Runner.V)
	default:
		out.File = place.file.Name
		out.Lines, out.Left = im.setIn(place, f, have)
	}
	return out
}

// kind of a runner, also of one that is added.
func (im *importer) kind(name string) string {
	if r := im.set.Runners[name]; r != nil {
		return r.Kind.V
	}
	return ""
}

// runner is the name of a runner of a kind: one that is declared, preferably under
// the kind's own name, else one that is added.
func (im *importer) runner(kind string) string {
	if im.kind(kind) == kind {
		return kind
	}
	for _, name := range sortedKeys(im.set.Runners) {
		if im.kind(name) == kind {
			return name
		}
	}
	if name := im.runners[kind]; name != "" {
		return name
	}
	name := kind
	for im.set.Runners[name] != nil {
		name += "-agents"
	}
	if im.runners == nil {
		im.runners = map[string]string{}
	}
	im.runners[kind] = name
	fmt.Fprintf(&im.added, "\nrunner %s {\n  kind = %s\n}\n", hclString(name), hclString(kind))
	return name
}

// add appends a block and returns its lines.
func (im *importer) add(f Found) []string {
	runner := im.runner(f.Kind)
	description := oneLine(f.Description, 160)
	about := "from " + oneLine(at(f), 200)
	fill := ""
	if len(f.Capabilities) == 0 {
		fill = " No step chooses it before you fill in its capabilities,\n# such as [\"implement\", \"test\"] or [\"review\"]."
	}
	fmt.Fprintf(&im.added, "\n# %s.%s\n", strings.ToUpper(about[:1])+about[1:], fill)
	lines := []string{}
	put := func(name, value string) {
		if value != "" {
			lines = append(lines, name+" = "+value)
		}
	}
	put("description", stringOrNone(description))
	put("path", stringOrNone(f.Path))
	if f.Path == "" {
		put("slug", stringOrNone(f.Slug))
	}
	put("runner", reference("runner", runner))
	put("model", stringOrNone(f.Model))
	put("access", stringOrNone(f.Access))
	words := lists.Map(f.Capabilities, hclString)
	put("capabilities", "["+strings.Join(words, ", ")+"]")
	fmt.Fprintf(&im.added, "agent %s {\n  %s\n}\n", hclString(f.Name), strings.Join(lines, "\n  "))
	for i := range lines {
		lines[i] = "+ " + lines[i]
	}
	return lines
}

// texts are the files that change, as they are to be.
func (im *importer) texts() map[string][]byte {
	out := map[string][]byte{}
	for name, f := range im.files {
		if len(f.edits) > 0 {
			out[name] = diag.Fixed(f.Bytes, f.edits)
		}
	}
	if im.added.Len() > 0 {
		var b bytes.Buffer
		newline := "\n"
		old := out[im.into]
		if f := im.files[im.into]; f != nil {
			newline = f.newline
			if old == nil {
				old = f.Bytes
			}
		}
		if len(bytes.TrimSpace(old)) == 0 {
			old = []byte("# Agents, as `ralph sync-agents` found them. It sets path, slug, runner and model\n# anew; all else in here is yours.\n")
		}
		b.Write(old)
		if old[len(old)-1] != '\n' {
			b.WriteString(newline)
		}
		b.WriteString(strings.ReplaceAll(im.added.String(), "\n", newline))
		out[im.into] = b.Bytes()
	}
	for name, b := range out { // what was in the usual layout stays in it
		if f := im.files[name]; f == nil || bytes.Equal(Format(f.Bytes), f.Bytes) {
			out[name] = Format(b)
		}
	}
	return out
}
