package policies

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// native returns an expression of HCL's JSON form as the tree that the native
// syntax would have given, so that later code knows one form only.
func (d *decoder) native(e hcl.Expression) hclsyntax.Expression {
	if n, ok := e.(hclsyntax.Expression); ok {
		return n
	}
	// The JSON expression answers only for its own kind.
	if kv, diags := hcl.ExprMap(e); !diags.HasErrors() {
		out := &hclsyntax.ObjectConsExpr{SrcRange: e.Range(), OpenRange: e.StartRange()}
		for _, it := range kv {
			key, _ := it.Key.Value(nil)
			out.Items = append(out.Items, hclsyntax.ObjectConsItem{
				KeyExpr: &hclsyntax.ObjectConsKeyExpr{
					Wrapped:         &hclsyntax.LiteralValueExpr{Val: key, SrcRange: it.Key.Range()},
					ForceNonLiteral: true,
				},
				ValueExpr: d.native(it.Value),
			})
		}
		return out
	}
	if list, diags := hcl.ExprList(e); !diags.HasErrors() {
		out := &hclsyntax.TupleConsExpr{SrcRange: e.Range(), OpenRange: e.StartRange()}
		out.Exprs = lists.Map(list, d.native)
		return out
	}
	v, diags := e.Value(nil)
	d.addHCL(diags)
	if v.IsNull() || v.Type() != cty.String || !strings.Contains(v.AsString(), "${") && !strings.Contains(v.AsString(), "%{") {
		return &hclsyntax.LiteralValueExpr{Val: v, SrcRange: e.Range()}
	}
	src, start := []byte(v.AsString()), e.Range().Start
	start.Byte++ // behind the quote
	start.Column++
	if r, why := checkBounds(src, e.Range().Filename, start, false, true); why != "" {
		d.diags.Add(tooLarge(d.rng(r), why))
		return &hclsyntax.LiteralValueExpr{Val: cty.DynamicVal, SrcRange: e.Range()}
	}
	t, diags := hclsyntax.ParseTemplate(src, e.Range().Filename, start)
	d.addHCL(diags)
	if diags.HasErrors() || t == nil {
		return &hclsyntax.LiteralValueExpr{Val: cty.DynamicVal, SrcRange: e.Range()}
	}
	return t
}

// rng turns hcl's range into ours, kept inside its file.
func (d *decoder) rng(r hcl.Range) diag.Range {
	if r.Filename == "" {
		return diag.Range{}
	}
	n, ok := d.src.lengths[r.Filename]
	if !ok {
		n = max(r.End.Byte, 0)
	}
	start := min(max(r.Start.Byte, 0), n)
	return diag.Range{File: r.Filename, Start: start, End: min(max(r.End.Byte, start), n)}
}

// text returns the source under a range, for names in messages.
func (d *decoder) text(r diag.Range) string {
	b := d.src.texts[r.File]
	off := d.src.offsets[r.File]
	if r.Start < off || r.End-off > len(b) || r.End < r.Start {
		return ""
	}
	return strings.Trim(string(b[r.Start-off:r.End-off]), `"`)
}
