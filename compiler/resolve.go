package compiler

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/compiler/depend"
	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/policies"
)

// compilation is one call of Compile.
type compilation struct {
	in      Input
	limits  Limits
	diags   diag.List
	files   map[string]*diag.File
	read    map[string]readFile // through Project, each once
	sets    map[string]*policySet
	builds  []*build
	strict  bool            // a policy asks for it
	trial   bool            // of a dialect: nothing is kept
	misread []misread       // plans that another dialect may fit better
	meter   *policies.Meter // of all evaluation
	size    int             // of all plans, in bytes
	room    int             // for what nodes carry; see carry
	said    said            // about fences and policies
}

// costPerByte is what evaluation may cost for each byte of the plans: a rule looks at
// every item of a large one.
const costPerByte = 2

type readFile struct {
	bytes []byte
	err   error
}

// policySet is a decoded policy and what it was decoded from.
type policySet struct {
	set   *policies.Set
	paths []string // sorted

	sources []Source // what it was decoded from, by path
}

func newCompilation(in Input) *compilation {
	c := &compilation{
		in: in, limits: in.Options.Limits.orDefault(),
		files: map[string]*diag.File{}, read: map[string]readFile{}, sets: map[string]*policySet{},
		said: said{},
	}
	size := 0
	for _, p := range in.Plans {
		size += len(p.Bytes)
	}
	for i := range in.Imports {
		for _, s := range in.Imports[i].Sources {
			size += len(s.Bytes)
		}
	}
	c.meter = policies.NewMeter(max(policies.MinCost, costPerByte*size))
	c.size, c.room = size, roomFor(size)
	return c
}

// open reads a plan up to its draft and the policy of each node; nil if there
// is nothing to continue with.
func (c *compilation) open(src Source) *unit {
	if _, twice := c.files[src.Path]; twice {
		c.diags.Add(diag.New("plan-twice", diag.Range{File: src.Path}, "the plan is named twice").
			WithDetail("Each plan makes one epic. Name it once."))
		return nil
	}
	if bad := badPath(src.Path); bad != "" {
		c.diags.Add(diag.New("path-leaves-project", diag.Range{}, "the plan is not in the project").
			WithDetail("Its path %s. Name a plan by a path relative to the root of the project.", bad))
		return nil
	}
	file := diag.NewFile(src.Path, src.Bytes)
	c.files[src.Path] = file
	fm, _ := syntax.Peek(file)
	ps := c.policyFor(&fm)
	u := c.unit(src, file, ps)
	var ok bool
	u.spec, _ = c.dialectName(&fm, ps.set)
	if u.dialect, ok = c.dialect(&fm, ps.set); !ok { // reading it some other way would only add noise
		return nil
	}
	var l diag.List
	limits := c.limits.of(len(src.Bytes))
	opts := syntax.Options{Dialect: u.dialect, Names: depend.ValueReader(u.dialect), Limits: syntax.Limits{
		Bytes: limits.PlanBytes, Items: limits.Nodes, Depth: limits.Depth,
	}}
	if !c.trial {
		opts.Dialects = allDialects(ps.set)
	}
	u.tree, l = syntax.Parse(file, opts)
	c.diags.Add(c.remember(src, u, l)...)
	u.draft, u.deps = lower(u, limits.Edges, &c.diags)
	if len(u.draft.Nodes) == 0 {
		return nil // syntax has said why
	}
	u.readStories(&c.diags)
	u.checkMovingKeys(&c.diags)
	u.resolveNodes(&c.diags)
	forgetBodies(u.tree)
	return u
}

// forgetBodies releases what was lowered: the bodies of a large plan are a third of all
// memory, and the passes read the draft. Their ranges stay.
func forgetBodies(tree *syntax.Plan) {
	tree.Section = syntax.Section{}
	for i := range tree.Phases {
		tree.Phases[i].Section = syntax.Section{}
	}
	for i := range tree.Splits {
		tree.Splits[i].Section = syntax.Section{}
	}
	for i := range tree.Items {
		tree.Items[i].Body = syntax.Section{Range: tree.Items[i].Body.Range}
	}
}

// unit returns a unit that nothing was read of yet.
func (c *compilation) unit(src Source, file *diag.File, ps *policySet) *unit {
	return &unit{c: c, source: src, file: file, policy: ps, set: ps.set}
}

// policyFor returns the policy of a plan; plans that use the same files share it.
func (c *compilation) policyFor(fm *syntax.FrontMatter) *policySet {
	var sources []Source
	switch {
	case c.in.Policy != nil:
		sources = c.in.Policy
	case fm.PoliciesSet || len(fm.Policies) > 0:
		for _, s := range fm.Policies {
			sources = append(sources, c.named(s)...)
		}
	default:
		var l diag.List
		sources, l = policyPath(c.readProject, c.in.Project, c.limits.PolicyBytes)
		c.diags.Add(l...)
	}
	slices.SortStableFunc(sources, func(a, b Source) int { return strings.Compare(a.Path, b.Path) })
	sources = slices.CompactFunc(sources, func(a, b Source) bool { return a.Path == b.Path })
	paths := lists.Map(sources, func(s Source) string { return s.Path })
	inEpic := make([]string, len(paths)) // no path of this machine enters the epic
	for i, p := range paths {
		inEpic[i] = path.Clean(p)
		if badPath(p) != "" {
			inEpic[i] = path.Base(p)
		}
	}
	slices.Sort(inEpic)
	key := strings.Join(paths, "\x00")
	if ps := c.sets[key]; ps != nil {
		return ps
	}
	var files []*diag.File
	for _, s := range sources {
		f := diag.NewFile(s.Path, s.Bytes)
		c.files[s.Path] = f
		files = append(files, f)
	}
	set, l := policies.Decode(policies.Input{Files: files, Project: c.in.Project, Vars: c.in.Options.Vars, Meter: c.meter, Version: c.in.Options.Version})
	c.diags.Add(l...)
	c.strict = c.strict || set.Ralph.Strict.V
	ps := &policySet{set: set, paths: inEpic, sources: sources}
	c.sets[key] = ps
	return ps
}

// named reads a policy file, or all of a directory, that front matter names.
func (c *compilation) named(s syntax.Stated) []Source {
	p := strings.TrimPrefix(s.Value, "./")
	if bad := badPath(p); bad != "" {
		c.diags.Add(diag.New("path-leaves-project", s.Range, "the path leaves the project").
			WithDetail("%q %s. Policy files of a plan stay inside the project: write the path relative to its root.", clip(s.Value), bad))
		return nil
	}
	p = path.Clean(p)
	b, err := c.readProject(p, c.limits.PolicyBytes)
	if err == nil {
		return []Source{{Path: p, Bytes: b}}
	}
	if c.isDir(p) {
		found, l := policiesIn(c.readProject, c.in.Project, p, c.limits.PolicyBytes)
		c.diags.Add(l...)
		if len(found)+len(l) > 0 {
			return found
		}
	}
	c.diags.Add(diag.New("policy-file", s.Range, "the policy file cannot be read").
		WithDetail("%s. Name a file of the project, or a directory with *.hcl files.", worldError(p, err)))
	return nil
}

// isDir reports whether a path is a directory of the project.
func (c *compilation) isDir(p string) bool {
	if c.in.Project == nil {
		return false
	}
	st, err := fs.Stat(c.in.Project, p)
	return err == nil && st.IsDir()
}

// worldError says why a file could not be read, without a path of this machine.
func worldError(p string, err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Sprintf("%q does not exist in the project", p)
	}
	return fmt.Sprintf("%q: %v", p, err)
}

// readProject reads a file of the project once, at most limit bytes.
func (c *compilation) readProject(p string, limit int) ([]byte, error) {
	if r, done := c.read[p]; done {
		return r.bytes, r.err
	}
	b, err := c.readNow(p, limit)
	c.read[p] = readFile{b, err}
	return b, err
}

func (c *compilation) readNow(p string, limit int) ([]byte, error) {
	if c.in.Project == nil {
		return nil, fs.ErrNotExist
	}
	if !fs.ValidPath(p) {
		return nil, fs.ErrInvalid
	}
	f, err := c.in.Project.Open(p)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return nil, cmp.Or(err, errors.New("not a regular file"))
	}
	b, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return nil, err
	}
	if len(b) > limit {
		return nil, fmt.Errorf("larger than %d bytes", limit)
	}
	return b, nil
}

// dialectName chooses how the plan is read: flag, front matter, policy, what is on
// record, default.
func (c *compilation) dialectName(fm *syntax.FrontMatter, set *policies.Set) (name string, at diag.Range) {
	name = c.in.Options.Dialect
	if name == "" && fm.Dialect.Set() {
		name, at = fm.Dialect.Value, fm.Dialect.Range
	}
	if name == "" && set.Ralph.Dialect.Set {
		name, at = set.Ralph.Dialect.V, set.Ralph.Dialect.Range
	}
	return cmp.Or(name, c.in.Options.Recorded, policies.DefaultDialect), at
}

func (c *compilation) dialect(fm *syntax.FrontMatter, set *policies.Set) (syntax.Dialect, bool) {
	name, at := c.dialectName(fm, set)
	d, l := set.Dialect(name, at)
	c.diags.Add(l...)
	base, _, _ := strings.Cut(name, ":")
	return syntaxDialect(base, d), !l.HasErrors()
}

func syntaxDialect(name string, d *policies.Dialect) syntax.Dialect {
	out := syntax.Dialect{
		Name: name, In: syntax.Place(d.Item.In.V),
		Item:    syntax.Pattern{Keywords: d.Item.Keywords.V, ID: d.Item.ID.V},
		Letters: d.Letters.V, IgnoreCase: d.IgnoreCase.V, Numbers: d.Numbers.V, Groups: d.Groups.V,
		ParallelMark: d.ParallelMark.V, Explicit: d.Explicit.V,
		Columns: syntax.Columns{ID: d.Columns.ID.V, Title: d.Columns.Title.V, Depends: d.Columns.Depends.V},
	}
	if d.Phase != nil {
		out.Phase = syntax.Pattern{Keywords: d.Phase.Keywords.V, ID: d.Phase.ID.V}
	}
	return out
}

// builtinDialect returns a dialect that ralph brings along.
func builtinDialect(name string) (syntax.Dialect, bool) {
	if name == "" {
		return syntax.Dialect{}, false
	}
	set, _ := policies.Decode(policies.Input{})
	d, l := set.Dialect(name, diag.Range{})
	base, _, _ := strings.Cut(name, ":")
	return syntaxDialect(base, d), !l.HasErrors()
}
