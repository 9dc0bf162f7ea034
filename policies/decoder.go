package policies

import (
	"errors"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/spell"
	"github.com/ralph-compiler/ralph/internal/text"
)

// decoder decodes blocks into types and collects what is wrong with them.
type decoder struct {
	scope   *scope
	src     texts
	diags   diag.List
	builtin bool
	where   string          // scope of the fence that is decoded; "" for policy files
	view    cty.Value       // node, when a block is decoded for one; cty.NilVal before
	dynamic bool            // the block that is being decoded mentions node.*
	version string          // of ralph
	unread  map[string]bool // files of which a part could not be read
}

// use says where an expression is.
type use struct {
	node    bool // node.* is known per node
	run     bool // run.* may be inserted
	shell   bool // a shell reads it
	feeding string
	at      diag.Range
	roots   map[string]cty.Value // what a rule may name besides: node, edge, plan
}

// eval evaluates an expression. An expression that mentions node.*, decoded
// before any node is known, is checked against an unknown node and a sample.
func (d *decoder) eval(e hclsyntax.Expression, u use) (state, cty.Value) {
	a := d.scope.analyse(e)
	if !a.literal && !d.checkNames(a, u) {
		return bad, cty.NilVal
	}
	d.checkCompared(a)
	d.scope.feeding = u.feeding
	if !mentions(a, "node") {
		return d.run(e, nil, u, nil)
	}
	if d.view != cty.NilVal {
		if !u.shell {
			return d.run(e, map[string]cty.Value{"node": d.view}, u, nil)
		}
		st, v := d.run(e, map[string]cty.Value{"node": marked(d.view, a.vars)}, u, nil)
		if st == known && d.planTextIn(v, u) {
			return bad, cty.NilVal
		}
		if st == known {
			v, _ = v.UnmarkDeep()
		}
		return st, v
	}
	d.dynamic = true
	reads := d.scope.reads
	defer func() { d.scope.reads = reads }() // what the sample made it read feeds nothing
	sample := nodeValue(sampleNode())
	if st, _ := d.run(e, map[string]cty.Value{"node": cty.UnknownVal(sample.Type())}, u, nil); st == bad {
		return bad, cty.NilVal
	}
	// Inside for over an unknown list nothing is checked: look once with elements.
	if st, _ := d.run(e, map[string]cty.Value{"node": sample}, u, typeMistake); st == bad {
		return bad, cty.NilVal
	}
	return dynamic, cty.NilVal
}

// typeMistake distinguishes mistakes in every node from those of the sample alone.
func typeMistake(g *hcl.Diagnostic) bool {
	switch g.Summary {
	case "Unsupported attribute", "Invalid operand", "Incorrect condition type", "Iteration over non-iterable value",
		"Invalid template interpolation value", "Not enough function arguments", "Too many function arguments", "Unsupported operation":
		return true
	}
	return false
}

func mentions(a *analysis, root string) bool {
	return slices.ContainsFunc(a.vars, func(t hcl.Traversal) bool { return t.RootName() == root })
}

// run evaluates and reports; only, if given, chooses what is reported.
func (d *decoder) run(e hclsyntax.Expression, extra map[string]cty.Value, u use, only func(*hcl.Diagnostic) bool) (state, cty.Value) {
	v, diags, costly := d.scope.value(e, extra)
	if costly != "" {
		d.diags.Add(stopped(u.at, costly))
		return bad, cty.NilVal
	}
	failed := false
	for _, g := range diags {
		if only != nil && !only(g) {
			continue
		}
		failed = failed || g.Severity == hcl.DiagError
		d.addExpr(g, u.at)
	}
	if failed {
		return bad, cty.NilVal
	}
	if !u.shell {
		v, _ = v.Unmark()
	}
	return known, v
}

// checkNames reports names and functions that do not exist, before evaluation:
// the place and the suggestion are better than what evaluation could say.
func (d *decoder) checkNames(a *analysis, u use) bool {
	before := len(d.diags)
	for _, t := range a.vars {
		d.checkTraversal(t, u)
	}
	for _, r := range a.badRun {
		d.diags.Add(diag.New("policy-run-not-known", d.rng(r), "run.* is only known when running").
			WithDetail("Its value can be inserted into a text, as in \"${run.worktree}\", but nothing can be computed from it. Insert it as it is."))
	}
	for _, c := range a.calls {
		if _, ok := d.scope.functions()[c.Name]; ok {
			continue
		}
		dg := diag.Newf("policy-unknown-function", d.rng(c.NameRange), "unknown function %s", quoted(c.Name))
		if slices.Contains([]string{"env", "getenv", "timestamp", "now", "uuid", "random", "http", "exec"}, c.Name) {
			dg = dg.WithDetail("Policies are pure: the same files give the same epic on every machine, so there is no %s. Declare a variable and give it with --var.", printable(c.Name))
		} else {
			dg = suggested(dg, c.Name, sortedKeys(d.scope.functions()), "", "There is no function of that name. The functions are listed in the documentation of the policy language.")
		}
		d.diags.Add(dg)
	}
	return len(d.diags) == before
}

func (d *decoder) checkTraversal(t hcl.Traversal, u use) {
	root, at := t.RootName(), d.rng(t.SourceRange())
	second, has := "", false
	if len(t) > 1 {
		second, has = stepName(t[1])
	}
	secondAt := at
	if has {
		secondAt = d.nameRange(t[1], second)
	}
	if v, ok := u.roots[root]; ok {
		if has && !v.Type().HasAttribute(second) {
			d.unknownName(root+" has no attribute", second, sortedKeys(v.Type().AttributeTypes()), secondAt)
		}
		return
	}
	switch {
	case (root == "node" || root == "edge" || root == "plan") && u.roots != nil:
		d.diags.Add(diag.Newf("policy-node-not-known", at, "%s.* is not known in this rule", root).
			WithDetail("A rule over nodes knows node and plan, one over edges edge and plan, one over plans plan. Write over = %q.", root))
	case root == "node" && u.node:
		if has && !slices.Contains(nodeNames(), second) {
			d.unknownName("node has no attribute", second, nodeNames(), secondAt)
		}
	case root == "node":
		d.diags.Add(diag.New("policy-node-not-known", at, "node.* is not known here").
			WithDetail("node.* has a value per node, so it can be in gates, policies, steps and rules only. Write a fixed value, or a variable, here."))
	case root == "run" && !u.run:
		d.diags.Add(diag.New("policy-run-not-known", at, "run.* is only known when running").
			WithDetail("run.* may be inserted into run, prompt and env, where apply fills it in. Write something that is known when compiling."))
	case root == "run":
		if !has || !slices.Contains(runNames, second) {
			d.unknownName("run has no attribute", second, runNames, secondAt)
		}
	case d.scope.names[root] != nil:
		if has && !slices.Contains(d.scope.names[root], second) {
			d.unknownRef(root, second, secondAt)
		}
	case slices.Contains(refTypes, root) || root == "var" || root == "local":
		d.unknownRef(root, second, secondAt)
	default:
		dg := diag.Newf("policy-unknown-name", at, "unknown name %s", quoted(root))
		if len(t) == 1 {
			dg = dg.WithDetail("A word without quotes is a name, and no name is called so. Write text in quotes: %s.", quoted(root))
		} else {
			dg = suggested(dg, root, rootNames, "", "An expression can name "+strings.Join(rootNames, ", ")+". Write one of these.")
		}
		d.diags.Add(dg)
	}
}

func (d *decoder) unknownName(what, name string, known []string, at diag.Range) {
	d.suggest(diag.Newf("policy-unknown-name", at, "%s %s", what, quoted(name)), name, known, "", "It has "+strings.Join(known, ", ")+". Write one of these.")
}

// suggest reports an unknown name, with the edit that mends it where the source has it as
// it is.
func (d *decoder) suggest(dg diag.Diagnostic, name string, known []string, lead, otherwise string) {
	dg = suggested(dg, name, known, lead, otherwise)
	if near, ok := spell.Nearest(name, known); ok && d.sourceIs(dg.Range, name) {
		dg = dg.WithFix(dg.Range, near)
	}
	d.diags.Add(dg)
}

// addHCL reports what hcl's parser says.
func (d *decoder) addHCL(diags hcl.Diagnostics) {
	for _, g := range diags {
		if g.Severity != hcl.DiagError {
			continue
		}
		var r diag.Range
		if g.Subject != nil {
			r = d.rng(*g.Subject)
		}
		if d.unread == nil {
			d.unread = map[string]bool{}
		}
		d.unread[r.File] = true
		d.diags.Add(diag.New("policy-syntax", r, summary(g.Summary)).WithDetail("%s", printableText(hclSentence(g.Detail))))
	}
}

// addExpr reports what hcl says about the evaluation of an expression at.
func (d *decoder) addExpr(g *hcl.Diagnostic, at diag.Range) {
	if g.Severity != hcl.DiagError {
		return
	}
	r := at
	if g.Subject != nil {
		if s := d.rng(*g.Subject); s.File == at.File {
			r = s
		}
	}
	if dg, panicked := functionPanic(g, r); panicked {
		d.diags.Add(dg)
		return
	}
	d.diags.Add(diag.New("policy-expression", r, summary(g.Summary)).WithDetail("%s", printableText(hclSentence(g.Detail))))
}

// functionPanic distinguishes a function that panicked from one that refused its
// arguments: log(0, 0) is not a number, and reading a file may cost too much.
func functionPanic(g *hcl.Diagnostic, at diag.Range) (diag.Diagnostic, bool) {
	call, ok := g.Extra.(hclsyntax.FunctionCallDiagExtra)
	if !ok {
		return diag.Diagnostic{}, false
	}
	var p function.PanicError
	if !errors.As(call.FunctionCallError(), &p) {
		return diag.Diagnostic{}, false
	}
	if c, ok := p.Value.(tooCostly); ok {
		return costly(at, c.why), true
	}
	return diag.Newf("policy-expression", at, "%s() has no result here", text.Shorten(call.CalledFunctionName(), 24)).
		WithDetail("The function is not defined for these arguments, as a division by zero is not. Write others."), true
}

// stopped says why an evaluation has no value.
func stopped(at diag.Range, why string) diag.Diagnostic {
	if why == noResult {
		return diag.New("policy-expression", at, "the expression has no result").
			WithDetail("The evaluation was stopped because %s. Write what is meant in another way.", why)
	}
	if why == byZero {
		return diag.New("policy-expression", at, "the expression divides by zero").
			WithDetail("A division by zero has no result. Correct the divisor, or keep it from zero, as in 100 / max(1, n). A condition does not: both of its sides are evaluated.")
	}
	return costly(at, why)
}

func costly(at diag.Range, why string) diag.Diagnostic {
	return diag.New("policy-expression-costly", at, "the expression costs too much").
		WithDetail("Its evaluation was stopped because %s. Write what is meant with fewer elements.", why)
}

// summary turns hcl's summary into one of ours.
func summary(s string) string {
	s = text.Shorten(strings.TrimSuffix(strings.ReplaceAll(s, "\n", " "), "."), 60)
	if len(s) > 1 && s[1] >= 'a' && s[1] <= 'z' {
		s = strings.ToLower(s[:1]) + s[1:]
	}
	return s
}

func printableText(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && (r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0) {
			return '·'
		}
		return r
	}, text.Shorten(s, 600))
}

// twice reports the second of two declarations.
func (d *decoder) twice(typ, name string, second, first diag.Range) {
	what := word(typ)
	if name != "" {
		what += " " + quoted(name)
	}
	d.diags.Add(diag.Newf("policy-duplicate-block", second, "%s is declared twice", what).
		WithDetail("All policy files are one policy, in which a block occurs once. Remove one of the two, or rename it.").
		WithRelated(first, "first declared here"))
}
