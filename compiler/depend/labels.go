package depend

import (
	"cmp"
	"strings"

	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
)

// Statements returns the values of a dependency label, as they are in the
// file: offsets in them are offsets in the source.
func Statements(lb *syntax.Label, file *diag.File) []Statement {
	var out []Statement
	add := func(t syntax.Text) {
		r := t.Range
		if r.Start < 0 || r.End > len(file.Bytes) || r.Start > r.End {
			return
		}
		out = append(out, Statement{Text: file.Text(r), At: r, typ: cmp.Or(softLabels[lb.Name], ir.Blocks), add: lb.From == syntax.FromTitle})
	}
	switch {
	case lb.From == syntax.FromFrontMatter && lb.Value.Value != "": // "none", where the items it named are cancelled
		out = append(out, Statement{Text: lb.Value.Value, At: lb.Value.Range})
	case lb.Value.Value == "" && len(lb.Items) == 0 && len(lb.Text) > 0 && !lb.TextRange.IsZero():
		add(syntax.Text{Range: lb.TextRange}) // a paragraph below the label
	case lb.Value.Value == "" && lb.From == syntax.FromHeading: // labels may stand below it
	case lb.Value.Value != "" || len(lb.Items) == 0:
		add(lb.Value)
	}
	var walk func(items []syntax.ListItem)
	walk = func(items []syntax.ListItem) {
		for i := range items {
			add(items[i].Text)
			walk(items[i].Items)
		}
	}
	walk(lb.Items)
	return out
}

// softLabels are the labels that order nothing.
var softLabels = map[syntax.LabelName]ir.EdgeType{syntax.Parent: ir.ParentChild, syntax.Related: ir.Related, syntax.DiscoveredFrom: ir.DiscoveredFrom}

// Clauses finds "(after 1.1 merged)" and "(after 1.2a and 1.2b merged)".
func Clauses(t syntax.Text, file *diag.File) []Clause {
	if t.Range.Start < 0 || t.Range.End > len(file.Bytes) || t.Range.Start >= t.Range.End {
		return nil
	}
	s := file.Text(t.Range)
	var out []Clause
	for from := 0; ; {
		open := strings.IndexByte(s[from:], '(') + 1
		n := strings.IndexByte(s[from+open:], ')')
		if open == 0 || n < 0 {
			return out
		}
		at := from + open
		if c, ok := clause(s[at:at+n], t.Range.Start+at, t.Range.File); ok {
			out = append(out, c)
		}
		from = at + n + 1
	}
}

func clause(s string, at int, file string) (Clause, bool) {
	text := strings.TrimSpace(s)
	if len(text) < 6 || !strings.EqualFold(text[:6], "after ") {
		return Clause{}, false
	}
	off := strings.Index(s, text) + 6
	text = text[6:]
	tail := ""
	for _, w := range []string{" merged", " are merged", " is merged", " merges", " complete", " completed", " done", " is done", " are done"} {
		if strings.HasSuffix(strings.ToLower(text), w) && len(w) > len(tail) {
			tail = w
		}
	}
	text = text[:len(text)-len(tail)]
	var c Clause
	masked := mask(text)
	for _, sp := range split(masked) {
		id := masked[sp.Start:sp.End]
		if w, rest := word(masked, sp); rest.Start < rest.End && !strings.ContainsAny(w, "0123456789") {
			sp, id = rest, masked[rest.Start:rest.End]
		}
		if id == "" || strings.ContainsAny(id, " \t") || !strings.ContainsAny(id, "0123456789") {
			return Clause{}, false
		}
		c.ids = append(c.ids, id)
		c.ats = append(c.ats, diag.Range{File: file, Start: at + off + sp.Start, End: at + off + sp.End})
	}
	return c, len(c.ids) > 0
}
