package compiler

import (
	"iter"

	"github.com/ralph-compiler/ralph/compiler/depend"
	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

// unit is one plan as the passes read it: its text, what was lowered from it, and
// what policy says of each item. No pass changes it.
type unit struct {
	c       *compilation
	source  Source
	file    *diag.File
	tree    *syntax.Plan // nil of an imported draft
	policy  *policySet
	set     *policies.Set // of policy; in planning mode, what is left of it
	dialect syntax.Dialect
	spec    string // that named it: "task", "task:Unit"
	draft   *ir.Draft
	deps    *depend.Graph
	fences  fences
	parts   []part             // one for each node of the draft, in its order
	whole   *policies.Settings // of the run as a whole
}

// fences are the policy that the plan itself states, outside of its items.
type fences struct {
	plan   scopeFragments
	phases []scopeFragments // by phase
}

// part is one item: what the plan says of it and what policy says about it. Labels
// and flags are applied by the passes, to the few fields that they concern.
type part struct {
	*sharedConfig
	draft  *ir.DraftNode
	item   *syntax.Item // nil of an imported draft
	view   *policies.NodeView
	word   string // that the complexity was recognised by
	from   string // keyword, plan, policy, flag, default
	floor  bool   // detected as critical: review stays whatever a flag says
	fences scopeFragments
	owned  bool // sharedConfig is this item's alone
}

// nodes yields the items, each with its node of an epic that is not sealed yet.
func (u *unit) nodes(e *ir.Epic) iter.Seq2[*part, *ir.Node] {
	return func(yield func(*part, *ir.Node) bool) {
		for i := range e.Nodes {
			if !yield(&u.parts[i], &e.Nodes[i]) {
				return
			}
		}
	}
}

// build is what the passes have made of a unit so far.
type build struct {
	*unit
	crew *crew
	epic *ir.Epic   // of the last pass
	old  []ir.Node  // of the pass before it, for own to write over
	ids  identities // of seal
}

func newBuild(u *unit) *build { return &build{unit: u, crew: newCrew(u)} }

// run runs the passes but the seal.
func (b *build) run(diags *diag.List) {
	for _, p := range passes[:len(passes)-1] {
		b.pass(p, diags)
	}
}

// pass runs one. One that only looks returns the epic that it got.
func (b *build) pass(p pass, diags *diag.List) {
	was := b.epic
	if b.epic = p.run(b, diags); was != nil && was != b.epic {
		b.old = was.Nodes
	}
}

// own returns a copy of the epic whose nodes and tables a pass may change. It takes the room
// of the nodes that nobody reads any more.
func (b *build) own() *ir.Epic {
	e := *b.epic
	e.Nodes = append(b.old[:0], e.Nodes...)
	b.old = nil
	return &e
}

// said remembers what was reported.
type said map[string]bool

// first reports whether it is asked about key for the first time.
func (s said) first(key string) bool {
	again := s[key]
	s[key] = true
	return !again
}
