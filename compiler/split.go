package compiler

import (
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/compiler/depend"
	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// splits hands what a plain number says to the lettered items below its heading:
// dependencies to those that have none of their own, but for those that join
// others; policy; its title and goal for the prompt.
func (l *lowering) splits() {
	for _, sp := range lists.Each(l.tree.Splits) {
		num, _ := depend.ParseNumber(sp.ID)
		l.deps.Splits = append(l.deps.Splits, depend.Split{ID: sp.ID, Number: num})
		said, g := l.group(sp)
		again := false // reported for the first one
		for _, k := range sp.Items {
			n, d := &l.draft.Nodes[k], &l.deps.Items[k]
			n.Within = append([]string{heading(sp.Keyword, sp.ID, sp.Name)}, goal(said.Goal)...)
			n.Fragments = append(slices.Clip(said.Fragments), n.Fragments...)
			if len(d.Number.Letters()) > 1 {
				continue
			}
			if len(d.After) == 0 {
				d.After = depend.Shared(g.After, again)
			}
			d.Blocks = append(d.Blocks, depend.Shared(g.Blocks, again)...)
			again = true
		}
	}
}

// group lowers what is below the heading of a group.
func (l *lowering) group(p *syntax.Phase) (ir.DraftPhase, depend.Group) {
	dp := ir.DraftPhase{ID: p.ID, Name: p.Name, Range: p.Range, Word: p.Keyword, Fragments: fragments(p.Section.Fragments)}
	num, _ := depend.ParseNumber(p.ID)
	g := depend.Group{ID: p.ID, Title: p.Name, At: cmpRange(p.IDRange, p.Range), Number: num, Also: p.Names, Word: p.Keyword}
	var goal []string
	p.Section.Labels = l.within(p.Section.Labels)
	for _, lb := range lists.Each(p.Section.Labels) {
		switch lb.Name {
		case syntax.Goal, syntax.Description:
			goal = append(goal, paragraphs(lb)...)
		case syntax.DependsOn:
			g.After = append(g.After, depend.Statements(lb, l.tree.File)...)
		case syntax.Blocks:
			g.Blocks = append(g.Blocks, depend.Statements(lb, l.tree.File)...)
		}
	}
	g.Again = depend.OtherHeadings(p, l.tree.File)
	dp.Goal = strings.Join(trimLines(goal), "\n")
	return dp, g
}
