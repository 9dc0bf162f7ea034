package policies

import (
	"cmp"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// scope is what expressions of one policy can refer to, and how they are
// evaluated. It lives as long as the Set, because blocks that mention node.* are
// evaluated again for each node. Not safe for concurrent use.
type scope struct {
	project fs.FS
	meter   *Meter
	names   map[string][]string  // by root (agent, gate, …, var, local): what may follow, sorted
	roots   map[string]cty.Value // by root, made on first use
	files   map[string][]byte    // read so far
	decoded map[string]cty.Value // JSON files, by the name that was given
	reads   []FileRead
	feeding string // the value that is being evaluated: "gate.qa.output_schema"
	seen    map[hclsyntax.Expression]*analysis
	funcs   map[string]function.Function
}

func newScope(project fs.FS, m *Meter) *scope {
	return &scope{
		project: project,
		meter:   cmp.Or(m, NewMeter(MinCost)),
		names:   map[string][]string{},
		roots:   map[string]cty.Value{},
		files:   map[string][]byte{},
		decoded: map[string]cty.Value{},
		seen:    map[hclsyntax.Expression]*analysis{},
	}
}

// analysis is what can be said about an expression without evaluating it.
type analysis struct {
	literal bool // nothing but constants
	vars    []hcl.Traversal
	calls   []*hclsyntax.FunctionCallExpr
	badRun  []hcl.Range // run.* where it would have to be known

	compared []comparison
	checked  bool // what is compared
}

func (s *scope) analyse(e hclsyntax.Expression) *analysis {
	if isLiteral(e) {
		return &analysis{literal: true}
	}
	if a, ok := s.seen[e]; ok {
		return a
	}
	a := &analysis{vars: hclsyntax.Variables(e)}
	hclsyntax.VisitAll(e, func(n hclsyntax.Node) hcl.Diagnostics {
		if c, ok := n.(*hclsyntax.FunctionCallExpr); ok {
			a.calls = append(a.calls, c)
		}
		a.compared = append(a.compared, compare(n)...)
		return nil
	})
	if mentions(a, "run") {
		a.badRun = badRun(e, true)
	}
	s.seen[e] = a
	return a
}

func isLiteral(e hclsyntax.Expression) bool {
	switch e := e.(type) {
	case *hclsyntax.LiteralValueExpr:
		return true
	case *hclsyntax.TemplateExpr:
		return !slices.ContainsFunc(e.Parts, func(p hclsyntax.Expression) bool {
			_, ok := p.(*hclsyntax.LiteralValueExpr)
			return !ok
		})
	case *hclsyntax.TupleConsExpr:
		return !slices.ContainsFunc(e.Exprs, func(p hclsyntax.Expression) bool { return !isLiteral(p) })
	}
	return false
}

// badRun returns where run.* is used as something other than text to insert:
// its value is only known when running, so nothing can be computed from it.
func badRun(e hclsyntax.Expression, inserted bool) []hcl.Range {
	var out []hcl.Range
	each := func(inserted bool, parts ...hclsyntax.Expression) {
		for _, p := range parts {
			out = append(out, badRun(p, inserted)...)
		}
	}
	switch e := e.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		if !inserted && e.Traversal.RootName() == "run" {
			return []hcl.Range{e.SrcRange}
		}
	case *hclsyntax.TemplateExpr:
		each(inserted, e.Parts...)
	case *hclsyntax.TemplateWrapExpr:
		each(inserted, e.Wrapped)
	case *hclsyntax.ParenthesesExpr:
		each(inserted, e.Expression)
	case *hclsyntax.TupleConsExpr:
		each(inserted, e.Exprs...)
	case *hclsyntax.ObjectConsExpr:
		for _, it := range e.Items {
			each(false, it.KeyExpr)
			each(inserted, it.ValueExpr)
		}
	case *hclsyntax.ConditionalExpr:
		each(false, e.Condition)
		each(inserted, e.TrueResult, e.FalseResult)
	default:
		for _, v := range hclsyntax.Variables(e) {
			if v.RootName() == "run" {
				out = append(out, v.SourceRange())
			}
		}
	}
	return out
}

const noResult = "it has no result: a number is infinite or undefined, or a value has no such form"

const byZero = "it divides by zero"

// value evaluates e with the roots that it mentions. The string says why an
// evaluation was stopped; "" if it was not.
func (s *scope) value(e hclsyntax.Expression, extra map[string]cty.Value) (v cty.Value, diags hcl.Diagnostics, costly string) {
	a := s.analyse(e)
	if a.literal {
		v, diags = e.Value(nil)
		return v, diags, ""
	}
	ctx := &hcl.EvalContext{Variables: map[string]cty.Value{}}
	if len(a.calls) > 0 {
		ctx.Functions = s.functions()
	}
	for _, t := range a.vars {
		root := t.RootName()
		if x, ok := extra[root]; ok {
			ctx.Variables[root] = x
		} else if x, ok := s.root(root); ok {
			ctx.Variables[root] = x
		}
	}
	wrapped := s.meter.attach(e)
	s.meter.left = maxValueCost
	if _, ok := extra["plan"]; ok {
		s.meter.left = maxPlanCost
	}
	defer func() {
		switch p := recover().(type) {
		case nil:
		case tooCostly:
			v, diags, costly = cty.DynamicVal, nil, p.why
		default: // an operator of the library has no answer, as for infinity - infinity
			v, diags, costly = cty.DynamicVal, nil, noResult
		}
	}()
	v, diags = wrapped.Value(ctx)
	return v, diags, ""
}

// root returns the object that a first word names.
func (s *scope) root(name string) (cty.Value, bool) {
	if v, ok := s.roots[name]; ok {
		return v, true
	}
	if name == "run" {
		s.roots[name] = namesValue(runNames, markStart, markEnd)
		return s.roots[name], true
	}
	known, ok := s.names[name]
	if !ok {
		return cty.NilVal, false
	}
	s.roots[name] = namesValue(known, "", "")
	return s.roots[name], true
}

// Names that are only known at run time. Their values are markers, which become
// ${run.…} in the text that is kept.
var runNames = []string{"attempt", "branch", "feedback", "model", "outcome_file", "prompt_file", "worktree"}

const markStart, markEnd = "\x01run.", "\x02"

// namesValue is an object of names, whose values are the names between two marks.
func namesValue(names []string, before, after string) cty.Value {
	m := make(map[string]cty.Value, len(names))
	for _, n := range names {
		m[n] = cty.StringVal(before + n + after)
	}
	return cty.ObjectVal(m)
}

// runTemplate turns markers into ${run.…}, the canonical form in which the epic
// carries them; text that looks like one already is escaped as $${run.…}.
func runTemplate(s string) string {
	if !strings.Contains(s, "${run.") && !strings.Contains(s, markStart) {
		return s
	}
	s = strings.ReplaceAll(s, "${run.", "$${run.")
	for _, n := range runNames {
		s = strings.ReplaceAll(s, markStart+n+markEnd, "${run."+n+"}")
	}
	return s
}

// takeReads returns the files read since the last call.
func (s *scope) takeReads() []FileRead {
	out := s.reads
	s.reads = nil
	return out
}

// child returns a scope that knows the same and can be given more names.
func (s *scope) child() *scope {
	c := *s
	c.names, c.roots = maps.Clone(s.names), maps.Clone(s.roots)
	c.reads, c.funcs = nil, nil // functions record what they read in their own scope
	return &c
}
