// Package mermaid draws an epic as a mermaid flowchart, which code hosts render
// inside markdown.
//
// In: an ir.Epic that ir.Verify accepts. Out: the text of one flowchart. It runs
// nothing and does no I/O. It imports only ir; app calls it. Everything
// from the epic is written as character codes where mermaid or the page around
// it could read it as markup.
package mermaid

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// Options say how to draw. The zero value is the whole epic from top to bottom.
type Options struct {
	Direction string // "TD" (default) or "LR"
	Impact    ir.Key // marks what depends on this node; "" for nothing
}

// open and end of a node's text, by kind: the shape.
var shapes = map[ir.Kind][2]string{
	ir.Work: {`("`, `")`}, ir.Merge: {`{{"`, `"}}`}, ir.GateKind: {`{"`, `"}`}, ir.Manual: {`(["`, `"])`},
}

// Write draws e. Edges on the critical path are thick, soft edges dotted,
// merges hexagons; the level of complexity is below the title. Viewers have
// limits of their own: GitHub shows at most 50,000 characters and 500 edges.
func Write(e *ir.Epic, o Options) []byte {
	var b strings.Builder
	direction := "TD"
	if o.Direction == "LR" {
		direction = "LR"
	}
	fmt.Fprintf(&b, "flowchart %s\n", direction)
	index := make(map[ir.Key]int, len(e.Nodes))
	var phases []string
	members := map[string][]int{}
	for i, n := range lists.Each(e.Nodes) {
		index[n.Key] = i
		if len(members[n.Phase]) == 0 {
			phases = append(phases, n.Phase)
		}
		members[n.Phase] = append(members[n.Phase], i)
	}
	titles := e.PhaseTitles()
	for p, phase := range phases {
		indent := "  "
		if phase != "" {
			fmt.Fprintf(&b, "  subgraph p%d[\"%s\"]\n", p, Escape(titles[phase]))
			indent = "    "
		}
		for _, i := range members[phase] {
			node(&b, indent, i, &e.Nodes[i])
		}
		if phase != "" {
			b.WriteString("  end\n")
		}
	}
	stats := e.Stats()
	critical := map[[2]ir.Key]bool{}
	for i := 1; i < len(stats.Critical); i++ {
		critical[[2]ir.Key{stats.Critical[i-1], stats.Critical[i]}] = true
	}
	for i := range e.Nodes {
		for _, a := range e.Nodes[i].After {
			p, exists := index[a.Key]
			if !exists {
				continue
			}
			arrow := " --> "
			switch {
			case a.Type != ir.Blocks:
				arrow = " -. " + Escape(string(a.Type)) + " .-> "
			case critical[[2]ir.Key{a.Key, e.Nodes[i].Key}]:
				arrow = " ==> "
			}
			fmt.Fprintf(&b, "  n%d%sn%d\n", p, arrow, i)
		}
	}
	classes(&b, e, o, index)
	return []byte(b.String())
}

func node(b *strings.Builder, indent string, i int, n *ir.Node) {
	shape, known := shapes[n.Kind]
	if !known {
		shape = shapes[ir.Work]
	}
	head := "<b>" + Escape(string(n.Key)) + "</b> "
	if n.Done {
		head = "✓ " + head
	}
	small := n.Complexity.Level
	if n.Complexity.Word != "" {
		small += ": " + n.Complexity.Word
	}
	if slices.Contains(n.Labels, "optional") {
		small += " · optional"
	}
	if n.Kind != ir.Work {
		small = string(n.Kind) + " · " + small
	}
	fmt.Fprintf(b, "%sn%d%s%s%s<br/><small>%s</small>%s\n", indent, i, shape[0], head, Escape(text.Shorten(n.Title, 120)), Escape(small), shape[1])
}

var classDefs = []struct{ name, style string }{
	{"trivial", "fill:#F7F7F8,stroke:#9AA0A6,stroke-dasharray:2 2"},
	{"simple", "fill:#E9F6EC,stroke:#3C9A5F"},
	{"standard", "fill:#E7F0FB,stroke:#3A74C4"},
	{"critical", "fill:#FDEBE7,stroke:#C63C2B,stroke-width:3px"},
	{"other", "fill:#F4ECF9,stroke:#8644A8"},
	{"done", "fill:#FFFFFF,stroke:#B9BEC5"},
	{"affected", "stroke:#7A3FC4,stroke-width:3px"},
}

func classes(b *strings.Builder, e *ir.Epic, o Options, index map[ir.Key]int) {
	members := map[string][]string{}
	for i := range e.Nodes {
		class := "other"
		for _, d := range classDefs[:4] {
			if d.name == e.Nodes[i].Complexity.Level {
				class = d.name
			}
		}
		if e.Nodes[i].Done {
			class = "done"
		}
		members[class] = append(members[class], fmt.Sprintf("n%d", i))
	}
	if o.Impact != "" {
		for _, k := range append(ir.Impact(e.Nodes, o.Impact), o.Impact) {
			if i, exists := index[k]; exists {
				members["affected"] = append(members["affected"], fmt.Sprintf("n%d", i))
			}
		}
	}
	for _, d := range classDefs {
		if ids := members[d.name]; len(ids) > 0 {
			fmt.Fprintf(b, "  classDef %s %s,color:#1F2328;\n  class %s %s;\n", d.name, d.style, strings.Join(ids, ","), d.name)
		}
	}
}

// Escape writes text so that neither mermaid nor HTML nor markdown reads
// anything into it: everything but letters, digits, spaces and a few marks
// becomes a character code.
func Escape(s string) string {
	var b strings.Builder
	for _, r := range ir.Printable(s) {
		switch {
		case r >= 0x80, r == ' ', r >= '0' && r <= '9', r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', strings.ContainsRune(".,:/+-", r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "#%d;", r)
		}
	}
	return b.String()
}
