package depend

import (
	"iter"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// Rules that give an edge, in the order of plan-language §2.
const (
	byNumber uint8 = iota
	byProse
	byExplicit
	byScope
	byImport
)

// Explicit is the name of the rule for statements of labels.
const Explicit = "explicit"

var ruleNames = [...]string{"number", "prose", Explicit, "scope", "import"}

// edge says that item to waits for item from.
type edge struct {
	from, to   int32
	start, end int32 // of the text that made it
	rule       uint8
	soft       uint8 // index into softTypes; 0: blocks
}

func newEdge(from, to int32, rule uint8, at diag.Range) edge {
	return edge{from: from, to: to, rule: rule, start: int32(at.Start), end: int32(at.End)}
}

var softTypes = [...]ir.EdgeType{ir.Blocks, ir.ParentChild, ir.Related, ir.DiscoveredFrom}

// Graph is the edges of a plan. Items are named by their index in Input.Items.
type Graph struct {
	edges []edge // sorted by to, from, type; one for each (to, from, type)
	first []int  // edges[first[i]:first[i+1]] are those of item i

	d *depender // for questions of order; its indices are those of the items
}

func (o *Graph) of(i int) []edge { return o.edges[o.first[i]:o.first[i+1]] }

// Edges returns what item i waits for, in a draft's form; file is the plan's file.
func (o *Graph) Edges(i int, file string) []ir.DraftEdge {
	es := o.of(i)
	if len(es) == 0 {
		return nil
	}
	return lists.Map(es, func(e edge) ir.DraftEdge {
		return ir.DraftEdge{
			Key: o.d.Items[e.from].Key, From: ruleNames[e.rule], Type: softTypes[e.soft],
			Range: diag.Range{File: file, Start: int(e.start), End: int(e.end)},
		}
	})
}

// Waits yields the items that item i waits for.
func (o *Graph) Waits(i int32) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for _, e := range o.of(int(i)) {
			if e.soft == 0 && !yield(e.from) {
				return
			}
		}
	}
}

// Order returns the items, those that others wait for first. Items in a cycle, or waiting
// for one, are missing.
func (o *Graph) Order() []int32 { return o.d.topo }
