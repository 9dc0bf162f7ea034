package dot

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// Options say what a drawing emphasises. The zero value draws clusters per
// phase with the critical path in a stronger line.
type Options struct {
	Waves        bool   // rank by wave instead of clusters per phase
	CriticalPath bool   // fade everything that is not on the critical path
	Impact       ir.Key // fade everything that does not depend on this node; "" for nothing
	Direction    string // "TB" or "LR"; "" takes the one that gives the better proportions
	NoLegend     bool
}

// Bounds above which a drawing leaves out what would be unreadable.
const (
	detailNodes = 200  // agents and gates in the labels
	splineNodes = 1500 // curved edges
)

// Write draws e. It takes time linear in the size of the graph.
func Write(e *ir.Epic, o Options) []byte {
	d := newDrawing(e, o)
	d.header()
	if o.Waves {
		d.waves()
	} else {
		d.phases()
	}
	d.edges()
	d.b.WriteString("}\n")
	return []byte(d.b.String())
}

type drawing struct {
	e     *ir.Epic
	o     Options
	stats ir.Stats
	b     strings.Builder

	names    []string       // of nodes in the DOT file
	index    map[ir.Key]int // of nodes
	path     map[ir.Key]int // 1 + position on the critical path
	strong   []bool         // not faded
	impacted map[ir.Key]bool
	implied  map[[2]ir.Key]bool // edges, from and to, that others imply
	agents   bool               // several agents work: labels name them
}

func newDrawing(e *ir.Epic, o Options) *drawing {
	d := &drawing{
		e: e, o: o, stats: e.Stats(),
		names: make([]string, len(e.Nodes)), index: make(map[ir.Key]int, len(e.Nodes)),
		path: map[ir.Key]int{}, strong: make([]bool, len(e.Nodes)), impacted: map[ir.Key]bool{}, implied: map[[2]ir.Key]bool{},
	}
	for _, r := range ir.RedundantEdges(e.Nodes) {
		d.implied[[2]ir.Key{r.Key, r.Node}] = true
	}
	who := map[string]bool{}
	for i := range e.Nodes {
		if agent := workAgent(&e.Nodes[i]); agent != "" {
			who[agent] = true
		}
	}
	d.agents = len(who) > 1
	for i, k := range d.stats.Critical {
		d.path[k] = i + 1
	}
	if o.Impact != "" {
		for _, k := range ir.Impact(e.Nodes, o.Impact) {
			d.impacted[k] = true
		}
		d.impacted[o.Impact] = true
	}
	for i := range e.Nodes {
		k := e.Nodes[i].Key
		d.index[k] = i
		d.names[i] = name(k, i)
		d.strong[i] = (o.Impact == "" || d.impacted[k]) && (!o.CriticalPath || d.path[k] > 0)
	}
	return d
}

var plainKey = lazyregexp.New(`^[A-Za-z0-9._-]{1,60}$`)

// name is the key where it can be in a DOT file as it is, which makes the
// file readable, else a number.
func name(k ir.Key, i int) string {
	if !plainKey.MatchString(string(k)) {
		return fmt.Sprintf(`"#%d"`, i)
	}
	return `"` + string(k) + `"`
}

func (d *drawing) printf(format string, args ...any) { fmt.Fprintf(&d.b, format, args...) }

func (d *drawing) header() {
	direction := d.o.Direction
	if direction != "TB" && direction != "LR" {
		direction = proportions(len(d.stats.Waves), d.stats.Widest)
	}
	d.printf("digraph epic {\n")
	d.printf("  graph [rankdir=%s, bgcolor=white, fontname=%s, fontsize=12, fontcolor=%q, labelloc=t, labeljust=l,\n", direction, font, ink)
	d.printf("    nodesep=0.28, ranksep=0.42, pad=0.3, compound=true, tooltip=%s", quoted(d.e.Epic.Title))
	if len(d.e.Nodes) > splineNodes {
		d.printf(", splines=line, nslimit=2, nslimit1=2, mclimit=0.5")
	}
	d.printf(",\n    label=<%s>];\n", d.title())
	d.printf("  node [fontname=%s, fontsize=11, fontcolor=%q, margin=\"0.14,0.08\", penwidth=1.2, height=0.4];\n", font, ink)
	d.printf("  edge [color=%q, arrowsize=0.7, penwidth=1.1, fontname=%s, fontsize=9, fontcolor=%q];\n", edgeInk, font, quiet)
}

// proportions chooses the direction in which the drawing comes nearer to the
// shape of a page. A box is some 210 points wide and 80 high with its edges.
func proportions(waves, widest int) string {
	skew := func(w, h int) float64 {
		r := float64(w) / float64(max(h, 1)) / 1.3
		return max(r, 1/r)
	}
	if skew(widest*210, waves*105) <= skew(waves*240, widest*75) {
		return "TB"
	}
	return "LR"
}

// title is the heading of the drawing, with the legend below it.
func (d *drawing) title() string {
	s := &d.stats
	var b strings.Builder
	fmt.Fprintf(&b, `<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="2"><TR><TD ALIGN="LEFT"><FONT POINT-SIZE="18"><B>%s</B></FONT></TD></TR>`,
		html(text.Shorten(cmp.Or(strings.TrimSpace(d.e.Epic.Title), d.e.Epic.Slug), 90)))
	facts := []string{
		text.Count(s.Nodes, "node"), text.Count(s.Edges, "edge"), text.Count(len(s.Waves), "wave"),
		fmt.Sprintf("at most %d at once", s.Widest),
	}
	if s.Done > 0 {
		facts = append(facts, fmt.Sprintf("%d done", s.Done))
	}
	if s.SpeedUp > 0 {
		facts = append(facts, "speed-up ≤ "+strconv.FormatFloat(s.SpeedUp, 'f', -1, 64)+"×")
	}
	if s.Unit == "ms" && s.Path > 0 {
		facts = append(facts, "critical path "+ir.Duration(s.Path))
	}
	if d.o.Impact != "" {
		facts = append(facts, fmt.Sprintf("%s affects %s", d.o.Impact, text.Count(max(0, len(d.impacted)-1), "node")))
	}
	fmt.Fprintf(&b, `<TR><TD ALIGN="LEFT"><FONT COLOR="%s">%s</FONT></TD></TR>`, quiet, html(strings.Join(facts, " · ")))
	if !d.o.NoLegend {
		b.WriteString(d.legend())
	}
	b.WriteString(`</TABLE>`)
	return b.String()
}

// legend explains only what this drawing holds.
func (d *drawing) legend() string {
	seen := map[string]bool{}
	kinds := map[ir.Kind]bool{}
	soft, done := false, false
	for _, n := range lists.Each(d.e.Nodes) {
		seen[n.Complexity.Level] = true
		kinds[n.Kind] = true
		done = done || n.Done
		for _, a := range n.After {
			soft = soft || a.Type != ir.Blocks
		}
	}
	var parts []string
	note := func(is bool, text, color string) {
		if is {
			parts = append(parts, fmt.Sprintf(`<FONT POINT-SIZE="9" COLOR="%s">%s</FONT>`, color, text))
		}
	}
	borders := map[string]string{"trivial": " (dotted)", "critical": " (double border)"}
	for _, level := range levels {
		if seen[level] {
			parts = append(parts, fmt.Sprintf(`<FONT COLOR="%s">■</FONT> <FONT POINT-SIZE="9" COLOR="%s">%s</FONT>`, looks[level].border, quiet, level+borders[level]))
		}
	}
	note(kinds[ir.Merge], "hexagon: merge", quiet)
	note(kinds[ir.GateKind], "octagon: gate", quiet)
	note(kinds[ir.Manual], "ellipse: a person does it", quiet)
	note(done, "✓ done", quiet)
	note(soft, "dashed: does not wait", quiet)
	note(len(d.implied) > 0, "thin: implied by other lines", quiet)
	note(len(d.path) > 1 && d.o.Impact == "", "<B>bold line: critical path</B>", pathInk)
	note(d.o.Impact != "", "<B>violet: affected</B>", impactInk)
	return `<TR><TD ALIGN="LEFT">` + strings.Join(parts, "&#160;&#160;&#160; ") + `</TD></TR>`
}
