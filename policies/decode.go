package policies

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	hcljson "github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"

	"github.com/ralph-compiler/ralph/diag"
)

// Decode reads the user's policy files over the built-in policy. The Set is never nil
// and always usable: undecodable parts are left out, and the list says why. The order of
// files makes no difference.
func Decode(in Input) (*Set, diag.List) {
	base := builtin()
	s := base.clone()
	s.project = in.Project
	d := &decoder{scope: newScope(in.Project, in.Meter), src: newTexts()}
	s.ctx = d.scope
	d.declareBuiltin(base)
	blocks := d.parse(in.Files)
	d.decodeAll(s, blocks, in)
	s.finish(d)
	d.diags.Sort()
	return s, d.diags
}

// parse reads files into the blocks at their top level, sorted by place.
func (d *decoder) parse(files []*diag.File) []*hcl.Block {
	files = slices.Clone(files)
	slices.SortStableFunc(files, func(a, b *diag.File) int { return strings.Compare(a.Name, b.Name) })
	if len(files) > maxFiles {
		d.diags.Add(tooLarge(files[maxFiles].Range(0, 0), fmt.Sprintf("has more than %d files", maxFiles)))
		files = files[:maxFiles]
	}
	var out []*hcl.Block
	for _, f := range files {
		if _, again := d.src.texts[f.Name]; again {
			continue
		}
		out = append(out, d.parseFile(f.Name, f.Bytes, fileBlock)...)
	}
	return out
}

func (d *decoder) parseFile(name string, src []byte, root *block) []*hcl.Block {
	d.src.texts[name], d.src.lengths[name], d.src.offsets[name] = src, len(src), 0
	start := hcl.InitialPos
	isJSON := strings.HasSuffix(name, ".json")
	if !d.builtin { // ours keeps them; reading it twice would cost every start
		if at := d.scope.meter.read(src); at >= 0 {
			d.diags.Add(tooManyWords(d.rng(hcl.Range{Filename: name, Start: hcl.Pos{Line: 1, Column: 1, Byte: at}, End: hcl.Pos{Line: 1, Column: 1, Byte: at}})))
			return nil
		}
		if r, why := checkBounds(src, name, start, isJSON, false); why != "" {
			d.diags.Add(tooLarge(d.rng(r), why))
			return nil
		}
	}
	var f *hcl.File
	var diags hcl.Diagnostics
	if isJSON {
		f, diags = hcljson.Parse(src, name)
	} else {
		f, diags = hclsyntax.ParseConfig(src, name, start)
	}
	d.addHCL(diags)
	if f == nil || f.Body == nil {
		return nil
	}
	return d.open(root, f.Body, "", "", diag.Range{}, false).nested
}

// clone returns a Set whose maps can be written to; the blocks are shared.
func (s *Set) clone() *Set {
	c := *s
	c.def, c.names = nil, nil
	c.Variables, c.Runners, c.Secrets = maps.Clone(s.Variables), maps.Clone(s.Runners), maps.Clone(s.Secrets)
	c.Models, c.Agents, c.Gates = maps.Clone(s.Models), maps.Clone(s.Agents), maps.Clone(s.Gates)
	c.Policies, c.Complexity, c.Sandboxes = maps.Clone(s.Policies), maps.Clone(s.Complexity), maps.Clone(s.Sandboxes)
	c.Dialects = maps.Clone(s.Dialects)
	c.Rules, c.Waivers, c.Notify = slices.Clone(s.Rules), slices.Clone(s.Waivers), slices.Clone(s.Notify)
	return &c
}

func newSet() *Set {
	return &Set{
		Variables: map[string]*Variable{}, Runners: map[string]*Runner{}, Secrets: map[string]*Secret{},
		Models: map[string]*Model{}, Agents: map[string]*Agent{}, Gates: map[string]*Gate{}, Policies: map[string]*Policy{},
		Complexity: map[string]*Complexity{}, Sandboxes: map[string]*Sandbox{}, Dialects: map[string]*Dialect{},
	}
}

// declareBuiltin makes the names of the built-in blocks known.
func (d *decoder) declareBuiltin(s *Set) {
	n := d.scope.names
	n["runner"], n["model"], n["agent"] = sortedKeys(s.Runners), sortedKeys(s.Models), sortedKeys(s.Agents)
	n["gate"], n["policy"], n["complexity"] = sortedKeys(s.Gates), sortedKeys(s.Policies), sortedKeys(s.Complexity)
	n["sandbox"], n["dialect"] = sortedKeys(s.Sandboxes), sortedKeys(s.Dialects)
}

// declare makes the names of blocks known and drops what is declared twice.
func (d *decoder) declare(blocks []*hcl.Block) []*hcl.Block {
	seen := map[string]*hcl.Block{}
	kinds := map[string]int{}
	var out []*hcl.Block
	for _, b := range blocks {
		if kinds[b.Type]++; kinds[b.Type] > maxBlocks {
			if kinds[b.Type] == maxBlocks+1 {
				d.diags.Add(tooLarge(d.rng(b.DefRange), fmt.Sprintf("has more than %d blocks of the kind %s", maxBlocks, b.Type)))
			}
			continue
		}
		id, name := b.Type, ""
		if len(b.Labels) > 0 {
			name = b.Labels[0]
			id += "\x00" + name
		}
		decl := fileBlock.block(b.Type)
		if first, again := seen[id]; again && !decl.many {
			d.twice(b.Type, name, d.rng(b.DefRange), d.rng(first.DefRange))
			continue
		}
		if decl.label != "" && !d.named(b.Type, name, d.rng(b.DefRange)) {
			continue
		}
		if _, again := seen[id]; !again {
			seen[id] = b
		}
		if slices.Contains(refTypes, b.Type) {
			d.scope.names[b.Type] = insert(d.scope.names[b.Type], name)
		}
		out = append(out, b)
	}
	return out
}

// named reports whether a name can be one, and says so if it cannot.
func (d *decoder) named(what, name string, at diag.Range) bool {
	switch {
	case name == "":
		d.diags.Add(diag.New("policy-label", at, "the name is empty").
			WithDetail("Every %s has a name by which others refer to it. Write one between the quotes.", what))
	case len(name) > maxName:
		d.diags.Add(diag.New("policy-label", at, "the name is too long").
			WithDetail("A name has at most %d bytes. Write a shorter one.", maxName))
	case strings.ContainsFunc(name, unicode.IsControl) || !utf8.ValidString(name):
		d.diags.Add(diag.New("policy-label", at, "the name contains a control character").
			WithDetail("The name of a %s is text that can be seen: %q. Delete the character.", what, name))
	default:
		return true
	}
	return false
}

const maxName = 200

// insert adds a name to a sorted list, which is not changed.
func insert(names []string, name string) []string {
	i, found := slices.BinarySearch(names, name)
	if found {
		return names
	}
	return slices.Insert(slices.Clone(names), i, name)
}

// decodeAll decodes all blocks of the policy files into s, in an order in which
// what a block needs to know is known.
func (d *decoder) decodeAll(s *Set, blocks []*hcl.Block, in Input) {
	blocks = d.declare(blocks)
	byType := map[string][]*hcl.Block{}
	for _, b := range blocks {
		byType[b.Type] = append(byType[b.Type], b)
	}
	d.variables(s, byType["variable"], in.Vars)
	d.locals(byType["locals"])
	for _, root := range refTypes { // no user block, no builtin: still a root, with no names
		if d.scope.names[root] == nil {
			d.scope.names[root] = []string{}
		}
	}
	d.version = in.Version
	for _, b := range byType["ralph"] {
		d.reader(b).fill(&s.Ralph)
	}
	named(d, byType, "secret", s.Secrets)
	named(d, byType, "runner", s.Runners)
	named(d, byType, "model", s.Models)
	named(d, byType, "agent", s.Agents)
	named(d, byType, "sandbox", s.Sandboxes)
	for _, b := range byType["complexity"] {
		s.Complexity[b.Labels[0]] = d.reader(b).complexity(s.Complexity[b.Labels[0]])
	}
	named(d, byType, "dialect", s.Dialects)
	d.topSettings(s, byType)
	for _, c := range list[Concurrency](d, byType["concurrency"]) {
		s.Concurrency = Overlay(s.Concurrency, *c)
	}
	for _, x := range list[Draft](d, byType["draft"]) {
		s.Draft = Overlay(s.Draft, *x)
	}
	for _, t := range list[Tracker](d, byType["tracker"]) {
		s.Tracker = t
	}
	s.Notify = append(s.Notify, list[Notify](d, byType["notify"])...)
	s.Waivers = append(s.Waivers, list[Waiver](d, byType["waive"])...)
	s.Rules = append(s.Rules, list[Rule](d, byType["rule"])...)
	for _, b := range byType["gate"] {
		s.Gates[b.Labels[0]] = d.gate(b)
	}
	for _, b := range byType["policy"] {
		s.Policies[b.Labels[0]] = d.policy(b)
	}
	s.Files = append(s.Files, d.scope.takeReads()...)
}

// named decodes the blocks of a type into a map by their labels.
func named[T any](d *decoder, byType map[string][]*hcl.Block, typ string, into map[string]*T) {
	for i, x := range list[T](d, byType[typ]) {
		into[byType[typ][i].Labels[0]] = x
	}
}

// list decodes blocks of one type.
func list[T any](d *decoder, blocks []*hcl.Block) []*T {
	out := make([]*T, len(blocks))
	for i, b := range blocks {
		out[i] = new(T)
		d.reader(b).fill(out[i])
	}
	return out
}

// topSettings decodes the settings that are at top level.
func (d *decoder) topSettings(s *Set, byType map[string][]*hcl.Block) {
	for i, tag := range tagsOf(reflect.TypeFor[Settings]()) {
		for _, b := range byType[tag.name] {
			var x Settings
			d.reader(b).fill(reflect.ValueOf(&x).Elem().Field(i).Addr().Interface())
			if s.Settings = Overlay(s.Settings, x); !d.builtin {
				s.Own = Overlay(s.Own, x)
			}
		}
	}
}

// reader opens a block at the top level of a file.
func (d *decoder) reader(b *hcl.Block) *reader {
	name, path := "", b.Type
	if len(b.Labels) > 0 {
		name = b.Labels[0]
		path += "." + name
	}
	r := d.open(fileBlock.block(b.Type), b.Body, path, d.origin(path), d.rng(b.DefRange), false)
	r.name = name
	return r
}

// origin says where the values of a block come from, for people.
func (d *decoder) origin(path string) string {
	switch {
	case d.builtin:
		return "built-in " + describe(path)
	case d.where != "":
		return "fence of " + d.where
	}
	return describe(path)
}

// finish sorts, links and checks what needs the whole policy.
func (s *Set) finish(d *decoder) {
	slices.SortFunc(s.Rules, func(a, b *Rule) int { return strings.Compare(a.Name, b.Name) })
	slices.SortStableFunc(s.Waivers, func(a, b *Waiver) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Node.V, b.Node.V))
	})
	slices.SortFunc(s.Files, func(a, b FileRead) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.For, b.For))
	})
	s.Files = slices.Compact(s.Files)
	s.linkDialects(d)
	s.fillGateTimeouts()
	s.names = sortedKeys(s.Policies)
	s.keywords = indexKeywords(s.Complexity)
	s.check(d)
	if def := s.DefaultPolicy(); len(def.Steps) == 0 { // settings only: below it there is the built-in one
		withSteps := *def
		withSteps.Steps = builtin().DefaultPolicy().Steps
		s.Policies[def.Name] = &withSteps
	}
	s.def = s.DefaultPolicy()
}

func (s *Set) fillGateTimeouts() {
	for name, g := range s.Gates {
		if def := s.GateTimeout(g.Kind.V); !g.TimeoutMS.Set && g.TimeoutMS != def {
			c := *g
			c.TimeoutMS, c.TimeoutMS.Set = def, false
			s.Gates[name] = &c
		}
	}
}

// noView is the view of a decoder that knows no node yet.
var noView = cty.NilVal
