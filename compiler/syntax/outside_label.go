package syntax

// outsideLabels keeps the dependency labels of a block that stands in no section: below a
// heading that is no item and no group of the dialect.
func (p *parser) outsideLabels(b *block) {
	switch b.kind {
	case listBlock, itemBlock:
		for i := range b.kids {
			p.outsideLabels(&b.kids[i])
		}
	case paraBlock:
		for at, end := int(b.start), int(b.end); at < end; {
			stop, next := p.piece(at, end)
			if l, ok := p.labelLine(at, stop); ok && l.known && l.meant == "" && l.name.IsDependency() {
				p.plan.Outside = append(p.plan.Outside, Label{Name: l.name, Written: l.written, NameRange: p.rng(l.at), Value: p.plain(l.value, stop).Text, From: FromBold})
			}
			at = next
		}
	}
}
