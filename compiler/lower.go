package compiler

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/compiler/depend"
	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/slug"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

// lowering turns a syntax tree into a draft and the input of the dependency
// engine. It checks what a label's value must look like; what a value means
// under a policy is decided by the passes.
type lowering struct {
	tree    *syntax.Plan
	dialect syntax.Dialect
	diags   *diag.List
	draft   *ir.Draft
	deps    depend.Input
	levels  []string // of complexity, in lower case
	named   []string // policy blocks
	// abilities are the capabilities that an agent may have.
	abilities []string
	project   fs.FS        // nil: nothing is known of it
	pathTexts []ir.Stated  // what is no path below Files and Reads
	texts     []insertions // of items
}

// lower makes the draft of a plan, edges included.
func lower(u *unit, mostEdges int, diags *diag.List) (*ir.Draft, *depend.Graph) {
	tree, dialect := u.tree, u.dialect
	l := &lowering{tree: tree, dialect: dialect, diags: diags, draft: &ir.Draft{Plan: u.source.Path}}
	l.levels = slices.Sorted(maps.Keys(u.set.Complexity))
	l.abilities = slices.Concat(policies.Vocabulary, u.set.Ralph.Capabilities.V)
	l.named = slices.Sorted(maps.Keys(u.set.Policies))
	l.project = u.c.in.Project
	l.deps.Serialize = u.serializeOverlaps()
	l.plan()
	l.phases()
	l.deps.File, l.deps.Orders = tree.File.Name, tree.Orders
	l.deps.Rules = depend.RulesOf(dialect, mostEdges)
	l.deps.Rules.Grouped = slices.ContainsFunc(tree.Phases, func(p syntax.Phase) bool { return !p.Implicit })
	l.draft.Nodes = make([]ir.DraftNode, len(tree.Items))
	l.deps.Items = make([]depend.Item, len(tree.Items))
	l.texts = make([]insertions, len(tree.Items))
	for i := range tree.Items {
		l.item(i)
	}
	l.splits()
	l.leftovers()
	for i := range l.draft.Nodes {
		l.deps.Items[i].Owns = l.draft.Nodes[i].Scope.Owns
		l.deps.Items[i].Near = depend.NearLabels(&tree.Items[i], tree.File)
	}
	l.checkIDs()
	l.reportPathTexts()
	l.misplaced()
	out := depend.Build(&l.deps, diags)
	for i := range l.draft.Nodes {
		l.draft.Nodes[i].Edges = out.Edges(i, tree.File.Name)
	}
	return l.draft, out
}

// plan lowers the title, what is below it, and the front matter.
func (l *lowering) plan() {
	t, d := l.tree, l.draft
	fm := &t.FrontMatter
	d.Slug = slug.Make(strings.TrimSuffix(path.Base(d.Plan), path.Ext(d.Plan)))
	if fm.ID.Set() {
		d.Slug = slug.Make(fm.ID.Value)
		if d.Slug != fm.ID.Value {
			l.diags.Add(diag.Newf("not-a-slug", fm.ID.Range, "%q is not a slug", clip(fm.ID.Value)).
				WithDetail("The id of a plan names branches and directories: lower-case letters, digits and \"-\", at most %d bytes. Write %q.", slug.MaxBytes, d.Slug).
				WithFix(fm.ID.Range, d.Slug))
		}
	}
	d.ID, d.IDRange = ir.NodeID(t.Epic.ID), t.Epic.Range
	d.Title, d.Range = t.Title, t.TitleRange
	d.Owner = fm.Owner.Value
	d.Base, d.Target, d.Policy = stated(fm.Base, true), stated(fm.Integration, true), stated(fm.Policy, true)
	d.Labels = append(d.Labels, lists.Map(fm.Labels, func(s syntax.Stated) string { return s.Value })...)
	sec := &t.Section
	sec.Labels = l.within(sec.Labels)
	prose := sec.Prose
	for _, lb := range lists.Each(sec.Labels) {
		switch lb.Name {
		case syntax.SourceBranch:
			if !d.Base.Set() {
				d.Base = branchValue(lb)
			}
		case syntax.IntegrationBranch:
			if !d.Target.Set() {
				d.Target = branchValue(lb)
			}
		case syntax.Policy:
			if !d.Policy.Set() {
				d.Policy = scalar(lb)
			}
		case syntax.LabelsLabel:
			d.Labels = append(d.Labels, words(lb)...)
		case syntax.Description, syntax.Goal:
			d.Description = append(d.Description, paragraphs(lb)...)
		}
	}
	if d.Labels = unique(d.Labels); len(d.Labels) > maxEntries {
		at := d.Range
		if len(fm.Labels) > 0 {
			at = fm.Labels[len(fm.Labels)-1].Range
		}
		l.tooMany(at)
		d.Labels = d.Labels[:maxEntries]
	}
	d.Description = trimLines(append(d.Description, prose...))
	d.Fragments = fragments(sec.Fragments)
}

func (l *lowering) phases() {
	l.draft.Phases = make([]ir.DraftPhase, len(l.tree.Phases))
	l.deps.Groups = make([]depend.Group, len(l.tree.Phases))
	for i := range l.tree.Phases {
		l.draft.Phases[i], l.deps.Groups[i] = l.group(&l.tree.Phases[i])
	}
}

func cmpRange(a, b diag.Range) diag.Range {
	if a.IsZero() || a.Start == a.End {
		return b
	}
	return a
}

func stated(s syntax.Stated, strict bool) ir.Stated {
	return ir.Stated{Value: s.Value, Range: s.Range, Strict: strict}
}

func fragments(fs []syntax.Fragment) []ir.Fragment {
	if len(fs) == 0 {
		return nil
	}
	return lists.Map(fs, func(f syntax.Fragment) ir.Fragment { return ir.Fragment{Range: f.Range, Source: f.Source} })
}
