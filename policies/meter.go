package policies

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// meter bounds an evaluation. Every part of an expression that can repeat or
// grow is wrapped so that it counts what it touches; the panic that stops the
// evaluation is caught in evaluator.value and nowhere else.
type meter struct {
	left  int // of this evaluation
	total int // of the whole Decode
}

// tooCostly is the panic value of a meter that ran out.
type tooCostly struct{ why string }

func (m *meter) spend(n int) {
	m.left -= n
	m.total -= n
	if m.left < 0 || m.total < 0 {
		panic(tooCostly{"it touches too many values"})
	}
}

// charge pays for a value. What an expression only hands on was paid for when it
// was made; what a function made is looked at throughout (deep).
func (m *meter) charge(v cty.Value, deep bool) {
	m.spend(1)
	v, _ = v.Unmark()
	if v.IsNull() || !v.IsKnown() {
		return
	}
	switch ty := v.Type(); {
	case ty == cty.String:
		m.spend(len(v.AsString()) / 8)
	case ty == cty.Number:
		// A number with a huge exponent is small until it becomes text.
		if f := v.AsBigFloat(); f.IsInf() || f.MantExp(nil) > maxExponent || f.MantExp(nil) < -maxExponent {
			panic(tooCostly{"a number is out of range"})
		}
	case deep && (ty.IsCollectionType() || ty.IsTupleType() || ty.IsObjectType()):
		for it := v.ElementIterator(); it.Next(); {
			_, e := it.Element()
			m.charge(e, true)
		}
	}
}

// metered is an expression that pays before and after it is evaluated.
type metered struct {
	hclsyntax.Expression
	m *meter
}

func (e *metered) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	e.m.spend(1)
	v, diags := e.Expression.Value(ctx)
	_, made := e.Expression.(*hclsyntax.FunctionCallExpr)
	e.m.charge(v, made)
	return v, diags
}

// UnwrapExpression lets hcl's static analysis look through the wrapper.
func (e *metered) UnwrapExpression() hcl.Expression { return e.Expression }

// attach wraps every part of e, in place, and returns e wrapped. It may be
// called again on the same tree: parts are wrapped once, for the last meter.
func (m *meter) attach(e hclsyntax.Expression) hclsyntax.Expression {
	if e == nil {
		return nil
	}
	if w, ok := e.(*metered); ok {
		if w.m == m {
			return w
		}
		e = w.Expression
	}
	m.parts(e)
	return &metered{e, m}
}

func (m *meter) parts(e hclsyntax.Expression) {
	wrap := func(p *hclsyntax.Expression) { *p = m.attach(*p) }
	switch e := e.(type) {
	case *hclsyntax.ParenthesesExpr:
		wrap(&e.Expression)
	case *hclsyntax.RelativeTraversalExpr:
		wrap(&e.Source)
	case *hclsyntax.FunctionCallExpr:
		for i := range e.Args {
			wrap(&e.Args[i])
		}
	case *hclsyntax.ConditionalExpr:
		wrap(&e.Condition)
		wrap(&e.TrueResult)
		wrap(&e.FalseResult)
	case *hclsyntax.IndexExpr:
		wrap(&e.Collection)
		wrap(&e.Key)
	case *hclsyntax.TupleConsExpr:
		for i := range e.Exprs {
			wrap(&e.Exprs[i])
		}
	case *hclsyntax.ObjectConsExpr:
		for i := range e.Items {
			// The key keeps its type: hcl looks at it.
			if k, ok := e.Items[i].KeyExpr.(*hclsyntax.ObjectConsKeyExpr); ok {
				wrap(&k.Wrapped)
			}
			wrap(&e.Items[i].ValueExpr)
		}
	case *hclsyntax.ForExpr:
		wrap(&e.CollExpr)
		if e.KeyExpr != nil {
			wrap(&e.KeyExpr)
		}
		wrap(&e.ValExpr)
		if e.CondExpr != nil {
			wrap(&e.CondExpr)
		}
	case *hclsyntax.SplatExpr:
		wrap(&e.Source)
		wrap(&e.Each)
	case *hclsyntax.TemplateExpr:
		for i := range e.Parts {
			wrap(&e.Parts[i])
		}
	case *hclsyntax.TemplateJoinExpr:
		wrap(&e.Tuple)
	case *hclsyntax.TemplateWrapExpr:
		wrap(&e.Wrapped)
	case *hclsyntax.BinaryOpExpr:
		wrap(&e.LHS)
		wrap(&e.RHS)
	case *hclsyntax.UnaryOpExpr:
		wrap(&e.Val)
	}
}
