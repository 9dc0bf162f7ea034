package depend

import (
	"cmp"
	"slices"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/dag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
)

// The steps from input to edges, each in its own method:
//
//  1. read every statement (statement.go): what does each value name?
//  2. explicit edges between items, because ends and beginnings are sinks and
//     sources *after* explicit labels were applied;
//  3. edges by number inside groups: an ordered list of cells (one number with
//     all its letters, or a run of marked items); the sources of a cell wait
//     for the sinks of the cell before (numbers.go);
//  4. statements that name the ends of a group, now that ends are known;
//  5. edges by number between groups, in the same way, one level up; what is
//     stated about a group replaces the barrier in front of it (barriers.go);
//  6. prose must agree with all that, or makes edges where numbers make none;
//  7. cycles with their whole path; edges that say nothing new (graph.go);
//  8. an order between items that own the same files, where policy asks for it.
//
// Everything is linear in items and edges but for the sorting. What multiplies
// (two wide groups side by side, "all previous" on every item) is bounded by
// Rules.MaxEdges.

// Build computes the edges of a plan. A plan with errors still gets edges, as
// far as they can be known.
func Build(in *Input, diags *diag.List) *Graph {
	in.Rules.MaxEdges = cmp.Or(in.Rules.MaxEdges, MostEdges)
	in.readOrders(diags)
	in.gatherLoose()
	n := len(in.Items)
	d := &depender{
		Input: in, diags: diags, names: NewNames(in),
		replaced: make([]bool, n), stated: make([]bool, n),
		cell: make([]int32, n), bucket: make([]int32, len(in.Groups)+1),
		has: make([]uint8, n),
		out: &Graph{},
	}
	d.out.d = d
	d.readStatements()
	d.layout()
	d.explicitEdges()
	d.partEdges()
	d.groupEdges()
	d.bucketEdges()
	d.noteExplicit()
	d.finish()
	cyclic := d.reportCycles()
	d.checkNear()
	if !cyclic {
		d.checkProse()
		d.checkDrawn()
		d.hintRedundant()
		if in.Serialize {
			d.scopeEdges()
		}
	}
	return d.out
}

type depender struct {
	*Input
	diags *diag.List
	names *Names

	after    [][]reading // by item; nil where nothing is said
	blocks   [][]reading // reverse labels
	groupSay []groupSaying
	pending  []pendingTarget

	replaced []bool         // has a statement that takes the place of the numbers
	stated   []bool         // has any statement
	inForce  bool           // numbers make edges
	anySays  bool           // a group has a statement
	drawnAt  map[int32]bool // where statements of lists and drawings are

	naming    bool       // numbers = unless_explicit: a label of an item names something
	outside   bool       // only lists, waves and drawings outside the items do
	proseOnly diag.Range // the first label that names nothing

	order   []int32   // groups, in their order
	cells   [][]cell  // by group
	cell    []int32   // by item: number of its cell, unique in the plan
	bucket  []int32   // by group (last: no group): number of its bucket
	buckets [][]int32 // groups of each bucket, in order
	has     []uint8   // by item: see the flags below

	byGroup [][]int32 // made by members
	edges   []edge
	full    bool // maxEdges reached and reported

	topo  []int32 // predecessors first, when there is no cycle
	graph *dag.Graph
	out   *Graph
}

// Flags of an item: an edge leads in from, or out to, an item of the same
// cell, group, bucket.
const (
	inCell uint8 = 1 << iota
	outCell
	inGroup
	outGroup
	inBucket
	outBucket
)

type groupSaying struct {
	readings []reading
	blocks   []reading
	says     bool
}

// pendingTarget is a statement of an item that names the ends of a group, or,
// as a reverse label, its beginnings.
type pendingTarget struct {
	item    int32
	groups  []int32
	at      diag.Range
	reverse bool
}

func (d *depender) groupOf(i int32) int32 {
	if g := d.Items[i].Group; g >= 0 {
		return g
	}
	return int32(len(d.Groups))
}

// add makes an edge and keeps the flags.
func (d *depender) addEdge(from, to int32, rule uint8, at diag.Range) {
	if from == to || !d.room(1) {
		return
	}
	d.edges = append(d.edges, newEdge(from, to, rule, at))
	within := func(same bool, in, out uint8) {
		if same {
			d.has[to] |= in
			d.has[from] |= out
		}
	}
	gf, gt := d.groupOf(from), d.groupOf(to)
	within(d.cell[from] == d.cell[to], inCell, outCell)
	within(gf == gt, inGroup, outGroup)
	within(d.bucket[gf] == d.bucket[gt], inBucket, outBucket)
}

// addEdges makes an edge by number from each to each; false if there is no room for them.
func (d *depender) addEdges(from, to []int32) bool {
	if !d.room(len(from) * len(to)) {
		return false
	}
	for _, t := range to {
		for _, f := range from {
			d.addEdge(f, t, byNumber, d.Items[t].At)
		}
	}
	return true
}

// addMade makes the edges that labels of groups, or ends of groups, make: all of them were found before
// the first is made.
func (d *depender) addMade(made []edge) {
	for _, e := range made {
		d.addEdge(e.from, e.to, byExplicit, diag.Range{File: d.File, Start: int(e.start), End: int(e.end)})
	}
}

// room reports whether n more edges fit; the first time they do not it says so.
func (d *depender) room(n int) bool {
	if len(d.edges)+n <= d.Rules.MaxEdges {
		return true
	}
	d.tooMany()
	return false
}

func (d *depender) tooMany() {
	if !d.full {
		d.full = true
		d.diags.Add(diag.New("too-many-edges", diag.Range{File: d.File}, "the plan makes too many dependencies").
			WithDetail("More than %d edges: between wide groups every item waits for every item, and so does \"all previous\". Put one item between two wide groups (a merge or a gate), so that both wait for it.", d.Rules.MaxEdges))
	}
}

// readStatements reads every value once and decides whether numbers are in force.
func (d *depender) readStatements() {
	d.after, d.blocks = make([][]reading, len(d.Items)), make([][]reading, len(d.Items))
	naming, named := false, 0
	read := func(sts []Statement) (rs []reading) {
		for _, st := range sts {
			r := d.names.read(st, d.listOf(st))
			if named += size(r.targets); named > maxOrderWork {
				d.tooMany()
				r.targets, r.wrong = nil, true
			}
			rs = append(rs, r)
		}
		return rs
	}
	proseOnly := diag.Range{}
	for i, it := range lists.Each(d.Items) {
		d.after[i], d.blocks[i] = read(it.After), read(it.Blocks)
		for j, r := range d.after[i] {
			if r.says() {
				d.stated[i] = true
				d.replaced[i] = d.replaced[i] || !d.Rules.add && !it.After[j].add
			}
			if len(r.targets) > 0 || r.wrong {
				naming = true
			} else if proseOnly.IsZero() {
				proseOnly = it.After[j].At
			}
		}
		for _, r := range d.blocks[i] {
			naming = naming || len(r.targets) > 0
		}
	}
	d.groupSay = make([]groupSaying, len(d.Groups))
	for g := range d.Groups {
		s := &d.groupSay[g]
		s.blocks = read(d.Groups[g].Blocks)
		s.readings = read(d.Groups[g].After)
		d.hearAgain(&d.Groups[g], s, read)
		s.says = says(s.readings)
		d.anySays = d.anySays || s.says
	}
	drawn := d.readDrawn()
	d.outside = drawn && !naming
	naming = drawn || naming
	switch d.Rules.numbers {
	case "always":
		d.inForce = true
	case "unless_explicit":
		d.inForce = !naming
		d.naming, d.proseOnly = naming, proseOnly
	}
}

// noteExplicit says once what a dialect with numbers = unless_explicit decided.
func (d *depender) noteExplicit() {
	if d.Rules.numbers != "unless_explicit" {
		return
	}
	if !d.naming {
		if !d.proseOnly.IsZero() && len(d.Items) > 1 {
			d.diags.Add(diag.New("dependency-names-nothing", d.proseOnly, "no dependency label names an item").
				WithDetail("None of the dependency labels of items names an item or a group, so the items still follow each other in order. Name an item in at least one label, or remove the labels."))
		}
		return
	}
	waits := make([]bool, len(d.Items))
	for _, e := range d.edges {
		waits[e.to] = waits[e.to] || e.soft == 0
	}
	var lacking []int32
	for i := range d.Items {
		g := d.Items[i].Group
		if !d.stated[i] && !waits[i] && (g < 0 || !d.groupSay[g].says) {
			lacking = append(lacking, int32(i))
		}
	}
	if len(lacking) == 0 {
		return
	}
	who := "Some items name their dependencies"
	if d.outside {
		who = "Text outside the items says what some of them wait for"
	}
	d.diags.Add(diag.Newf("dependency-roots", d.Items[lacking[0]].At, "%s without a dependency label %s", text.Count(len(lacking), "item"), text.Form(len(lacking), "waits for nothing", "wait for nothing")).
		WithDetail("%s, so numbers and order add none: %s can start at once. %s if they should wait.", who, d.list(lacking), d.Rules.stating()))
}

// list names some items: "1.1, 1.2 and 7 more".
func (d *depender) list(idx []int32) string {
	return text.AndMore(d.keys(idx[:min(len(idx), 8)]), len(idx))
}

func (d *depender) keys(idx []int32) []string {
	return lists.Map(idx, func(i int32) string { return string(d.Items[i].Key) })
}

// finish sorts the edges, removes repetitions and makes the index by item.
func (d *depender) finish() {
	slices.SortFunc(d.edges, func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.to, b.to), cmp.Compare(a.from, b.from), cmp.Compare(a.soft, b.soft), cmp.Compare(a.rule, b.rule), cmp.Compare(a.start, b.start))
	})
	d.edges = slices.CompactFunc(d.edges, func(a, b edge) bool { return a.to == b.to && a.from == b.from && a.soft == b.soft })
	d.index()
}

func (d *depender) index() {
	d.out.edges = d.edges
	d.out.first = make([]int, len(d.Items)+1)
	for _, e := range d.edges {
		d.out.first[e.to+1]++
	}
	for i := range d.Items {
		d.out.first[i+1] += d.out.first[i]
	}
}
