package syntax

import (
	"bytes"

	"github.com/ralph-compiler/ralph/diag"
)

// parser holds what one call of Parse works on.
type parser struct {
	file    *diag.File
	src     string // the file's bytes
	dialect Dialect
	known   []Dialect
	limits  Limits
	item    matcher
	phase   matcher
	plan    *Plan
	diags   diag.List

	stream     []elem
	cands      []cand
	listed     []Item     // of the front matter
	misses     []nearMiss // what nearly is an item
	alikes     []alike
	nears      []nearHeading
	hid        int   // lines that fences and comments hide
	reported   []int // offsets of those that were reported
	groupLevel int   // of group headings; 0: the plan has none
	titleElem  int   // index in stream + 1 of a title that reads like an item or a group
	grouped    bool  // list items are groups

	repeating    map[int]string // elements of headings that repeat a group's id at another level → the id
	wordHeads    []wordHeading
	wordMatchers map[string]matcher // of their words
	aboveBoxes   []diag.Range       // list items without a box that hold items of todo

	names func(items, groups []Named) func(string) Reading
	reads func(value string) Reading // made by names, on first use

	labels       []Label      // room for those of the section that is read
	statuses     []lostStatus // of that section
	ticks        []lostTick   // of the overview
	unknowns     map[string]*unknownLabel
	unknownOrder []*unknownLabel
	annotations  map[string]Annotation
	strays       []Annotation // of no item
	struckLines  []diag.Range // tasks and criteria
}

// Parse reads a plan. The tree is always present and usable, whatever the diagnostics;
// with errors it holds what could be understood. The file's bytes must not change while
// the tree is used.
func Parse(file *diag.File, opts Options) (*Plan, diag.List) {
	p := newParser(file, opts)
	if !p.check() {
		return p.plan, p.diags
	}
	p.src = string(file.Bytes)
	from := p.frontMatter()
	blocks := p.blocks(from)
	if p.diags.HasErrors() && blocks == nil {
		return p.plan, p.diags
	}
	p.read(blocks)
	p.classify()
	if !p.build(from) {
		p.diags.Sort()
		return p.plan, p.diags
	}
	p.tables()
	p.finished()
	p.struckTitles()
	p.struckTasks()
	p.numbering()
	p.hints(blocks)
	p.diags.Sort()
	return p.plan, p.diags
}

// Peek reads only the front matter: the dialect and the policy files that it names are
// needed before the plan can be parsed. Parse repeats all of its diagnostics.
func Peek(file *diag.File) (FrontMatter, diag.List) {
	p := newParser(file, Options{})
	if !p.check() {
		return FrontMatter{}, p.diags
	}
	p.src = string(file.Bytes[:min(len(file.Bytes), maxFrontMatter+len(bom)+16)])
	p.frontMatter()
	return p.plan.FrontMatter, p.diags
}

func newParser(file *diag.File, opts Options) *parser {
	if opts.Dialect.In == "" {
		opts.Dialect = Sprint()
	}
	p := &parser{
		file: file, dialect: opts.Dialect, known: opts.Dialects, limits: opts.Limits.orDefault(), names: opts.Names,
		item: newMatcher(opts.Dialect.Item), phase: newMatcher(opts.Dialect.Phase),
		plan: &Plan{File: file}, unknowns: map[string]*unknownLabel{}, annotations: map[string]Annotation{}, repeating: map[int]string{}, wordMatchers: map[string]matcher{},
	}
	p.item.starred = opts.Dialect.In == InCheckbox
	if p.dialect.In == InHeading {
		p.item.insertable(opts.Dialect.Item.ID)
	}
	if opts.Dialect.Item.ID != sprintID {
		p.phase.insertable(opts.Dialect.Phase.ID)
	}
	return p
}

// maxDiagnostics bounds what is reported; the first error is always among it.
const maxDiagnostics = 5000

func (p *parser) report(d diag.Diagnostic) {
	if len(p.diags) < maxDiagnostics || d.Severity == diag.Error && !p.diags.HasErrors() {
		p.diags.Add(d)
	}
}

// afterBOM returns the offset of the text.
func afterBOM(b []byte) int {
	return len(b) - len(bytes.TrimPrefix(b, bom))
}
