package policies

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// Variable is the block `variable "n"`.
type Variable struct {
	Decl
	Type        string // as written: "list(string)"; "any" if not
	Description string
	Value       string // as used, as JSON
	From        string // default, flag
}

var variableBlock = &block{
	name: "variable", label: "name",
	doc: "a value that --var can set",
	attrs: []attr{
		descriptionAttr,
		{name: "type", kind: kAny, doc: "a type such as string, number, bool or list(string)"},
		{name: "default", kind: kAny, doc: "the value without --var"},
	},
	blocks: []*block{{name: "validation", many: true, doc: "what the value must fulfil", attrs: []attr{
		{name: "condition", kind: kAny, required: true, doc: "an expression that is true for good values"},
		{name: "error_message", kind: kString, required: true, doc: "what to say about others"},
	}}},
}

// variables decodes all variables and makes var.* known.
func (d *decoder) variables(s *Set, blocks []*hcl.Block, given map[string]string) {
	values := map[string]cty.Value{}
	d.scope.names["var"] = []string{}
	for _, b := range blocks {
		r := d.reader(b)
		v, val := r.variable(given)
		s.Variables[r.name] = v
		d.scope.names["var"] = insert(d.scope.names["var"], r.name)
		values[r.name] = val
	}
	d.scope.roots["var"] = cty.ObjectVal(values)
	for _, b := range blocks {
		d.validate(b, s.Variables[b.Labels[0]])
	}
	for _, name := range sortedKeys(given) {
		if _, ok := s.Variables[name]; ok {
			continue
		}
		const lead = "--var sets a variable that the policy declares. "
		d.diags.Add(suggested(diag.Newf("policy-variable", diag.Range{}, "unknown variable %s", quoted(name)), name, d.scope.names["var"],
			lead, lead+"Declare it: variable "+quoted(name)+" { }."))
	}
}

func (r *reader) variable(given map[string]string) (*Variable, cty.Value) {
	v := &Variable{Decl: Decl{Name: r.name, Range: r.at, Builtin: r.d.builtin}, Type: "any", From: "default"}
	var description Value[string]
	description.read(r, "description")
	v.Description = description.V
	ty := cty.DynamicPseudoType
	if a, ok := r.attrs["type"]; ok {
		t, diags := typeexpr.TypeConstraint(keywordExpr(r.d.native(a.Expr)))
		if diags.HasErrors() {
			r.d.diags.Add(diag.New("policy-variable", r.d.rng(a.Expr.Range()), "unknown type").
				WithDetail("A type is string, number, bool, any, list(T), set(T), map(T), tuple([T…]) or object({ name = T }). Write one of these."))
		} else {
			ty, v.Type = t, typeexpr.TypeString(t)
		}
	}
	var val cty.Value
	at := r.at
	if text, ok := given[r.name]; ok {
		v.From = "flag"
		var err error
		if val, err = flagValue(text, ty); err != nil {
			r.d.diags.Add(diag.Newf("policy-variable", r.at, "--var %s does not fit", printable(r.name)).
				WithDetail("%s. Give a value of type %s.", sentence(err.Error()), v.Type))
			return v, cty.UnknownVal(ty)
		}
	} else if e := r.expr("default"); e != nil {
		at = r.d.rng(e.Range())
		st, x := r.d.eval(e, use{feeding: r.path, at: at})
		if st != known {
			return v, cty.UnknownVal(ty)
		}
		val = x
	} else {
		r.d.diags.Add(diag.Newf("policy-variable", r.at, "variable %s has no value", quoted(r.name)).
			WithDetail("It has no default and --var does not set it. Write default = …, or give --var %s=VALUE.", printable(r.name)))
		return v, cty.UnknownVal(ty)
	}
	out, err := convert.Convert(val, ty)
	if err != nil {
		r.d.diags.Add(diag.Newf("policy-variable", at, "the value of %s does not fit", quoted(r.name)).
			WithDetail("The type is %s: %s. Write a value of that type.", v.Type, err))
		return v, cty.UnknownVal(ty)
	}
	if out.IsWhollyKnown() {
		if b, err := (ctyjson.SimpleJSONValue{Value: out}).MarshalJSON(); err == nil {
			v.Value = string(b)
		}
	}
	return v, out
}

// keywordExpr lets the JSON form write a type as text: "list(string)".
func keywordExpr(e hclsyntax.Expression) hcl.Expression {
	l, ok := e.(*hclsyntax.LiteralValueExpr)
	if !ok || l.Val.IsNull() || l.Val.Type() != cty.String || len(l.Val.AsString()) > 200 {
		return e
	}
	t, diags := hclsyntax.ParseExpression([]byte(l.Val.AsString()), l.SrcRange.Filename, l.SrcRange.Start)
	if diags.HasErrors() {
		return e
	}
	return t
}

// flagValue reads what follows --var name=: text for a variable of type string
// or without a type, else a literal of the language.
func flagValue(text string, ty cty.Type) (cty.Value, error) {
	if ty == cty.String || ty == cty.DynamicPseudoType {
		return cty.StringVal(text), nil
	}
	start := hcl.InitialPos
	if _, why := checkBounds([]byte(text), "--var", start, false, false); why != "" {
		return cty.NilVal, fmt.Errorf("the value %s", why)
	}
	e, diags := hclsyntax.ParseExpression([]byte(text), "--var", start)
	if !diags.HasErrors() {
		var v cty.Value
		if v, diags = e.Value(nil); !diags.HasErrors() {
			return convert.Convert(v, ty)
		}
	}
	return cty.NilVal, fmt.Errorf("%s is not a value of the language", quoted(text))
}

// validate checks a variable against its validation blocks.
func (d *decoder) validate(b *hcl.Block, v *Variable) {
	content, _, _ := b.Body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "validation"}}})
	if content == nil || v.Value == "" {
		return
	}
	decl := variableBlock.block("validation")
	for _, x := range content.Blocks {
		r := d.open(decl, x.Body, "variable."+v.Name+".validation", "", d.rng(x.DefRange), false)
		e := r.expr("condition")
		if e == nil {
			continue
		}
		at := d.rng(e.Range())
		st, ok := d.eval(e, use{feeding: r.path, at: at})
		if st != known {
			continue
		}
		if t, err := convert.Convert(ok, cty.Bool); err != nil || t.IsNull() || !t.IsKnown() {
			d.diags.Add(diag.New("policy-invalid-value", at, "the condition is neither true nor false").
				WithDetail("A validation holds when its condition is true. Write a comparison."))
			continue
		} else if t.True() {
			continue
		}
		var why Value[string]
		why.read(r, "error_message")
		d.diags.Add(diag.Newf("policy-variable", v.Range, "variable %s has a wrong value", quoted(v.Name)).
			WithDetail("%s The value is %s, from the %s. Give another one.", hclSentence(printableText(why.V)), printable(v.Value), v.From).
			WithRelated(at, "this must hold"))
	}
}

var localsBlock = &block{name: "locals", many: true, doc: "names for values: locals { n = … } is read as local.n"}

// locals evaluates all locals, each after those that it mentions, and makes
// local.* known.
func (d *decoder) locals(blocks []*hcl.Block) {
	attrs := map[string]*hcl.Attribute{}
	for _, b := range blocks {
		list, diags := b.Body.JustAttributes()
		d.addHCL(diags)
		for _, name := range sortedKeys(list) {
			if first, again := attrs[name]; again {
				d.twice("local", name, d.rng(list[name].NameRange), d.rng(first.NameRange))
				continue
			}
			attrs[name] = list[name]
		}
	}
	names := sortedKeys(attrs)
	if len(names) > maxBlocks {
		d.diags.Add(tooLarge(d.rng(attrs[names[maxBlocks]].NameRange), fmt.Sprintf("has more than %d locals", maxBlocks)))
		for _, name := range names[maxBlocks:] {
			delete(attrs, name)
		}
	}
	d.scope.names["local"] = names
	l := localReader{d: d, attrs: attrs, values: map[string]cty.Value{}}
	for _, name := range names[:min(len(names), maxBlocks)] {
		l.visit(name)
	}
	d.scope.roots["local"] = cty.ObjectVal(l.values)
}

// localReader evaluates locals, each after those that it mentions.
type localReader struct {
	d      *decoder
	attrs  map[string]*hcl.Attribute
	values map[string]cty.Value
	path   []string // of those that are being evaluated
}

func (l *localReader) visit(name string) {
	if _, done := l.values[name]; done || l.attrs[name] == nil {
		return
	}
	d := l.d
	e := d.native(l.attrs[name].Expr)
	at := d.rng(l.attrs[name].NameRange)
	if slices.Contains(l.path, name) {
		l.values[name] = cty.DynamicVal
		d.diags.Add(diag.Newf("policy-local-cycle", at, "local %s needs itself", quoted(name)).
			WithDetail("It is computed from %s. Take one of these out of the cycle.", joinPath(append(l.path[slices.Index(l.path, name):], name))))
		return
	}
	if len(l.path) > 200 {
		l.values[name] = cty.DynamicVal
		d.diags.Add(diag.New("policy-too-large", at, "locals are chained too deep").WithDetail("A local may need others through at most 200 steps. Shorten the chain."))
		return
	}
	l.path = append(l.path, name)
	for _, t := range d.scope.analyse(e).vars {
		if t.RootName() == "local" && len(t) > 1 {
			if n, ok := stepName(t[1]); ok {
				l.visit(n)
			}
		}
	}
	l.path = l.path[:len(l.path)-1]
	if _, done := l.values[name]; done { // a cycle was reported
		return
	}
	// Only what has a value is visible: hcl evaluates no more than it names.
	d.scope.roots["local"] = cty.ObjectVal(l.values)
	st, v := d.eval(e, use{feeding: "local." + name, at: d.rng(e.Range())})
	if why := d.scope.meter.weigh(v, st == known); why != "" {
		d.diags.Add(stopped(at, why))
		st = bad
	}
	if st != known {
		v = cty.DynamicVal
	}
	l.values[name] = v
}

func joinPath(names []string) string {
	out := lists.Map(names, func(n string) string { return "local." + printable(n) })
	return strings.Join(out, " → ")
}
