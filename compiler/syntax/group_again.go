package syntax

import "github.com/ralph-compiler/ralph/diag"

// A heading that repeats a group's id at another level ("### Epic 2" in an
// overview, "## Epic 2" above the stories) speaks for the group: its dependency
// labels and its Status count.

// closeAgain reads the section of such a heading, which ends at element i.
func (b *builder) closeAgain(i int) {
	p := b.p
	var s Section
	p.section(&s, phaseSection, nil, b.begin, i)
	a := GroupAgain{Range: p.rng(span{int(p.stream[b.begin-1].b.a), int(p.stream[b.begin-1].b.b)})}
	for _, l := range s.Labels {
		if l.Name == DependsOn || l.Name == Blocks || l.Name == Status {
			a.Labels = append(a.Labels, l)
		}
	}
	if len(a.Labels) > 0 {
		b.said = append(b.said, said{p.repeating[b.begin-1], a})
	}
	for k := b.begin; k < i; k++ { // policy belongs to the group or plan around it
		if p.stream[k].b.kind == fenceBlock {
			b.rest = append(b.rest, k)
		}
	}
}

type said struct {
	id string
	GroupAgain
}

// speakFor attaches what other headings said to the groups.
func (b *builder) speakFor() {
	if len(b.said) == 0 {
		return
	}
	index := map[string]int{}
	for i := range b.p.plan.Phases {
		id := b.p.plainID(b.p.plan.Phases[i].ID)
		if _, twice := index[id]; !twice {
			index[id] = i
		}
	}
	for _, s := range b.said {
		if i, known := index[b.p.plainID(s.id)]; known {
			ph := &b.p.plan.Phases[i]
			ph.Again = append(ph.Again, s.GroupAgain)
		}
	}
}

// groupStatus returns the Status label of a group, below any of its headings, and
// whether it says that the work is finished.
func (p *parser) groupStatus(ph *Phase) (*Label, bool) {
	found, done := status(&ph.Section)
	for i := range ph.Again {
		l, other := status(&Section{Labels: ph.Again[i].Labels})
		switch {
		case l == nil:
		case found == nil:
			found, done = l, other
		case other != done:
			p.report(diag.Newf("group-labels-differ", l.Range(), "two headings of %s differ in Status", clip(ph.Keyword+" "+ph.ID, 24)).WithDetail(
				"One says that the work is finished, the other one does not. Change one of them, or delete it.").
				WithRelated(found.Range(), "the other Status"))
		}
	}
	return found, done
}
