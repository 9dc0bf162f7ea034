package gsd

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

// Format is the name of the format, as --as takes it.
const Format = "gsd"

// maxBytes bounds a file; the plans that people have are below 100 KB.
const maxBytes = 4 << 20

// Losses are what an import does not keep, or keeps elsewhere.
var Losses = []foreign.Loss{
	{Field: "`<execution_context>`", What: "is left out: it names the instructions of GSD's own executor"},
	{Field: "`<task>` elements", What: "become the task list of one sprint; one agent does them in one worktree. Commits are one a sprint, not one a task"},
	{Field: "`wave`", What: "orders plans only where `depends_on` names no plan of the phase"},
	{Field: "`autonomous`", What: "is not read: the checkpoints themselves say what waits for a person"},
	{Field: "checkpoints", What: "do not stop an agent half-way: what a person has to look at is a manual sprint after that of the plan (`02-03-check`); a decision is a question that the agent is told to ask"},
	{Field: "`must_haves`", What: "are acceptance criteria; nothing compares `min_lines`, `exports` and `pattern` with the files"},
	{Field: "`SUMMARY.md`", What: "says that a plan is finished; its text is not told to other agents"},
	{Field: "plans that are only in the roadmap", What: "are not sprints: a warning names their phases"},
	{Field: "STATE.md, PROJECT.md, CONTEXT.md, RESEARCH.md and other files", What: "are not read; agents find them where `<context>` names them"},
	{Field: "other keys of the front matter", What: "are left out (`tags`, `subsystem` and the like say nothing about the work)"},
}

// Decode reads plans, summaries and the roadmap into one draft.
func Decode(files []*diag.File) (*ir.Draft, diag.List) {
	d := &decoding{plans: map[string]*plan{}, phases: map[string]*phase{}}
	var summaries []*diag.File
	for _, f := range files {
		if !d.readable(f) {
			continue
		}
		switch kindOf(f.Name) {
		case isRoadmap:
			d.roadmap(f)
		case isSummary:
			summaries = append(summaries, f)
		default:
			d.plan(f)
		}
	}
	for _, f := range summaries {
		d.summary(f)
	}
	d.order()
	if len(d.list) == 0 && !d.diags.HasErrors() {
		d.nothing(files)
	}
	d.diags.Sort()
	if d.diags.HasErrors() {
		return nil, d.diags
	}
	d.finish(files)
	return &d.draft, d.diags
}

// decoding is the state of one Decode.
type decoding struct {
	diags  diag.List
	draft  ir.Draft
	plans  map[string]*plan // by id: "2.1-3"
	list   []*plan          // in the order of phases and numbers
	phases map[string]*phase
	titled bool
}

// phase is what is known of a phase, from the roadmap and from its plans.
type phase struct {
	id       string // "2.1"
	name     string
	goal     []string
	after    []need // what the roadmap says that it depends on
	free     bool   // the roadmap says that it depends on nothing
	done     bool
	doneAt   diag.Range
	at       diag.Range // of its heading or line in the roadmap; zero if it has none
	plans    []*plan
	outlined map[string]outline // plans as the roadmap lists them, by number
	index    int                // in Draft.Phases
}

// title is the phase as the roadmap's heading has it: "Phase 2.1: Catalogue".
func (ph *phase) title() string {
	if ph.name == "" {
		return "Phase " + ph.id
	}
	return "Phase " + ph.id + ": " + ph.name
}

// outline is a plan's line in the roadmap.
type outline struct {
	title        string
	ticked, open bool
	at           diag.Range
}

// need is a dependency as it is in a file.
type need struct {
	text string
	to   string // of phases: the last one of a range, "" if it is none
	at   diag.Range
}

func (d *decoding) phase(id string) *phase {
	p := d.phases[id]
	if p == nil {
		p = &phase{id: id, outlined: map[string]outline{}}
		d.phases[id] = p
	}
	return p
}

// readable reports a file that is too large or no UTF-8.
func (d *decoding) readable(f *diag.File) bool {
	why := ""
	switch {
	case len(f.Bytes) > maxBytes:
		why = "It has more than 4 MB. Split it."
	case !utf8.Valid(f.Bytes):
		why = "It is not UTF-8. Save it as UTF-8."
	default:
		return true
	}
	d.diags.Add(diag.New("gsd-front-matter", f.Range(0, 0), "the file cannot be read").WithDetail("%s", why))
	return false
}

// summary marks the plan that a SUMMARY.md belongs to as finished.
func (d *decoding) summary(f *diag.File) {
	ph, number := nameParts(f.Name)
	p := d.plans[ph+"-"+number]
	if p == nil {
		return // of a plan that is not among the files: nothing to run either
	}
	n := &p.node
	n.Done, n.DoneBy, n.DoneRange = true, "status", f.Range(0, 0)
}

// nothing reports that there is no plan file at all.
func (d *decoding) nothing(files []*diag.File) {
	detail := "GSD writes plans as .planning/phases/01-name/01-01-PLAN.md. Name such a file, or the directory .planning."
	for _, f := range files {
		if kindOf(f.Name) == isRoadmap {
			detail = "The phases of the roadmap are not planned yet. Plan one with GSD, or compile the roadmap itself, a sprint for each phase: ralph compile " + f.Name + " --dialect phase"
		}
	}
	d.diags = append(d.diags[:0], diag.New("gsd-no-plan", files[0].Range(0, 0), "there is no plan to import").WithDetail("%s", detail))
}

// finish makes the draft of what was read.
func (d *decoding) finish(files []*diag.File) {
	d.draft.Plan = files[0].Name
	d.draft.Slug = "planning"
	if len(d.list) == 1 {
		d.draft.Slug = foreign.Slug(string(d.list[0].node.Key))
		d.draft.Plan = d.list[0].file.Name
	} else if only := d.list[0].phase; d.list[len(d.list)-1].phase == only {
		d.draft.Slug = foreign.Slug("phase " + only.id + " " + only.name)
	}
	first := d.list[0].file
	d.draft.Range = first.Range(0, 0)
	d.draft.Title = cmp.Or(d.draft.Title, "GSD plans")
	for _, p := range d.list {
		ph := p.phase
		if ph.index < 0 {
			ph.index = len(d.draft.Phases)
			d.draft.Phases = append(d.draft.Phases, ir.DraftPhase{
				ID: ph.id, Word: "Phase", Name: ph.name, Goal: strings.Join(ph.goal, "\n"), Range: cmp.Or(ph.at, p.node.Range),
			})
		}
		p.node.Phase, p.node.PhaseIndex = ph.id, ph.index
		p.node.Section = ph.title() + " > " + string(p.node.Key) + ": " + p.node.Title
		d.draft.Nodes = append(d.draft.Nodes, p.node)
		if p.last() != p.node.Key {
			d.draft.Nodes = append(d.draft.Nodes, p.check())
		}
	}
}

// Kinds of files, by their names.
type kind uint8

const (
	isPlan kind = iota
	isSummary
	isRoadmap
)

func kindOf(name string) kind {
	switch base := strings.ToUpper(path.Base(name)); {
	case base == "ROADMAP.MD":
		return isRoadmap
	case strings.HasSuffix(base, "SUMMARY.MD"):
		return isSummary
	}
	return isPlan
}

// sorted returns the phases that have plans, in the order of their numbers.
func (d *decoding) sorted() []*phase {
	all := slices.SortedFunc(maps.Values(d.phases), func(a, b *phase) int { return compareNumbers(a.id, b.id) })
	return slices.DeleteFunc(all, func(p *phase) bool { return len(p.plans) == 0 })
}
