package policies

import (
	"bytes"
	"path"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/text"
)

// attrWish is an attribute that importing wants to be in a block.
type attrWish struct {
	name, instead string // instead: the attribute that it takes the place of, if that is there
	value         string // as HCL
}

// setIn sets attributes of a block that is there. What somebody wrote as an
// expression is not replaced by what it may come to.
func (im *importer) setIn(p agentPlace, f Found, have *Agent) (lines []string, left string) {
	var wishes []attrWish
	switch {
	case f.Path != "" && (!have.Path.Set || path.Clean(have.Path.V) != f.Path):
		wishes = append(wishes, attrWish{"path", "slug", hclString(f.Path)})
	case f.Path == "" && f.Slug != "" && have.Slug.V != f.Slug:
		wishes = append(wishes, attrWish{"slug", "path", hclString(f.Slug)})
	}
	if im.kind(have.Runner.V) != f.Kind {
		wishes = append(wishes, attrWish{"runner", "", reference("runner", im.runner(f.Kind))})
	}
	if f.Model != "" && have.Model.V != f.Model && (im.set.Models[have.Model.V] == nil || im.set.Models[have.Model.V].ID.V != f.Model) {
		wishes = append(wishes, attrWish{"model", "", hclString(f.Model)})
	}
	if f.Access == "write" && !have.Access.Set {
		wishes = append(wishes, attrWish{"access", "", hclString(f.Access)})
	}
	var added []string
	var skipped []string
	for _, w := range wishes {
		old := p.block.Body.Attributes[w.name]
		if old == nil && w.instead != "" {
			old = p.block.Body.Attributes[w.instead]
		}
		switch {
		case old == nil:
			added = append(added, w.name+" = "+w.value)
			lines = append(lines, "+ "+w.name+" = "+w.value)
		case !plainValue(old.Expr):
			skipped = append(skipped, w.name)
		default:
			at, end := old.NameRange.Start.Byte, old.NameRange.End.Byte
			value := old.Expr.Range()
			lines = append(lines, "- "+old.Name+" = "+string(p.file.Bytes[value.Start.Byte:value.End.Byte]), "+ "+w.name+" = "+w.value)
			p.file.edits = append(p.file.edits, diag.Fix{Range: diag.Range{Start: at, End: end}, Text: w.name}, diag.Fix{Range: diag.Range{Start: value.Start.Byte, End: value.End.Byte}, Text: w.value})
		}
	}
	if len(added) > 0 {
		p.file.edits = append(p.file.edits, p.insert(added))
	}
	if len(skipped) > 0 {
		left = strings.Join(skipped, " and ") + " is an expression there, which is not replaced"
	}
	return lines, left
}

// plainValue reports whether an expression is a string or a name and no more.
func plainValue(e hclsyntax.Expression) bool {
	switch e := e.(type) {
	case *hclsyntax.TemplateExpr:
		return e.IsStringLiteral()
	case *hclsyntax.ScopeTraversalExpr:
		return len(e.Traversal) == 2 && (e.Traversal.RootName() == "runner" || e.Traversal.RootName() == "model")
	case *hclsyntax.LiteralValueExpr:
		return true
	}
	return false
}

// insert adds attributes to a block: below the last of those that say what the
// agent is, else at its beginning.
func (p agentPlace) insert(lines []string) diag.Fix {
	src, nl := p.file.Bytes, p.file.newline
	open, shut := p.block.OpenBraceRange.End.Byte, p.block.CloseBraceRange.Start.Byte
	indent := indentation(src, p.block.TypeRange.Start.Byte)
	if !bytes.Contains(src[open:shut], []byte("\n")) { // on one line
		var b strings.Builder
		for _, l := range lines {
			b.WriteString(nl + indent + "  " + l)
		}
		if body := strings.TrimSpace(string(src[open:shut])); body != "" {
			return diag.Fix{Range: diag.Range{Start: open, End: shut}, Text: nl + indent + "  " + body + b.String() + nl + indent}
		}
		return diag.Fix{Range: diag.Range{Start: open, End: shut}, Text: b.String() + nl + indent}
	}
	at, inner := open, indent+"  "
	for _, name := range []string{"description", "path", "slug", "runner", "model"} {
		if a := p.block.Body.Attributes[name]; a != nil && a.SrcRange.End.Byte > at {
			at, inner = a.SrcRange.End.Byte, indentation(src, a.SrcRange.Start.Byte)
		}
	}
	if src[at-1] != '\n' { // but after a heredoc
		at += bytes.IndexByte(src[at:], '\n') + 1
	}
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(inner + l + nl)
	}
	return diag.Fix{Range: diag.Range{Start: at, End: at}, Text: b.String()}
}

// indentation is the white space before what is at an offset, if nothing else
// is before it on its line.
func indentation(src []byte, at int) string {
	line := src[bytes.LastIndexByte(src[:at], '\n')+1 : at]
	if len(bytes.TrimLeft(line, " \t")) > 0 {
		return ""
	}
	return string(line)
}

// hclString is a text as HCL writes it.
func hclString(s string) string { return string(hclwrite.TokensForValue(cty.StringVal(s)).Bytes()) }

func stringOrNone(s string) string {
	if s == "" {
		return ""
	}
	return hclString(s)
}

// reference names a block: as runner.claude, or as a text where that would be no name.
func reference(root, name string) string {
	if hclsyntax.ValidIdentifier(name) {
		return root + "." + name
	}
	return hclString(name)
}

// oneLine makes a description fit on a line.
func oneLine(s string, most int) string {
	s = printableText(text.OneLine(strings.ReplaceAll(s, `\n`, " ")))
	if len(s) <= most {
		return s
	}
	s = text.Head(s, most)
	if i := strings.LastIndexByte(s, ' '); i > 0 {
		s = s[:i]
	}
	return s + " …"
}
