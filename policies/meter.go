package policies

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// Meter bounds the total cost of a compile's evaluations: locals, checks of variables,
// rules over each node, fences, gates that differ by node. Every part of
// an expression that can repeat or grow is wrapped so that it counts what it
// touches; the panic that stops an evaluation is caught in scope.value and nowhere
// else. Not safe for concurrent use.
type Meter struct {
	left  int // of this evaluation
	total int // of all
	words int // of policy texts, read so far
}

// MinCost is the cost always allowed to evaluation, in steps, elements and characters
// (by eight).
const MinCost = 2 << 20

// NewMeter returns a meter with this allowance.
func NewMeter(total int) *Meter { return &Meter{total: total} }

// Empty reports whether nothing is left. Evaluation for each node stops then.
func (m *Meter) Empty() bool { return m.total < 0 }

// use pays for work that is no evaluation, and reports whether it may be done.
func (m *Meter) use(n int) bool {
	m.total -= n
	return m.total >= 0
}

// Costs of what is done for each node, fence or rule beside the evaluation.
const (
	blockCost = 128 // to decode a block again, or a fence
	viewCost  = 32  // to show a node to expressions
	ruleCost  = 4   // to ask a rule
)

const spent = "all evaluations together touch too many values"

// tooCostly is the panic value of a meter that ran out.
type tooCostly struct{ why string }

func (m *Meter) spend(n int) {
	if m.total < 0 {
		panic(tooCostly{spent})
	}
	m.left -= n
	m.total -= n
	switch {
	case m.total < 0:
		panic(tooCostly{spent})
	case m.left < 0:
		panic(tooCostly{"it touches too many values"})
	}
}

// charge pays for a value. What an expression only hands on was paid for when it
// was made; what a function made is looked at throughout (deep).
func (m *Meter) charge(v cty.Value, deep bool) {
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

// weigh pays for all of a value that others will look at: its parts may
// occur in it many times. It says why the value is too large, or "".
func (m *Meter) weigh(v cty.Value, known bool) (why string) {
	if !known {
		return ""
	}
	defer func() {
		if p := recover(); p != nil {
			c, ok := p.(tooCostly)
			if !ok {
				panic(p)
			}
			why = c.why
		}
	}()
	m.left = maxValueCost
	m.charge(v, true)
	return ""
}

// metered is an expression that pays before and after it is evaluated.
type metered struct {
	hclsyntax.Expression
	m  *Meter
	as position
}

// position says what an expression is to the one around it, as far as marks are concerned.
type position uint8

const (
	anywhere position = iota
	asks              // a condition or an index: what it says is not handed on
	inserts           // a part of a template
	divides           // a divisor
)

func (e *metered) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	e.m.spend(1)
	v, diags := e.Expression.Value(ctx)
	e.m.charge(v, makes(e.Expression))
	switch e.as {
	case asks:
		v, _ = v.Unmark()
	case inserts:
		v = inserted(v)
	case divides:
		if zero(v) {
			panic(tooCostly{byZero})
		}
	}
	return v, diags
}

// zero reports whether a value is 0 as a divisor, of which cty makes infinity, and a
// remainder that is the whole dividend.
func zero(v cty.Value) bool {
	v, _ = v.Unmark()
	n, err := convert.Convert(v, cty.Number)
	return err == nil && n.IsKnown() && !n.IsNull() && n.AsBigFloat().Sign() == 0
}

// makes reports whether an expression makes a value instead of passing one on. What
// is in it may have been paid for once and occur in it many times.
func makes(e hclsyntax.Expression) bool {
	switch e.(type) {
	case *hclsyntax.FunctionCallExpr, *hclsyntax.ForExpr:
		return true
	}
	return false
}

// UnwrapExpression lets hcl's static analysis look through the wrapper.
func (e *metered) UnwrapExpression() hcl.Expression { return e.Expression }

// attach wraps every part of e, in place, and returns e wrapped. It may be
// called again on the same tree: parts are wrapped once, for the last meter.
func (m *Meter) attach(e hclsyntax.Expression) hclsyntax.Expression {
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
	return &metered{Expression: e, m: m}
}

func (m *Meter) parts(e hclsyntax.Expression) {
	wrap := func(p *hclsyntax.Expression) { *p = m.attach(*p) }
	wrapAll := func(list []hclsyntax.Expression) {
		for i := range list {
			wrap(&list[i])
		}
	}
	wrapAs := func(p *hclsyntax.Expression, as position) {
		wrap(p)
		(*p).(*metered).as = as
	}
	switch e := e.(type) {
	case *hclsyntax.ParenthesesExpr:
		wrap(&e.Expression)
	case *hclsyntax.RelativeTraversalExpr:
		wrap(&e.Source)
	case *hclsyntax.FunctionCallExpr:
		wrapAll(e.Args)
	case *hclsyntax.ConditionalExpr:
		wrapAs(&e.Condition, asks)
		wrap(&e.TrueResult)
		wrap(&e.FalseResult)
	case *hclsyntax.IndexExpr:
		wrap(&e.Collection)
		wrapAs(&e.Key, asks)
	case *hclsyntax.TupleConsExpr:
		wrapAll(e.Exprs)
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
		wrap(&e.KeyExpr)
		wrap(&e.ValExpr)
		if e.CondExpr != nil {
			wrapAs(&e.CondExpr, asks)
		}
	case *hclsyntax.SplatExpr:
		wrap(&e.Source)
		wrap(&e.Each)
	case *hclsyntax.TemplateExpr:
		for i := range e.Parts {
			wrapAs(&e.Parts[i], inserts)
		}
	case *hclsyntax.TemplateJoinExpr:
		wrap(&e.Tuple)
	case *hclsyntax.TemplateWrapExpr:
		wrapAs(&e.Wrapped, inserts)
	case *hclsyntax.BinaryOpExpr:
		wrap(&e.LHS)
		if e.Op == hclsyntax.OpDivide || e.Op == hclsyntax.OpModulo {
			wrapAs(&e.RHS, divides)
		} else {
			wrap(&e.RHS)
		}
	case *hclsyntax.UnaryOpExpr:
		wrap(&e.Val)
	}
}
