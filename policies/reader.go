package policies

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/spell"
)

// reader gives the content of one block, checked against its declaration.
type reader struct {
	d       *decoder
	b       *block
	name    string // its label
	path    string // "gate.unit", "policy.web.step.build": what messages and file records call it
	origin  string // what values say of where they come from
	at      diag.Range
	missing diag.Range // where a missing attribute would be written
	attrs   map[string]*hcl.Attribute
	nested  hcl.Blocks
	node    bool // node.* is known here
}

// open reads a body against its declaration and reports what does not belong.
func (d *decoder) open(b *block, body hcl.Body, path, origin string, at diag.Range, node bool) *reader {
	r := &reader{d: d, b: b, path: path, origin: origin, at: at, node: node || b.node}
	content, diags := body.Content(b.body())
	for _, g := range diags {
		d.misfit(b, path, g)
	}
	if content == nil {
		return r
	}
	r.attrs, r.nested = content.Attributes, content.Blocks
	if r.missing = d.rng(content.MissingItemRange); r.missing.IsZero() || r.missing.File != at.File && !at.IsZero() {
		r.missing = at
	}
	for _, a := range b.attrs {
		if a.required && r.attrs[a.name] == nil {
			d.diags.Add(diag.Newf("policy-missing-attribute", r.missing, "%q is missing", a.name).
				WithDetail("%s needs %q: %s. Write %s = …", sentence(describe(path)), a.name, a.doc, a.name).
				WithRelated(at, "the block begins here"))
		}
	}
	return r
}

// misfit rewords hcl's diagnostic about an attribute, block or label in the wrong
// place.
func (d *decoder) misfit(b *block, path string, g *hcl.Diagnostic) {
	var r diag.Range
	if g.Subject != nil {
		r = d.rng(*g.Subject)
	}
	name := d.text(r)
	where := describe(path)
	switch {
	case g.Summary == "Unsupported argument" && b.block(name) != nil:
		d.diags.Add(diag.Newf("policy-unknown-attribute", r, "%s is a block", quoted(name)).
			WithDetail("Write it without the equals sign: %s { … }", name))
	case g.Summary == "Unsupported argument", g.Summary == "Extraneous JSON object property", g.Summary == "Unsupported block type":
		if d.where != "" && b.name == "fence" && (fileBlock.block(name) != nil || planFenceBlock.block(name) != nil) {
			d.diags.Add(diag.Newf("policy-not-in-fence", r, "%s cannot be in this fence", quoted(name)).
				WithDetail("A fence in a plan may set %s. Move the block into a policy file.", strings.Join(fenceRoot(d.where).blockNames(), ", ")+" and the attributes of a step"))
			return
		}
		code, what, known := diag.Code("policy-unknown-attribute"), "attribute", slices.Concat(b.attrNames(), b.blockNames())
		if g.Summary == "Unsupported block type" {
			code, what = "policy-unknown-block", "block"
			if b.attr(name) != nil {
				d.diags.Add(diag.Newf(code, r, "%s is an attribute", quoted(name)).WithDetail("Write it with an equals sign: %s = …", name))
				return
			}
		}
		dg := diag.Newf(code, r, "unknown %s %s", what, quoted(name))
		if home := homeOf(b, name, what == "block"); home != "" {
			d.diags.Add(dg.WithDetail("%s has no %s called %s: it belongs %s. Move it there.", sentence(where), what, quoted(name), home))
			return
		}
		if near, ok := spell.Nearest(name, known); ok {
			dg = dg.WithDetail("%s has no %s called %s. Did you mean %q?", sentence(where), what, quoted(name), near)
			if what == "attribute" && d.sourceIs(r, name) {
				dg = dg.WithFix(r, near)
			}
		} else {
			dg = dg.WithDetail("%s knows %s. Write one of these.", sentence(where), spell.Sorted(known, 40))
		}
		d.diags.Add(dg)
	case strings.HasPrefix(g.Summary, "Missing name for"), strings.HasPrefix(g.Summary, "Missing block label"), strings.HasPrefix(g.Summary, "Missing "):
		d.diags.Add(diag.Newf("policy-label", r, "a name is missing").
			WithDetail("A block that others refer to has a name in quotes after its type, as in gate \"unit\" { … }. Write one."))
	case strings.HasPrefix(g.Summary, "Extraneous label"):
		d.diags.Add(diag.New("policy-label", r, "a name too many").
			WithDetail("Blocks of this type carry fewer names. Remove %s.", quoted(name)))
	default:
		d.addHCL(hcl.Diagnostics{g})
	}
}

// homeOf says where a word of the language belongs that has no meaning in b; ""
// if it is not a word of the language, or has no single place.
func homeOf(b *block, name string, isBlock bool) string {
	switch {
	case isBlock && b == fileBlock && policyBlock.block(name) != nil:
		return "in policy \"NAME\" { }"
	case isBlock && b != fileBlock && fileBlock.block(name) != nil:
		return "at the top level of a policy file"
	case isBlock:
		return ""
	case (b == fileBlock || b == policyBlock || b == agentBlock) && stepBlock.attr(name) != nil:
		return "in step \"NAME\" { } of a policy"
	case b == stepBlock && gateBlock.attr(name) != nil:
		return "in gate \"NAME\" { }"
	case (b == fileBlock || b == stepBlock) && agentBlock.attr(name) != nil:
		return "in agent \"NAME\" { }"
	case b == draftBlock && draftBlock.blocks[0].attr(name) != nil:
		return "in max_sprint { }"
	case (b == fileBlock || b == policyBlock || b == stepBlock) && limitsBlock.attr(name) != nil:
		return "in limits { }"
	}
	return ""
}

// sourceIs reports whether the bytes of r are exactly name, so that an edit of r
// may replace them.
func (d *decoder) sourceIs(r diag.Range, name string) bool {
	b, off := d.src.texts[r.File], d.src.offsets[r.File]
	return r.Start >= off && r.End-off <= len(b) && string(b[r.Start-off:r.End-off]) == name
}

// block returns the first nested block of a type, not opened; nil if absent.
func (r *reader) block(typ string) *hcl.Block {
	for _, b := range r.nested {
		if b.Type == typ {
			return b
		}
	}
	return nil
}

// one returns the nested block of a type that may occur once; nil if absent.
func (r *reader) one(typ string) *reader {
	var first *hcl.Block
	for _, n := range r.nested {
		if n.Type != typ {
			continue
		}
		if first != nil {
			r.d.twice(typ, "", r.d.rng(n.DefRange), r.d.rng(first.DefRange))
			continue
		}
		first = n
	}
	if first == nil {
		return nil
	}
	return r.d.open(r.b.block(typ), first.Body, r.path+"."+typ, r.origin, r.d.rng(first.DefRange), r.node)
}

// state says what became of an attribute.
type state uint8

const (
	absent  state = iota
	bad           // reported
	dynamic       // known per node only
	known
)

// eval evaluates an attribute.
func (r *reader) eval(name string) (state, cty.Value, diag.Range) {
	a, ok := r.attrs[name]
	if !ok {
		return absent, cty.NilVal, diag.Range{}
	}
	at := r.d.rng(a.Expr.Range())
	decl := r.b.attr(name)
	st, v := r.d.eval(r.d.native(a.Expr), use{node: r.node, run: decl.run, shell: decl.shell, feeding: r.path + "." + name, at: at})
	if st == known && v.IsNull() {
		return absent, cty.NilVal, at
	}
	return st, v, at
}

func get[T any](r *reader, name string, conv func(*reader, cty.Value, *attr) (T, error)) Value[T] {
	st, v, at := r.eval(name)
	switch st {
	case absent, bad:
		return Value[T]{}
	case dynamic:
		return Value[T]{Set: true, Range: at, Origin: r.origin}
	}
	if !r.settled(name, v, at) {
		return Value[T]{}
	}
	t, err := conv(r, v, r.b.attr(name))
	if err != nil {
		r.invalid(name, at, err)
		return Value[T]{}
	}
	return Value[T]{V: t, Set: true, Range: at, Origin: r.origin}
}

// settled reports whether a value is known in all its parts. One that is not was
// made of what could not be read, which was reported; if nothing was, this is.
func (r *reader) settled(name string, v cty.Value, at diag.Range) bool {
	if v.IsWhollyKnown() {
		return true
	}
	if !r.d.unread[at.File] && !r.d.diags.HasErrors() {
		r.invalid(name, at, fmt.Errorf("the value is not known when compiling"))
	}
	return false
}

func (r *reader) invalid(name string, at diag.Range, err error) {
	doc := r.b.attr(name).doc
	dg := diag.Newf("policy-invalid-value", at, "%q has a wrong value", name).WithDetail("%s", hclSentence(sentence(err.Error())))
	if doc != "" {
		dg.Detail += fmt.Sprintf(" Write %s: %s.", name, doc)
	}
	r.d.diags.Add(dg)
}

// or gives an absent value its default.
func or[T any](v Value[T], def T) Value[T] {
	if !v.Set {
		v.V, v.Origin = def, "default"
	}
	return v
}
