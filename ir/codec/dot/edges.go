package dot

import (
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// edges draws what waits for what. Where several nodes wait for the same
// several nodes, the lines run through one point: 3 + 3 lines instead of 9.
func (d *drawing) edges() {
	joint := d.joints()
	drawn := map[string]bool{}
	for i, n := range lists.Each(d.e.Nodes) {
		via := joint[waitsFor(n)]
		if via != "" && !drawn[via] {
			drawn[via] = true
			d.printf("  %s [shape=point, width=0.06, color=%q, tooltip=\"all of these before any of those\"];\n", via, edgeInk)
			for _, a := range n.After {
				if p, exists := d.index[a.Key]; exists && a.Type == ir.Blocks {
					d.printf("  %s -> %s [arrowhead=none%s];\n", d.names[p], via, d.line(p, -1))
				}
			}
		}
		if via != "" {
			d.printf("  %s -> %s [%s];\n", via, d.names[i], strings.TrimPrefix(d.line(-1, i), ", "))
		}
		for _, a := range n.After {
			p, exists := d.index[a.Key]
			switch {
			case !exists:
			case a.Type != ir.Blocks:
				d.printf("  %s -> %s [style=dashed, constraint=false, arrowhead=open, color=%q, label=%s, tooltip=%s];\n",
					d.names[p], d.names[i], fadedInk, quoted(string(a.Type)), quoted(string(a.Key)+" · "+string(n.Key)+" ("+string(a.Type)+")"))
			case via == "":
				d.printf("  %s -> %s [tooltip=%s%s];\n", d.names[p], d.names[i],
					quoted(string(n.Key)+" waits for "+string(a.Key)+" ("+a.From+")"), d.line(p, i))
			}
		}
	}
}

// waitsFor is the set of keys that a node waits for, as text; "" if there are
// fewer than three.
func waitsFor(n *ir.Node) string {
	keys := ir.BlockingKeys(n.After)
	if len(keys) < 3 {
		return ""
	}
	return fmt.Sprintf("%q", keys)
}

// joints names a point for each set of three or more nodes that three or more
// nodes wait for.
func (d *drawing) joints() map[string]string {
	count := map[string]int{}
	for i := range d.e.Nodes {
		if set := waitsFor(&d.e.Nodes[i]); set != "" {
			count[set]++
		}
	}
	names := map[string]string{}
	for i := range d.e.Nodes {
		if set := waitsFor(&d.e.Nodes[i]); count[set] >= 3 && names[set] == "" {
			names[set] = `"#before ` + strings.Trim(d.names[i], `"`) + `"`
		}
	}
	return names
}

// line styles the edge from node p to node i; -1 is a point between nodes,
// which is on the path if its other end is.
func (d *drawing) line(p, i int) string {
	on := func(i int) int {
		if i < 0 {
			return 0
		}
		return d.path[d.e.Nodes[i].Key]
	}
	strong := (p < 0 || d.strong[p]) && (i < 0 || d.strong[i])
	critical := p >= 0 && i >= 0 && on(p) > 0 && on(i) == on(p)+1 || p < 0 && on(i) > 1 || i < 0 && on(p) > 0 && on(p) < len(d.path)
	implied := p >= 0 && i >= 0 && d.implied[[2]ir.Key{d.e.Nodes[p].Key, d.e.Nodes[i].Key}]
	switch {
	case implied:
		return `, color="` + fadedInk + `", penwidth=0.6, arrowsize=0.5, weight=0`
	case !strong:
		return `, color="` + fadedLine + `"`
	case d.o.Impact != "":
		return `, color="` + impactInk + `", penwidth=1.6`
	case critical:
		return `, color="` + pathInk + `", penwidth=2.6, weight=4`
	}
	return ""
}
