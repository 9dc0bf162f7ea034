package compiler

import (
	"strings"

	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
)

// valueReader tells the syntax what a value names: a dependency label without bold is
// one only if its value names items.
func valueReader(d syntax.Dialect) func(items, groups []syntax.Named) func(string) syntax.Reading {
	return func(items, groups []syntax.Named) func(string) syntax.Reading {
		in := &depInput{rules: rulesOf(d, 0), items: make([]depItem, len(items)), groups: make([]depGroup, len(groups))}
		for i, it := range items {
			if d.IgnoreCase {
				it.ID = strings.ToLower(it.ID)
			}
			num, _ := parseNumber(it.ID)
			in.items[i] = depItem{key: ir.Key(it.ID), title: it.Title, num: num, also: it.Names, group: -1}
		}
		for i, g := range groups {
			num, _ := parseNumber(g.ID)
			in.groups[i] = depGroup{id: g.ID, title: g.Title, num: num, also: g.Names, word: g.Word}
		}
		n := newNames(in)
		return func(value string) syntax.Reading {
			var quiet diag.List
			r := n.read(depStatement{text: value, at: diag.Range{End: len(value)}}, &quiet)
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
