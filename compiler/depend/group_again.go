package depend

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
)

// OtherHeading holds the dependency labels below another heading of a group.
type OtherHeading struct {
	after, blocks []Statement
}

// OtherHeadings returns the statements of a group's other headings.
func OtherHeadings(p *syntax.Phase, file *diag.File) (out []OtherHeading) {
	for i := range p.Again {
		var a OtherHeading
		for j := range p.Again[i].Labels {
			switch lb := &p.Again[i].Labels[j]; lb.Name {
			case syntax.DependsOn:
				a.after = append(a.after, Statements(lb, file)...)
			case syntax.Blocks:
				a.blocks = append(a.blocks, Statements(lb, file)...)
			}
		}
		if len(a.after)+len(a.blocks) > 0 {
			out = append(out, a)
		}
	}
	return out
}

// hearAgain merges what other headings of a group say. Where the group has said
// it already, it has to be the same.
func (d *depender) hearAgain(g *Group, s *groupSaying, read func([]Statement) []reading) {
	hear := func(had *[]reading, sts []Statement) {
		rs := read(sts)
		switch {
		case !says(rs):
		case !says(*had):
			*had = append(*had, rs...)
		case !slices.Equal(meaning(*had), meaning(rs)):
			d.diags.Add(diag.Newf("group-labels-differ", whereSaid(rs), "two headings of %s differ", clip(strings.TrimSpace(cmp.Or(g.Word, "Phase")+" "+g.ID))).
				WithDetail("Both have a dependency label, and these name different things. Change one of them, or delete it.").
				WithRelated(whereSaid(*had), "the other label"))
		}
	}
	for _, a := range g.Again {
		hear(&s.readings, a.after)
		hear(&s.blocks, a.blocks)
	}
}

func says(rs []reading) bool { return slices.ContainsFunc(rs, reading.says) }

// whereSaid returns the place of the first value that says something.
func whereSaid(rs []reading) diag.Range {
	if k := slices.IndexFunc(rs, reading.says); k >= 0 {
		return rs[k].at
	}
	return diag.Range{}
}

// meaning lists what readings name, in a fixed order.
func meaning(rs []reading) []string {
	var out []string
	for t := range targets(rs) {
		out = append(out, fmt.Sprint(t.kind, t.item, t.groups, t.lo.Text(), t.to.Text()))
	}
	slices.Sort(out)
	return slices.Compact(out)
}
