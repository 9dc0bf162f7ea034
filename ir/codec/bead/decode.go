package bead

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

// maxAttempts bounds max_retry_attempts, as in a plan.
const maxAttempts = 10_000

// Decode reads beads leniently: an unmet requirement of the format is a warning, and the
// compiler fills in missing values. Only what leaves nothing to continue with is an error.
// All beads of all files make one draft; their dependencies follow from their ids.
func Decode(files []*diag.File) (*ir.Draft, diag.List) { return decode(files, false) }

// DecodeStrict reads beads as the format requires: every unmet requirement is an error.
func DecodeStrict(files []*diag.File) (*ir.Draft, diag.List) { return decode(files, true) }

func decode(files []*diag.File, strict bool) (*ir.Draft, diag.List) {
	d := &decoding{strict: strict, agents: map[string]string{}, paths: map[string]string{}}
	for _, f := range files {
		r := &foreign.Reader{File: f, Format: Format}
		for _, v := range r.Objects() {
			d.issue(r, v)
		}
		r.Unknown()
		d.diags.Add(r.Diags...)
	}
	if len(d.beads) == 0 && !d.diags.HasErrors() {
		d.diags.Add(noBead(files))
	}
	d.names()
	d.edges()
	d.branches()
	d.diags = once(d.diags)
	d.diags.Sort()
	if d.diags.HasErrors() {
		return nil, d.diags
	}
	return d.draft(files), d.diags
}

// decoding is the state of one Decode.
type decoding struct {
	strict bool
	diags  diag.List
	beads  []*bead
	epic   *bead             // an issue of type epic: it heads the others
	agents map[string]string // names of agents by their paths
	paths  map[string]string // and the other way
}

// bead is one issue while it is read.
type bead struct {
	r        *foreign.Reader
	v        *foreign.Value
	node     ir.DraftNode
	needs    []need
	merges   *foreign.Value // branches_to_merge
	sprint   string         // as the bead says it
	planFile string
	owner    string

	top, metadata map[string]json.RawMessage            // what has no place in a draft
	qa            map[string]map[string]json.RawMessage // of QA agents, by the names of their gates
}

// need is a dependency as the bead says it.
type need struct {
	id   string
	typ  ir.EdgeType
	item *foreign.Value
}

func (b *bead) stated(v *foreign.Value, text string) ir.Stated { return b.r.Stated(v, text) }

// demand reports the unmet requirements of the format: one diagnostic each where that is
// an error, one warning for all where it is not.
func (d *decoding) demand(b *bead) {
	var missing []string
	var where diag.Range
	for _, x := range demands(b.v) {
		found := x.diagnostic(b.r)
		if !d.strict {
			if x.missing {
				if missing = append(missing, x.pointer); len(missing) == 1 {
					where = found.Range
				}
				continue
			}
			found.Severity = diag.Warning
		}
		b.r.Diags.Add(found)
	}
	if len(missing) > 0 {
		b.r.Diags.Add(diag.Newf("bead-demand", where, "the bead lacks what its format demands (%d)", len(missing)).
			WithDetail("It has no %s. The policy and the rest of the bead replace them; \"ralph validate --as bead --strict\" says what each of them should be.", strings.Join(missing, ", ")))
	}
}

// diagnostic is the error that the format makes of it.
func (x demand) diagnostic(r *foreign.Reader) diag.Diagnostic {
	here := r.At(x.at)
	if x.missing {
		here = r.File.Range(x.at.Start, x.at.Start+1)
	}
	name := foreign.Clip(lastKey(x.pointer))
	found := diag.Newf("bead-demand", here, "%s is not what the format demands", name).WithDetail("%s %s.", x.pointer, x.message)
	if x.missing {
		found.Summary = name + " is missing"
	}
	found.Severity = diag.Error
	return found
}

// noBead says that there is nothing in the files.
func noBead(files []*diag.File) diag.Diagnostic {
	at := diag.Range{}
	if len(files) > 0 {
		at = files[0].Range(0, 0)
	}
	return diag.New("bead-missing", at, "there is no bead in it").
		WithDetail("Name a file with a bead, a list of beads, or one bead a line.")
}

// lastKey is what a pointer points at, for people: dev_model, dev_prompts/0.
func lastKey(pointer string) string {
	i := strings.LastIndexByte(pointer, '/')
	if strings.Trim(pointer[i+1:], "0123456789") == "" {
		i = strings.LastIndexByte(pointer[:i], '/')
	}
	return pointer[i+1:]
}

// once drops a demand that something else says already.
func once(list diag.List) diag.List {
	type place struct {
		at      diag.Range // of what is missing that of the object
		pointer string
	}
	of := func(x *diag.Diagnostic) place {
		pointer, _, _ := strings.Cut(x.Detail, " ")
		return place{x.Range, pointer}
	}
	said := map[place]bool{}
	for _, x := range lists.Each(list) {
		if x.Code != "bead-demand" {
			said[of(x)] = true
		}
	}
	return slices.DeleteFunc(list, func(x diag.Diagnostic) bool { return x.Code == "bead-demand" && said[of(&x)] })
}

// unused reports a value that the format allows and ralph cannot take over.
func (d *decoding) unused(b *bead, v *foreign.Value, code diag.Code, summary, detail string, args ...any) {
	b.r.Diags.Add(diag.New(code, b.r.At(v), summary).WithDetail(detail, args...))
}

// names gives every bead a key that no other has: its sprint, else its id.
func (d *decoding) names() {
	byKey := map[ir.Key]*bead{}
	byID := map[ir.NodeID]*bead{}
	for _, b := range d.beads {
		n := &b.node
		if first := byID[n.ID]; first != nil && n.ID != "" {
			d.diags.Add(diag.Newf("bead-value", n.IDRange, "two beads have the id %q", foreign.Clip(string(n.ID))).
				WithDetail("An id belongs to one bead. Leave one of them out, or give it another id.").WithRelated(first.node.IDRange, "first here"))
			continue
		}
		byID[n.ID] = b
		if first := byKey[n.Key]; first != nil {
			if n.ID == "" || byKey[ir.Key(n.ID)] != nil {
				d.diags.Add(diag.Newf("bead-value", n.KeyRange, "two beads are sprint %q", foreign.Clip(string(n.Key))).
					WithDetail("Each needs a sprint or an id of its own. Give this one an id.").WithRelated(first.node.KeyRange, "first here"))
				continue
			}
			d.diags.Add(diag.Newf("bead-place", n.KeyRange, "two beads are sprint %q", foreign.Clip(string(n.Key))).
				WithDetail("In one epic a sprint is one piece of work, so this one goes by its id, %s. The sprint is kept and exported.", n.ID).
				WithRelated(first.node.KeyRange, "the other one"))
			n.Key = ir.Key(n.ID)
		}
		byKey[n.Key] = b
		if b.sprint != "" && string(n.Key) != b.sprint {
			b.metadata["sprint"] = foreign.Raw(b.sprint)
		}
	}
}

// edges finds the beads that others wait for. What is not among the files cannot be
// waited for: it is kept, and said.
func (d *decoding) edges() {
	byID := map[string]*bead{}
	for _, b := range d.beads {
		if b.node.ID != "" {
			byID[string(b.node.ID)] = b
		}
	}
	for _, b := range d.beads {
		var names []string
		var where *foreign.Value
		for _, need := range b.needs {
			if to := byID[need.id]; to != nil {
				b.node.Edges = append(b.node.Edges, ir.DraftEdge{Key: to.node.Key, From: "import", Type: need.typ, Range: b.r.At(need.item)})
				continue
			}
			if need.typ != ir.Blocks || d.epic != nil && need.id == string(d.epic.node.ID) {
				continue
			}
			if names = append(names, need.id); where == nil {
				where = need.item
			}
		}
		if len(names) == 0 {
			continue
		}
		b.top["dependencies"] = foreign.Raw(names)
		if !b.node.Done {
			d.diags.Add(diag.Newf("bead-dependency", b.r.At(where), "it depends on beads that are not here (%d)", len(names)).
				WithDetail("%s: ralph does not wait for them. Import them together with this bead, or make sure that their work is in the source branch.", strings.Join(names[:min(len(names), 8)], ", ")))
		}
	}
}

// branches leaves out names that no branch can have, and what is merged without
// being waited for.
func (d *decoding) branches() {
	made, planned := map[ir.Key]string{}, map[string]bool{}
	for _, b := range d.beads {
		planned[b.node.Branch.Value] = true
	}
	bases := map[string]bool{}
	for _, b := range d.beads {
		if !planned[b.node.Base.Value] {
			bases[b.node.Base.Value] = true
		}
	}
	dropped := map[string]bool{}
	for _, b := range d.beads {
		s := b.node.Branch
		if !s.Set() {
			continue
		}
		made[b.node.Key] = s.Value
		why := cmp.Or(ir.BadBranch(s.Value), besides(s.Value, bases))
		if why == "" {
			continue
		}
		b.metadata["branch"] = foreign.Raw(s.Value)
		b.node.Branch = ir.Stated{}
		dropped[s.Value] = true
		if !b.node.Done {
			d.diags.Add(diag.Newf("bead-branch", s.Range, "git cannot have the branch %q", foreign.Clip(s.Value)).
				WithDetail("It %s. The work is done on a branch that the policy's template names (git { branch = … }); the bead's is kept and exported until then.", why))
		}
	}
	for _, b := range d.beads {
		if base := b.node.Base.Value; dropped[base] { // it starts from the result of its predecessor anyway
			b.metadata["source_branch"] = foreign.Raw(base)
			b.node.Base = ir.Stated{}
		}
		if b.merges == nil {
			continue
		}
		var own []string
		for _, e := range b.node.Edges {
			if e.Type == ir.Blocks {
				own = append(own, made[e.Key])
			}
		}
		var more []string
		for _, x := range b.merges.Items {
			if x.Kind == 's' && !slices.Contains(own, x.Text) {
				more = append(more, x.Text)
			}
		}
		if len(more) > 0 {
			b.metadata["branches_to_merge"] = foreign.Raw(more)
		}
	}
}

// besides says why a branch cannot be made beside those that the work starts from;
// "" if it can.
func besides(branch string, bases map[string]bool) string {
	for dir := branch; dir != "." && dir != "/"; dir = path.Dir(dir) {
		if bases[dir] {
			if dir == branch {
				return "is the branch that the work starts from"
			}
			return "lies below " + dir + ", which is a branch: git keeps branches as files, so one cannot be the directory of another"
		}
	}
	for b := range bases {
		if strings.HasPrefix(b, branch+"/") {
			return "would be the directory of " + b + ": git keeps branches as files"
		}
	}
	return ""
}

// draft puts the beads together.
func (d *decoding) draft(files []*diag.File) *ir.Draft {
	first := d.beads[0]
	out := &ir.Draft{Plan: files[0].Name, Range: first.node.Range, Title: first.node.Title}
	plans, owners, bases := map[string]bool{}, map[string]bool{}, map[string]int{}
	phases := map[string]int{}
	for _, b := range d.beads {
		plans[b.planFile], owners[b.owner] = true, true
		if b.node.Base.Set() {
			if bases[b.node.Base.Value]++; bases[b.node.Base.Value] > bases[out.Base.Value] {
				out.Base = b.node.Base
			}
		}
		if p := b.node.Phase; p != "" {
			if _, seen := phases[p]; !seen {
				phases[p] = len(out.Phases)
				out.Phases = append(out.Phases, ir.DraftPhase{ID: p, Word: "Phase", Range: b.node.Range})
			}
			b.node.PhaseIndex = phases[p]
		}
	}
	switch {
	case len(d.beads) == 1:
		out.Slug = string(first.node.ID)
	case len(plans) == 1 && first.planFile != "":
		out.Slug = foreign.Slug(foreign.Stem(first.planFile))
		out.Title = foreign.Stem(first.planFile)
	default:
		out.Slug = foreign.Slug(foreign.Stem(files[0].Name))
		out.Title = foreign.Stem(files[0].Name)
	}
	if d.epic != nil {
		out.ID, out.IDRange, out.Title = d.epic.node.ID, d.epic.node.IDRange, d.epic.node.Title
		out.Range, out.Slug = d.epic.node.Range, foreign.Slug(out.Title)
		if g := d.epic.node.Goal; g != "" {
			out.Description = strings.Split(g, "\n")
		}
	}
	if out.Slug == "" || out.Slug == "integration" {
		out.Slug = "beads"
	}
	if len(owners) == 1 {
		out.Owner = first.owner
	}
	for _, b := range d.beads {
		if b.owner != out.Owner {
			b.top["owner"] = foreign.Raw(b.owner)
		}
		if b.node.Base.Value == out.Base.Value {
			b.node.Base = ir.Stated{}
		}
		b.node.Ext = b.ext()
		out.Nodes = append(out.Nodes, b.node)
	}
	return out
}
