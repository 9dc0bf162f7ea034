package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/columns"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/ir"
)

// Drawing is the graph of a report: waves are columns, from left to right.
type Drawing struct {
	Width, Height int
	Boxes         []box
	Lines         []line
	Waves         []label
	TooLarge      int // nodes, if there are too many to draw
}

type box struct {
	X, Y, W, H  int
	Key, Title  string
	Full        string // title, whole
	Status      string
	Sign, State string
	Anchor      string
	Merge       bool
}

type line struct {
	Path   string
	Status string // of where it comes from
}

type label struct {
	X    int
	Text string
}

// Measures of a drawing, in pixels.
const (
	boxWide, boxHigh = 196, 54
	gapWide, gapHigh = 64, 16
	drawMargin       = 16
	drawTop          = 40
	drawMost         = 800 // nodes
)

// signs show a status without colour.
var SignsOf = map[executor.NodeStatus]string{
	executor.Done: "✔", executor.Running: "▶", executor.Waiting: "?", executor.Blocked: "■",
	executor.Skipped: "↷", executor.Cancelled: "✕", executor.Ready: "○", executor.Pending: "·",
}

// DrawGraph places the nodes of an epic: each wave a column, in it each node as
// near as possible to what it needs.
func DrawGraph(epic *ir.Epic, views []machine.NodeView) Drawing {
	if len(epic.Nodes) > drawMost {
		return Drawing{TooLarge: len(epic.Nodes)}
	}
	view := map[ir.Key]machine.NodeView{}
	for _, v := range views {
		view[v.Key] = v
	}
	columns, needs := layers(epic, view)
	row, tallest := rows(columns, needs)
	d := Drawing{
		Width:  2*drawMargin + len(columns)*(boxWide+gapWide) - gapWide,
		Height: drawTop + drawMargin + tallest*(boxHigh+gapHigh) - gapHigh,
	}
	middle := float64(drawTop) + float64(d.Height-drawTop-drawMargin-boxHigh)/2
	at := map[ir.Key]box{}
	for c, keys := range columns {
		x := drawMargin + c*(boxWide+gapWide)
		name := fmt.Sprintf("wave %d", c+1)
		if len(keys) == 1 && keys[0] == executor.Integration {
			name = "result"
		}
		d.Waves = append(d.Waves, label{x, name})
		for _, k := range keys {
			b := boxOf(view[k])
			b.X, b.Y, b.W, b.H = x, int(middle+row[k]*float64(boxHigh+gapHigh)), boxWide, boxHigh
			at[k] = b
			d.Boxes = append(d.Boxes, b)
		}
	}
	for _, keys := range columns {
		for _, k := range keys {
			for _, n := range needs[k] {
				if from, ok := at[n]; ok {
					d.Lines = append(d.Lines, connect(from, at[k]))
				}
			}
		}
	}
	return d
}

// rows places each node of a column as near as possible to what it needs, in rows around the
// middle, and counts those of the tallest column. It sorts the columns.
func rows(columns [][]ir.Key, needs map[ir.Key][]ir.Key) (row map[ir.Key]float64, tallest int) {
	row = map[ir.Key]float64{}
	for c, keys := range columns {
		order := map[ir.Key]float64{}
		for i, k := range keys {
			order[k] = float64(i)
			if sum, n := 0.0, 0; c > 0 {
				for _, d := range needs[k] {
					if r, ok := row[d]; ok {
						sum, n = sum+r, n+1
					}
				}
				if n > 0 {
					order[k] = sum / float64(n)
				}
			}
		}
		slices.SortStableFunc(keys, func(a, b ir.Key) int { return cmp.Compare(order[a], order[b]) })
		tallest = max(tallest, len(keys))
		for i, k := range keys {
			row[k] = float64(i) - float64(len(keys)-1)/2 // around the middle
		}
	}
	return row, tallest
}

// layers are the columns of a drawing and what each node needs, without what
// others imply. The sum is after all others and needs those that no other node needs.
func layers(epic *ir.Epic, view map[ir.Key]machine.NodeView) ([][]ir.Key, map[ir.Key][]ir.Key) {
	var columns [][]ir.Key
	for _, wave := range epic.Stats().Waves {
		columns = append(columns, slices.Clone(wave))
	}
	implied := map[[2]ir.Key]bool{}
	for _, r := range ir.RedundantEdges(epic.Nodes) {
		implied[[2]ir.Key{r.Key, r.Node}] = true
	}
	needs := map[ir.Key][]ir.Key{}
	needed := map[ir.Key]bool{}
	for i := range epic.Nodes {
		n := &epic.Nodes[i]
		for _, e := range n.After {
			if e.Type == ir.Blocks && !implied[[2]ir.Key{e.Key, n.Key}] {
				needs[n.Key] = append(needs[n.Key], e.Key)
				needed[e.Key] = true
			}
		}
	}
	if _, ok := view[executor.Integration]; ok {
		for i := range epic.Nodes {
			if k := epic.Nodes[i].Key; !needed[k] {
				needs[executor.Integration] = append(needs[executor.Integration], k)
			}
		}
		columns = append(columns, []ir.Key{executor.Integration})
	}
	return columns, needs
}

func boxOf(v machine.NodeView) box {
	return box{
		Key: reveal.Words(string(v.Key)), Title: columns.Truncate(reveal.Words(v.Title), 27), Full: reveal.Words(v.Title),
		Status: v.Status.String(), Sign: SignsOf[v.Status], State: words.Status(v), Anchor: Anchor(v.Key), Merge: v.Kind == ir.Merge,
	}
}

// connect draws from the right of one box to the left of another.
func connect(a, b box) line {
	x1, y1 := a.X+a.W, a.Y+a.H/2
	x2, y2 := b.X, b.Y+b.H/2
	bend := max((x2-x1)/2, gapWide/2)
	return line{Path: fmt.Sprintf("M%d %d C%d %d %d %d %d %d", x1, y1, x1+bend, y1, x2-bend, y2, x2, y2), Status: a.Status}
}

// Anchor names the place of a node in the page.
func Anchor(k ir.Key) string {
	return "n-" + strings.Map(func(r rune) rune {
		if r == '"' || r == '<' || r == '>' || r == ' ' || r == '#' || r == '%' {
			return '_'
		}
		return r
	}, string(k))
}
