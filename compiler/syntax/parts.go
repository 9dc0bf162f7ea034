package syntax

import (
	"strings"

	"github.com/ralph-compiler/ralph/internal/lazyregexp"
)

// listGroups makes groups of list items that contain items, by their place in the
// list, or because the next one continues with their id ("1", then "1.1"). One with
// work of its own stays an item besides: the first of its parts waits for it.
func (p *parser) listGroups() {
	last := -1
	for i, c := range p.live(false) {
		if last >= 0 {
			g := &p.cands[last]
			inside := p.stream[g.elem].b.kind == itemBlock && c.line.start < int(p.stream[g.elem].b.end)
			if inside || strings.HasPrefix(c.key.id, g.key.id+".") {
				p.grouped = true
				g.leads = p.worksBetween(g.elem+1, c.elem)
				g.phase = !g.leads
			}
		}
		last = i
	}
}

// worksBetween reports whether the elements [from, to), which are between a list
// item and the first of its parts, give it work of its own.
func (p *parser) worksBetween(from, to int) bool {
	for i := from; i < to; i++ {
		e := &p.stream[i]
		at, end := int(e.b.start), int(e.b.end)
		switch {
		case e.b.kind == htmlBlock, e.cand >= 0 && p.cands[e.cand].struck:
			continue
		case e.b.kind == itemBlock && e.own:
			if len(e.b.kids) == 0 || e.b.kids[0].kind == listBlock { // "- - 1.1"
				continue
			}
			end = int(e.b.kids[0].end)
		case e.to > 0:
			at, end = int(e.from), int(e.to)
		}
		for at, stop := range p.lines(at, end) {
			if line := strings.TrimLeft(p.src[at:stop], " \t>-+0123456789.)"); !tracing.MatchString(strings.TrimSpace(line)) {
				return true
			}
		}
	}
	return false
}

// tracing is a line that only names requirements: Kiro writes one below each task.
var tracing = lazyregexp.New(`(?i)^$|^([_*]+requirements?:.*[_*]|\*\s+[_*]+requirements?:.*[_*])$|^<!--.*-->$`)

// maxGroupPath bounds what each part repeats of the list item that it is a part of.
const maxGroupPath = 300

// pathsInLists puts the list item that holds others into their paths of headings:
// "## Tasks > - 2. Copier > - 2.1 Copy".
func (p *parser) pathsInLists() {
	for _, c := range p.live(false) {
		it := &p.plan.Items[c.index]
		if c.level < 7 || it.Phase < 0 {
			continue
		}
		if g := &p.plan.Phases[it.Phase]; g.Level == 7 && !(g.Led && g.ID == it.ID) && len(g.Path) <= maxGroupPath {
			own := "- " + c.path
			it.Section = strings.TrimSuffix(it.Section, own) + g.Path + " > " + own
		}
	}
}
