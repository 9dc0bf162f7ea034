package compiler

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/compiler/depend"
	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

// Reading is a plan's compilation in a dialect.
type Reading struct {
	Dialect string           // its name, or "task:WORD"
	Items   int              // nodes that it makes
	Groups  int              // of them that hold items
	Edges   int              // dependencies
	Errors  int              // with one the plan is refused
	Refused *diag.Diagnostic // the first of them; nil if it compiles
	Weak    bool             // it counts only where nothing else compiles: any text has check boxes or a table
	Title   bool             // its only item is the title of the plan
	Tool    *policies.Tool   // that writes in this dialect, and keeps its plans where this one is; mostly nil

	word bool         // the dialect is one of the plan's own words
	rank int          // of equals the lower one is named
	at   []diag.Range // where its items are
}

// Compiles reports whether the reading gives an epic.
func (r *Reading) Compiles() bool { return r.Items > 0 && r.Refused == nil }

// DialectTable holds each dialect's reading of a plan.
type DialectTable struct {
	Readings []Reading        // built-in ones in their order, then the user's, words last
	Chosen   string           // the dialect that flag, front matter or policy names, or the default
	Said     diag.Range       // where the front matter names it; zero if it does not
	Best     string           // the one that fits best; "" if none compiles
	Nearest  string           // the one that a person should mend the plan for, if none compiles; "" if none finds anything
	Better   string           // what to write into the plan: the best where the chosen one finds nothing, or far too little; else ""
	Hidden   *diag.Diagnostic // a fence or a comment hides items, so none fits before it is closed; nil if none does
	Untried  []string         // too many or too large a plan
	Diags    diag.List        // what is wrong with the policy
	Files    map[string]*diag.File
}

// best is the reading suggested to a person: of those that compile the one
// with most items, one whose item is the title only where there is no other, weak ones
// only where there is none at all; where none compiles, the one with most items. nil if no dialect finds any.
// Where the place of the plan says which tool wrote it, it is the dialect of that tool,
// unless another one fits far better.
func best(all []Reading) *Reading {
	if r := placed(all); r != nil {
		return r
	}
	class := func(r *Reading) int { // the lower the better
		switch {
		case r.Compiles() && !r.Weak && !r.Title && !r.word:
			return 0
		case r.Compiles() && r.word:
			return 1
		case r.Compiles() && !r.Weak:
			return 2
		case r.Compiles():
			return 3
		case !r.Weak:
			return 4
		}
		return 5
	}
	var found *Reading
	for _, r := range lists.Each(all) {
		if r.Items == 0 {
			continue
		}
		if found == nil || cmp.Or(cmp.Compare(class(r), class(found)), cmp.Compare(found.Items, r.Items), cmp.Compare(r.rank, found.rank)) < 0 {
			found = r
		}
	}
	return found
}

// Dialects compiles a plan with each dialect.
func Dialects(in Input) DialectTable {
	c := newCompilation(in)
	src := in.Plans[0]
	file := diag.NewFile(src.Path, src.Bytes)
	c.files[src.Path] = file
	fm, _ := syntax.Peek(file)
	ps := c.policyFor(&fm)
	table := DialectTable{Files: c.files, Said: fm.Dialect.Range, Diags: c.diags}
	table.Chosen, _ = c.dialectName(&fm, ps.set)
	if table.Diags.HasErrors() {
		table.Diags.Sort()
		return table
	}
	room := maxTrial
	for rank, d := range allDialects(ps.set) {
		if room -= len(src.Bytes) + trialCost; room < 0 && !ps.set.Dialects[d.Name].Builtin {
			table.Untried = append(table.Untried, d.Name)
			continue
		}
		table.Readings = append(table.Readings, c.try(src, d.Name, rank))
	}
	if _, l := ps.set.Dialect(table.Chosen, diag.Range{}); table.Of(table.Chosen) == nil && !l.HasErrors() { // task:Unit
		table.Readings = append(table.Readings, c.try(src, table.Chosen, -1))
	}
	table.Readings = c.tryTools(src, table.Readings, room)
	opts := syntax.Options{Dialect: syntax.Dialect{In: syntax.InFrontMatter}} // one without items
	own := table.Of(table.Chosen)
	if own == nil || own.Items == 0 {
		opts.Dialects = allDialects(ps.set)
	}
	tree, l := syntax.Parse(file, opts)
	table.Readings = c.tryWords(src, tree.Words, table.Readings, room)
	switch b := best(table.Readings); {
	case tree.Hidden:
		table.Hidden = syntax.Hiding(l)
		return table
	case b == nil:
	case b.Compiles():
		table.Best = b.Dialect
	default:
		table.Nearest = b.Dialect
	}
	table.Better = table.Best
	if own != nil && own.Items > 0 {
		table.Better = c.outside(file, ps.set, table)
	}
	return table
}

// Of returns the reading in a dialect; nil if it was not tried.
func (t *DialectTable) Of(dialect string) *Reading { return reads(t.Readings, dialect) }

// outside names the dialect that finds far more outside the chosen one's items.
func (c *compilation) outside(file *diag.File, set *policies.Set, t DialectTable) string {
	d, _ := set.Dialect(t.Chosen, diag.Range{})
	name, _, _ := strings.Cut(t.Chosen, ":")
	tree, _ := syntax.Parse(file, syntax.Options{Dialect: syntaxDialect(name, d), Dialects: allDialects(set)})
	var more []Reading
	for _, o := range tree.Others {
		if r := t.Of(o.Dialect); r != nil && r.Compiles() && !r.Weak {
			more = append(more, *r)
		}
	}
	if b := best(more); b != nil {
		return b.Dialect
	}
	return ""
}

// To compile a plan with another dialect costs as much as to compile it: of a large
// one only the dialects that find most are tried.
const (
	maxTrial  = 12 << 20
	trialCost = 16 << 10
)

// try compiles a plan with a dialect and keeps nothing but the account of it.
func (c *compilation) try(src Source, dialect string, rank int) Reading {
	in := c.in
	in.Plans, in.Imports, in.Past, in.Taken = []Source{src}, nil, nil, nil
	in.Options.Dialect, in.Options.FreshIDs, in.Options.SameIDs = dialect, nil, nil
	t := newCompilation(in)
	t.sets, t.read, t.trial = c.sets, c.read, true
	u := t.open(src)
	if u == nil {
		return countErrors(Reading{Dialect: dialect, rank: rank}, t.diags)
	}
	r := Reading{Dialect: dialect, rank: rank, at: u.extents()}
	b := newBuild(u)
	t.builds = []*build{b}
	b.run(&t.diags)
	t.checkTogether()
	r.Items = len(u.draft.Nodes)
	r.Weak = u.dialect.In == syntax.InTodo || u.dialect.In == syntax.InTable && !b.states()
	r.Title = len(u.tree.Items) == 1 && u.tree.Items[0].Level == 1
	r.Groups = lists.Count(u.tree.Phases, func(p *syntax.Phase) bool { return len(p.Items) > 0 })
	for i := range b.epic.Nodes {
		for _, a := range b.epic.Nodes[i].After {
			if a.Type == ir.Blocks {
				r.Edges++
			}
		}
	}
	return countErrors(r, t.diags)
}

// extents returns where the items are, with all that is below them.
func (u *unit) extents() []diag.Range {
	all := make([]diag.Range, len(u.tree.Items))
	for i, it := range lists.Each(u.tree.Items) {
		all[i] = diag.Range{Start: it.Range.Start, End: max(it.Range.End, it.Body.Range.End)}
	}
	return all
}

// countErrors adds the errors to a reading.
func countErrors(r Reading, diags diag.List) Reading {
	diags.Sort()
	for i := range diags {
		if diags[i].Severity != diag.Error || diags[i].Code == "no-items" {
			continue
		}
		if r.Errors++; r.Refused == nil {
			r.Refused = &diags[i]
		}
	}
	return r
}

// states reports whether the plan says of an item what it waits for.
func (b *build) states() bool {
	return slices.ContainsFunc(b.epic.Nodes, func(n ir.Node) bool {
		return slices.ContainsFunc(n.After, func(a ir.Edge) bool { return a.From == depend.Explicit })
	})
}

// tryWords tries words of the plan as the keywords of items, if no dialect compiles
// but weak ones and those that find the title alone.
func (c *compilation) tryWords(src Source, words []string, all []Reading, room int) []Reading {
	if slices.ContainsFunc(all, func(r Reading) bool { return r.Compiles() && !r.Weak && !r.Title }) {
		return all
	}
	for i, w := range words {
		if room -= len(src.Bytes) + trialCost; room < 0 && i > 0 {
			break
		}
		if reads(all, "task:"+w) != nil {
			continue
		}
		r := c.try(src, "task:"+w, len(all)+i)
		r.word = true
		all = append(all, r)
	}
	return all
}

// allDialects returns the dialects in the order in which equals are named: the
// built-in ones as the policy language lists them, then the user's by name.
func allDialects(set *policies.Set) []syntax.Dialect {
	names := slices.Collect(maps.Keys(set.Dialects))
	slices.SortFunc(names, func(a, b string) int {
		x, y := set.Dialects[a], set.Dialects[b]
		switch {
		case x.Builtin && y.Builtin:
			return cmp.Compare(x.Range.Start, y.Range.Start)
		case x.Builtin:
			return -1
		case y.Builtin:
			return 1
		}
		return strings.Compare(a, b)
	})
	return lists.Map(names, func(name string) syntax.Dialect { return syntaxDialect(name, set.Dialects[name]) })
}
