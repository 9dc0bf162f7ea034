package policies

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/ralph-compiler/ralph/diag"
)

// comparison is `node.complexity == "critical"`: an attribute that has few values,
// and a text. One that is no value is never equal, so a misspelt text would switch
// the rule off.
type comparison struct {
	attr, text string
	at         hcl.Range
}

// comparedWords are the values of such attributes; those of complexity are declared.
var comparedWords = map[string][]string{
	"kind":       {"agent", "command", "gate", "human", "manual", "merge", "outcome", "review", "work"},
	"access":     {"read", "write"},
	"on_failure": {"continue", "retry", "stop"},
	"complexity": nil,
}

// compare returns the comparisons in a node: of a text, or with contains() of
// several.
func compare(n hclsyntax.Node) (out []comparison) {
	add := func(attr string, texts ...hclsyntax.Expression) {
		if _, few := comparedWords[attr]; !few {
			return
		}
		for _, e := range texts {
			if text, ok := plainText(e); ok && text != "" {
				out = append(out, comparison{attr, text, e.Range()})
			}
		}
	}
	switch e := n.(type) {
	case *hclsyntax.BinaryOpExpr:
		if e.Op == hclsyntax.OpEqual || e.Op == hclsyntax.OpNotEqual {
			add(lastName(e.LHS), e.RHS)
			add(lastName(e.RHS), e.LHS)
		}
	case *hclsyntax.FunctionCallExpr:
		if e.Name != "contains" || len(e.Args) != 2 {
			break
		}
		if list, ok := e.Args[0].(*hclsyntax.TupleConsExpr); ok {
			add(lastName(e.Args[1]), list.Exprs...)
		}
	}
	return out
}

// lastName returns the attribute that an expression ends with: "complexity" of
// node.complexity.
func lastName(e hclsyntax.Expression) string {
	var t hcl.Traversal
	switch e := e.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		t = e.Traversal
	case *hclsyntax.RelativeTraversalExpr:
		t = e.Traversal
	case *hclsyntax.ParenthesesExpr:
		return lastName(e.Expression)
	}
	if len(t) == 0 {
		return ""
	}
	a, _ := t[len(t)-1].(hcl.TraverseAttr)
	return a.Name
}

func plainText(e hclsyntax.Expression) (string, bool) {
	switch x := e.(type) {
	case *hclsyntax.ParenthesesExpr:
		return plainText(x.Expression)
	case *hclsyntax.TemplateExpr:
		if len(x.Parts) == 1 {
			return plainText(x.Parts[0])
		}
	case *hclsyntax.LiteralValueExpr:
		if x.Val.Type() == cty.String && !x.Val.IsNull() {
			return x.Val.AsString(), true
		}
	}
	return "", false
}

// checkCompared reports texts that the attribute they are compared with never has,
// once for each expression.
func (d *decoder) checkCompared(a *analysis) {
	if d.builtin || a.checked {
		return
	}
	a.checked = true
	for _, c := range a.compared {
		if c.attr == "complexity" {
			d.checkRef(c.attr, c.text, d.rng(c.at))
			continue
		}
		words := comparedWords[c.attr]
		if slices.Contains(words, c.text) {
			continue
		}
		const lead = "It is never equal, so the condition would say nothing. "
		d.diags.Add(suggested(diag.Newf("policy-unknown-reference", d.rng(c.at), "unknown %s %s", c.attr, quoted(c.text)), c.text, words,
			lead, lead+"Write one of "+strings.Join(words, ", ")+"."))
	}
}
