package dot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// phases draws a cluster per phase, in the order of their first nodes.
func (d *drawing) phases() {
	var order []string
	members := map[string][]int{}
	for i := range d.e.Nodes {
		p := d.e.Nodes[i].Phase
		if len(members[p]) == 0 {
			order = append(order, p)
		}
		members[p] = append(members[p], i)
	}
	titles := d.e.PhaseTitles()
	for n, p := range order {
		if p == "" {
			for _, i := range members[p] {
				d.node(i, "  ")
			}
			continue
		}
		title := strings.Join(wrap(titles[p], 48, 2), " ")
		d.printf("  subgraph cluster_%d {\n", n)
		d.printf("    graph [label=<<B>%s</B>>, labeljust=l, style=\"rounded,filled\", fillcolor=\"#FBFBFC\", color=\"#D5D9DE\", penwidth=1, margin=14, fontsize=11, fontcolor=%q, tooltip=%s];\n",
			html(title), quiet, quoted(title))
		for _, i := range members[p] {
			d.node(i, "    ")
		}
		d.printf("  }\n")
	}
}

// waves draws the nodes of a wave in one rank, after its number.
func (d *drawing) waves() {
	for w, keys := range d.stats.Waves {
		d.printf("  { rank=same;\n    \"#wave %d\" [shape=plain, fontcolor=%q, label=<<B>wave %d</B><BR/>%s>];\n", w+1, quiet, w+1, text.Count(len(keys), "node"))
		for _, k := range keys {
			d.node(d.index[k], "    ")
		}
		d.printf("  }\n")
		if w > 0 {
			d.printf("  \"#wave %d\" -> \"#wave %d\" [style=dotted, arrowhead=none, color=%q, weight=0];\n", w, w+1, fadedLine)
		}
	}
}

func (d *drawing) node(i int, indent string) {
	n := &d.e.Nodes[i]
	l := cmp.Or(looks[n.Complexity.Level], otherLook)
	shape := cmp.Or(shapes[n.Kind], "box")
	fill, border, width := l.fill, l.border, 1.2
	styles := []string{"filled"}
	if shape == "box" {
		styles = append(styles, "rounded")
	}
	if l.style != "" {
		styles = append(styles, l.style)
	}
	if d.path[n.Key] > 0 {
		width = 2.4
	}
	text, sub := ink, quiet
	switch {
	case !d.strong[i]:
		fill, border, text, sub, width = "#FDFDFD", fadedLine, fadedInk, fadedInk, 1
	case n.Done:
		fill, text = "#FFFFFF", quiet
	case d.o.Impact != "":
		border, width = impactInk, 1.8
	}
	margin := ""
	if shape != "box" {
		margin = `, margin="0.02,0.02"` // these shapes have room of their own
	}
	classes := []string{string(n.Kind), "complexity-" + n.Complexity.Level}
	if n.Done {
		classes = append(classes, "done")
	}
	d.printf("%s%s [shape=%s, style=%q, fillcolor=%q, color=%q, penwidth=%.1f, peripheries=%d%s, class=%s, tooltip=%s,\n%s  label=<%s>];\n",
		indent, d.names[i], shape, strings.Join(styles, ","), fill, border, width, l.peripheries, margin,
		quoted(strings.Join(classes, " ")), quoted(tooltip(n)), indent, d.label(n, text, sub))
}

func (d *drawing) label(n *ir.Node, ink, sub string) string {
	var b strings.Builder
	head := html(text.Shorten(string(n.Key), 40))
	if n.Done {
		head = "✓ " + head
	}
	if n.Kind != ir.Work {
		head += " · " + html(string(n.Kind))
	}
	fmt.Fprintf(&b, `<FONT COLOR="%s"><B>%s</B>`, ink, head)
	for _, line := range wrap(n.Title, 26, 3) {
		b.WriteString("<BR/>" + html(line))
	}
	b.WriteString("</FONT>")
	for _, line := range d.details(n) {
		fmt.Fprintf(&b, `<BR/><FONT POINT-SIZE="9" COLOR="%s">%s</FONT>`, sub, html(line))
	}
	return b.String()
}

// details are the small lines below a title.
func (d *drawing) details(n *ir.Node) []string {
	if n.Done {
		return []string{"done"}
	}
	var facts []string
	add := func(fact string) {
		if fact != "" {
			facts = append(facts, fact)
		}
	}
	level := text.Shorten(n.Complexity.Level, 24)
	if n.Complexity.Word != "" {
		level += ": " + text.Shorten(n.Complexity.Word, 24)
	}
	add(level)
	if slices.Contains(n.Labels, "optional") {
		add("optional")
	}
	if d.o.Waves && n.Phase != "" {
		add(text.Shorten("phase "+n.Phase, 24))
	}
	many := len(d.e.Nodes) > detailNodes
	if gates := gatesOf(n); gates > 0 && !many {
		add(text.Count(gates, "gate"))
	}
	var out []string
	if len(facts) > 0 {
		out = append(out, strings.Join(facts, " · "))
	}
	if many {
		return out
	}
	if who := workAgent(n); who != "" && d.agents {
		out = append(out, text.Shorten(who, 36))
	}
	switch {
	case len(n.Merges) > 4:
		out = append(out, fmt.Sprintf("merges %d results", len(n.Merges)))
	case len(n.Merges) > 0:
		keys := lists.Map(n.Merges, func(k ir.Key) string { return string(k) })
		out = append(out, wrap("merges "+strings.Join(keys, ", "), 36, 1)...)
	}
	if human := d.e.HumanGates(n); len(human) > 0 {
		out = append(out, wrap("a person approves: "+strings.Join(d.e.Gates[human[0]].Approvers, ", "), 30, 2)...)
	}
	return out
}

func gatesOf(n *ir.Node) (gates int) {
	for i := range n.Steps {
		gates += len(n.Steps[i].Gates)
	}
	return gates
}

// workAgent names the agent that the node's work step uses.
func workAgent(n *ir.Node) string {
	if i := ir.WorkStep(n); i >= 0 {
		return n.Steps[i].Agent
	}
	return ""
}

func tooltip(n *ir.Node) string {
	lines := []string{string(n.Key) + ": " + text.Shorten(n.Title, 200)}
	if n.Goal != "" {
		lines = append(lines, text.Shorten(n.Goal, 300))
	}
	if n.Section != "" {
		lines = append(lines, text.Shorten(n.Section, 200))
	}
	l := n.Limits
	if l.Attempts > 0 {
		lines = append(lines, fmt.Sprintf("%s of at most %s", text.Count(l.Attempts, "attempt"), ir.Duration(l.TimeoutMS)))
	}
	return strings.Join(lines, "\n")
}
