package depend

import (
	"strings"

	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
)

// ValueReader tells the syntax what a value names: a dependency label without bold is
// one only if its value names items.
func ValueReader(d syntax.Dialect) func(items, groups []syntax.Named) func(string) syntax.Reading {
	return func(items, groups []syntax.Named) func(string) syntax.Reading {
		in := &Input{Rules: RulesOf(d, 0), Items: make([]Item, len(items)), Groups: make([]Group, len(groups))}
		for i, it := range items {
			if d.IgnoreCase {
				it.ID = strings.ToLower(it.ID)
			}
			num, _ := ParseNumber(it.ID)
			in.Items[i] = Item{Key: ir.Key(it.ID), Title: it.Title, Number: num, Also: it.Names, Group: -1}
		}
		for i, g := range groups {
			num, _ := ParseNumber(g.ID)
			in.Groups[i] = Group{ID: g.ID, Title: g.Title, Number: num, Also: g.Names, Word: g.Word}
		}
		n := NewNames(in)
		return func(value string) syntax.Reading {
			var quiet diag.List
			r := n.read(Statement{Text: value, At: diag.Range{End: len(value)}}, &quiet)
			out := syntax.Reading{Tail: r.tail}
			switch {
			case r.wrong:
				out.Names = syntax.NamesUnknown
			case len(r.targets) > 0 && !r.prose:
				out.Names = syntax.NamesItems
			}
			return out
		}
	}
}
