package dot

import (
	"fmt"
	"maps"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// joint is a point that lines run through.
type joint struct {
	name           string
	before, behind []int // the nodes that are waited for, and those that wait for all of them
}

// edges draws what waits for what. Where several nodes wait for the same
// several nodes, the lines run through one point: 3 + 3 lines instead of 9.
func (d *drawing) edges() {
	joints := d.joints()
	for i, n := range lists.Each(d.e.Nodes) {
		via := joints[waitsFor(n)]
		if via != nil && via.behind[0] == i {
			d.joint(via)
		}
		if via != nil {
			d.printf("  %s -> %s [%s];\n", via.name, d.names[i], strings.TrimPrefix(d.through(via.before, []int{i}), ", "))
		}
		for _, a := range n.After {
			p, exists := d.index[a.Key]
			switch {
			case !exists:
			case a.Type != ir.Blocks:
				d.printf("  %s -> %s [style=dashed, constraint=false, arrowhead=open, color=%q, label=%s, tooltip=%s];\n",
					d.names[p], d.names[i], fadedInk, quoted(string(a.Type)), quoted(string(a.Key)+" · "+string(n.Key)+" ("+string(a.Type)+")"))
			case via == nil:
				style := d.line(d.strong[p] && d.strong[i], d.follows(p, i), d.implied[[2]ir.Key{a.Key, n.Key}])
				d.printf("  %s -> %s [tooltip=%s%s];\n", d.names[p], d.names[i],
					quoted(string(n.Key)+" waits for "+string(a.Key)+" ("+a.From+")"), style)
			}
		}
	}
}

// joint draws a point and the lines that run into it.
func (d *drawing) joint(j *joint) {
	d.printf("  %s [shape=point, width=0.06, color=%q, tooltip=\"all of these before any of those\"];\n", j.name, edgeInk)
	for _, p := range j.before {
		d.printf("  %s -> %s [arrowhead=none%s];\n", d.names[p], j.name, d.through([]int{p}, j.behind))
	}
}

// through styles a line that stands for those from all of some nodes to all of others.
func (d *drawing) through(from, to []int) string {
	strong, critical := false, false
	for _, p := range from {
		for _, i := range to {
			strong, critical = strong || d.strong[p] && d.strong[i], critical || d.follows(p, i)
		}
	}
	return d.line(strong, critical, false)
}

// follows reports whether node i comes next after node p on the critical path.
func (d *drawing) follows(p, i int) bool {
	at := d.path[d.e.Nodes[p].Key]
	return at > 0 && d.path[d.e.Nodes[i].Key] == at+1
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

// joints makes a point for each set of three or more nodes that three or more
// nodes wait for.
func (d *drawing) joints() map[string]*joint {
	all := map[string]*joint{}
	for i := range d.e.Nodes {
		set := waitsFor(&d.e.Nodes[i])
		if set == "" {
			continue
		}
		if all[set] == nil {
			all[set] = &joint{name: `"#before ` + strings.Trim(d.names[i], `"`) + `"`}
			for _, key := range ir.BlockingKeys(d.e.Nodes[i].After) {
				if p, exists := d.index[key]; exists {
					all[set].before = append(all[set].before, p)
				}
			}
		}
		all[set].behind = append(all[set].behind, i)
	}
	maps.DeleteFunc(all, func(_ string, j *joint) bool { return len(j.behind) < 3 })
	return all
}

// line styles an edge. An implied one is thin; one between nodes that are not strong is faded.
func (d *drawing) line(strong, critical, implied bool) string {
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
