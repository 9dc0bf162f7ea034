package compiler

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/compiler/depend"
	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/slug"
	"github.com/ralph-compiler/ralph/ir"
)

// Imported is a codec's draft of files in another format. It is compiled like a plan,
// under the same policy; there is nothing to annotate, so the files keep their bytes.
type Imported struct {
	Sources []Source  // the files that the draft's ranges point into, at least one
	Draft   *ir.Draft // nil if Diags holds an error
	Diags   diag.List // what the codec has to say
}

// openImported makes a unit of a draft; nil if it cannot be compiled.
// Edges must name nodes of the same draft.
func (c *compilation) openImported(in Imported) *unit {
	c.diags.Add(in.Diags...)
	outside := false
	for _, src := range in.Sources {
		if bad := badPath(src.Path); bad != "" {
			c.diags.Add(diag.New("path-leaves-project", diag.Range{}, "the file is not in the project").
				WithDetail("Its path %s. Name a file by a path relative to the root of the project.", bad))
			outside = true
			continue
		}
		c.files[src.Path] = diag.NewFile(src.Path, src.Bytes)
	}
	if outside || in.Draft == nil || len(in.Draft.Nodes) == 0 || c.sameTwice(in.Draft) {
		return nil
	}
	src := in.Sources[0]
	file := c.files[src.Path]
	draft := *in.Draft
	if len(in.Sources) > 1 && c.files[draft.Plan] != nil {
		draft.Plan = planOf(in.Sources)
		src.Path = draft.Plan
	}
	u := c.unit(src, file, c.policyFor(&syntax.FrontMatter{}))
	draft.Slug = importedSlug(cmp.Or(draft.Slug, draft.Plan))
	draft.Nodes = slices.Clone(draft.Nodes)
	if draft.ID == "" && draft.Nodes[0].ID != "" && len(draft.Nodes) == 1 {
		// A bead's identity is its own id, wherever its file is.
		draft.ID = ir.NodeID(u.idPrefix() + "-" + shortHash("bead\x00"+string(draft.Nodes[0].ID)))
	}
	u.draft = &draft
	u.deps = u.importedEdges(&c.diags)
	u.resolveNodes(&c.diags)
	return u
}

// planOf is what an epic of several files calls its plan: the directory that holds
// them all, so that one more file makes no other epic; the first file where that is
// the project itself.
func planOf(sources []Source) string {
	dir := path.Dir(sources[0].Path)
	for _, src := range sources[1:] {
		for dir != "." && !strings.HasPrefix(src.Path, dir+"/") {
			dir = path.Dir(dir)
		}
	}
	if dir != "." {
		return dir
	}
	first := sources[0].Path
	for _, src := range sources {
		first = min(first, src.Path)
	}
	return first
}

// sameTwice reports ids and keys that two nodes of a draft share.
func (c *compilation) sameTwice(draft *ir.Draft) (some bool) {
	keys, ids := map[ir.Key]diag.Range{}, map[ir.NodeID]diag.Range{}
	for _, n := range lists.Each(draft.Nodes) {
		name, at := string(n.Key), n.KeyRange
		before, twice := keys[n.Key]
		if other, same := ids[n.ID]; same && n.ID != "" {
			name, at, before, twice = string(n.ID), n.IDRange, other, true
		}
		if twice {
			some = true
			c.diags.Add(diag.Newf("duplicate-id", at, "%s appears twice", clip(name)).
				WithDetail("An id belongs to one piece of work permanently. Give one of them another id, or import one of the files alone.").
				WithRelated(before, "first here"))
			continue
		}
		keys[n.Key], ids[n.ID] = n.KeyRange, n.IDRange
	}
	return some
}

// importedSlug makes a slug of a foreign name: one that has to be cut keeps its
// difference from others.
func importedSlug(name string) string {
	s := slug.Ref(name)
	if len(s) > slug.MaxBytes {
		s = strings.TrimRight(s[:slug.MaxBytes-idWidth-1], "-") + "-" + shortHash(name)
	}
	return s
}

// importedEdges gives a draft's edges the place that those of numbers and labels
// have, and finds cycles.
func (u *unit) importedEdges(diags *diag.List) *depend.Graph {
	n := len(u.draft.Nodes)
	in := &depend.Input{File: u.file.Name, Items: make([]depend.Item, n), Serialize: u.serializeOverlaps()}
	in.Rules.MaxEdges = u.c.limits.Edges
	stated := make([][]ir.DraftEdge, n)
	for i, x := range lists.Each(u.draft.Nodes) {
		in.Items[i] = depend.Item{Key: x.Key, Title: x.Title, At: x.KeyRange, Group: -1, Owns: x.Scope.Owns}
		stated[i] = x.Edges
	}
	out := depend.Import(in, stated, diags)
	for i := range u.draft.Nodes {
		u.draft.Nodes[i].Edges = out.Edges(i, cmp.Or(in.Items[i].At.File, u.file.Name))
	}
	return out
}
