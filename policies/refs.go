package policies

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/spell"
)

// refTo reads an attribute that names a block: agent.reviewer, or "reviewer".
func (r *reader) refTo(name, typ string) Value[string] {
	a, ok := r.attrs[name]
	if !ok {
		return Value[string]{}
	}
	at := r.d.rng(a.Expr.Range())
	e := r.d.native(a.Expr)
	switch s, st := r.d.reference(e, typ, at); st {
	case bad:
		return Value[string]{}
	case known:
		return Value[string]{V: s, Set: true, Range: at, Origin: r.origin}
	}
	return get(r, name, func(_ *reader, v cty.Value, _ *attr) (string, error) {
		s, err := asString(v)
		if err != nil {
			return "", err
		}
		r.d.checkRef(typ, s, at)
		return s, nil
	})
}

// refOf reads an attribute that names a block of one of two types, and says of
// which. A name as text is that of the first type that has it.
func (r *reader) refOf(name string) (string, Value[string]) {
	decl := r.b.attr(name)
	typ := decl.ref
	if a, ok := r.attrs[name]; ok {
		root, plain := "", ""
		switch e := unwrapped(r.d.native(a.Expr)).(type) {
		case *hclsyntax.ScopeTraversalExpr:
			root = e.Traversal.RootName()
		case *hclsyntax.LiteralValueExpr: // text of the JSON form
			plain, _ = asString(e.Val)
		case *hclsyntax.TemplateExpr:
			if e.IsStringLiteral() {
				v, _ := e.Value(nil)
				plain, _ = asString(v)
			}
		}
		if root == decl.also || plain != "" && !slices.Contains(r.d.scope.names[typ], plain) && slices.Contains(r.d.scope.names[decl.also], plain) {
			typ = decl.also
		}
	}
	return typ, r.refTo(name, typ)
}

// refs reads an attribute that names blocks.
func (r *reader) refs(name string) Value[[]string] {
	a, ok := r.attrs[name]
	if !ok {
		return Value[[]string]{}
	}
	decl := r.b.attr(name)
	e := r.d.native(a.Expr)
	out := Value[[]string]{V: []string{}, Set: true, Range: r.d.rng(a.Expr.Range()), Origin: r.origin}
	parts := []hclsyntax.Expression{e}
	if t, ok := e.(*hclsyntax.TupleConsExpr); ok {
		parts = t.Exprs
	}
	for _, p := range parts {
		at := r.d.rng(p.Range())
		if s, st := r.d.reference(p, decl.ref, at); st != absent {
			if st == known {
				out.V = lists.Include(out.V, s)
			}
			continue
		}
		st, v := r.d.eval(p, use{node: r.node, feeding: r.path + "." + name, at: at})
		if st != known || v.IsNull() || !r.settled(name, v, at) {
			continue
		}
		list, err := stringList(v)
		if err != nil {
			r.invalid(name, at, err)
			continue
		}
		for _, s := range list {
			r.d.checkRef(decl.ref, s, at)
		}
		out.V = lists.Include(out.V, list...)
	}
	return out
}

// reference resolves an expression that is nothing but type.name, without
// evaluating it: the message can then point at the name alone.
func (d *decoder) reference(e hclsyntax.Expression, want string, at diag.Range) (string, state) {
	t, ok := unwrapped(e).(*hclsyntax.ScopeTraversalExpr)
	if !ok || len(t.Traversal) == 0 {
		return "", absent
	}
	root := t.Traversal.RootName()
	if len(t.Traversal) != 2 || root != "step" && !slices.Contains(refTypes, root) {
		return "", absent
	}
	name, ok := stepName(t.Traversal[1])
	if !ok {
		return "", absent
	}
	if root != want {
		d.diags.Add(diag.Newf("policy-wrong-reference", at, "%s is needed, not %s", article(want), article(root)).
			WithDetail("%s.%s names %s. Write %s.NAME.", root, name, article(root), want))
		return "", bad
	}
	if root != "step" && !slices.Contains(d.scope.names[root], name) {
		d.unknownRef(root, name, d.nameRange(t.Traversal[1], name))
		return "", bad
	}
	return name, known
}

// unwrapped returns an expression without wrappers that only meter or template it.
func unwrapped(e hclsyntax.Expression) hclsyntax.Expression {
	for {
		switch w := e.(type) {
		case *metered:
			e = w.Expression
		case *hclsyntax.TemplateWrapExpr: // "${agent.x}" in the JSON form
			e = w.Wrapped
		default:
			return e
		}
	}
}

// nameRange returns the place of a name in a traversal, without its dot.
func (d *decoder) nameRange(t hcl.Traverser, name string) diag.Range {
	r := d.rng(t.SourceRange())
	if d.sourceIs(r, "."+name) {
		r.Start++
	}
	return r
}

func stepName(t hcl.Traverser) (string, bool) {
	switch t := t.(type) {
	case hcl.TraverseAttr:
		return t.Name, true
	case hcl.TraverseIndex:
		if t.Key.Type() == cty.String && !t.Key.IsNull() && t.Key.IsKnown() {
			return t.Key.AsString(), true
		}
	}
	return "", false
}

// checkRef reports a name, given as text, that no block has. Models may be ids
// that no alias stands for, steps are known to their policy only.
func (d *decoder) checkRef(typ, name string, at diag.Range) {
	if typ == "model" || typ == "step" || slices.Contains(d.scope.names[typ], name) {
		return
	}
	d.unknownRef(typ, name, at)
}

func (d *decoder) unknownRef(typ, name string, at diag.Range) {
	known := d.scope.names[typ]
	if typ == "sandbox" { // a misspelt one is not mended by taking it away
		known = slices.DeleteFunc(slices.Clone(known), func(n string) bool { return n == "none" })
	}
	lead := "No " + word(typ) + " of that name is declared. "
	otherwise := lead + "Write one of " + spell.Sorted(known, 12) + ", or declare it: " + declaration(typ, name) + "."
	if len(known) == 0 {
		otherwise = "No " + word(typ) + " is declared. Declare it: " + declaration(typ, name) + "."
	}
	d.suggest(diag.Newf("policy-unknown-reference", at, "unknown %s %s", word(typ), quoted(name)), name, known, lead, otherwise)
}

func declaration(typ, name string) string {
	switch typ {
	case "var":
		return `variable ` + quoted(name) + ` { … }`
	case "local":
		return `locals { ` + printable(name) + ` = … }`
	}
	return typ + " " + quoted(name) + " { … }"
}

func word(typ string) string {
	if typ == "var" {
		return "variable"
	}
	return typ
}
