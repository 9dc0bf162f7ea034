package compiler

import (
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
)

// splits hands what a plain number says to the lettered items below its heading:
// dependencies to those that have none of their own, but for those that join
// others; policy; its title and goal for the prompt.
func (l *lowering) splits() {
	for i := range l.tree.Splits {
		sp := &l.tree.Splits[i]
		num, _ := parseNumber(sp.ID)
		l.deps.splits = append(l.deps.splits, depSplit{id: sp.ID, num: num})
		said, g := l.group(sp)
		again := false // reported for the first one
		for _, k := range sp.Items {
			n, d := &l.draft.Nodes[k], &l.deps.items[k]
			n.Within = append([]string{heading(sp.Keyword, sp.ID, sp.Name)}, goal(said.Goal)...)
			n.Fragments = append(slices.Clip(said.Fragments), n.Fragments...)
			if len(d.num.letters()) > 1 {
				continue
			}
			if len(d.after) == 0 {
				d.after = shared(g.after, again)
			}
			d.blocks = append(d.blocks, shared(g.blocks, again)...)
			again = true
		}
	}
}

func shared(sts []depStatement, again bool) []depStatement {
	out := slices.Clone(sts)
	for i := range out {
		out[i].again = again
	}
	return out
}

// depSplit is a plain number that stands for its letters.
type depSplit struct {
	id  string
	num number
}

// split returns the number of lettered items that a plain one stands for.
func (n *names) split(id string) (number, bool) {
	num, ok := n.splits[n.fold(strings.TrimSuffix(id, ":"))]
	return num, ok
}

// group lowers what stands below the heading of a group.
func (l *lowering) group(p *syntax.Phase) (ir.DraftPhase, depGroup) {
	dp := ir.DraftPhase{ID: p.ID, Name: p.Name, Range: p.Range, Word: p.Keyword, Fragments: fragments(p.Section.Fragments)}
	num, _ := parseNumber(p.ID)
	g := depGroup{id: p.ID, title: p.Name, at: cmpRange(p.IDRange, p.Range), num: num, also: p.Names, word: p.Keyword}
	var goal []string
	p.Section.Labels = l.within(p.Section.Labels)
	for j := range p.Section.Labels {
		lb := &p.Section.Labels[j]
		switch lb.Name {
		case syntax.Goal, syntax.Description:
			goal = append(goal, paragraphs(lb)...)
		case syntax.DependsOn:
			g.after = append(g.after, statements(lb, l.tree.File)...)
		case syntax.Blocks:
			g.blocks = append(g.blocks, statements(lb, l.tree.File)...)
		}
	}
	g.again = groupsAgain(p, l.tree.File)
	dp.Goal = strings.Join(trimLines(goal), "\n")
	return dp, g
}

// clauseItems returns the items that a sentence names by an id.
func (d *depender) clauseItems(id string) []int32 {
	if i, ok := d.names.item(id); ok {
		return []int32{i}
	}
	if num, ok := d.names.split(id); ok {
		return d.names.between(num, num)
	}
	return nil
}

// listOf is where what is wrong with a statement goes: one that several items
// share is reported once.
func (d *depender) listOf(st depStatement) *diag.List {
	if st.again {
		return new(diag.List)
	}
	return d.diags
}
