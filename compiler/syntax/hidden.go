package syntax

import (
	"slices"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// A plan without items may have them in a fence or a comment that is never closed, or
// directly below HTML. No other dialect is named then: with it the plan would compile to
// what is left of it.

// hiding are the codes that say that a fence, a comment or HTML hides what would be read.
var hiding = []diag.Code{"unclosed-fence", "fence-hides-items", "unclosed-comment", "html-hides-items"}

// Hiding returns the message about it; nil if there is none.
func Hiding(l diag.List) *diag.Diagnostic {
	if i := hides(l); i >= 0 {
		return &l[i]
	}
	return nil
}

func hides(l diag.List) int {
	return slices.IndexFunc(l, func(d diag.Diagnostic) bool { return slices.Contains(hiding, d.Code) })
}

// hidden is what a fence or a comment hides of a dialect.
type hidden struct {
	said    diag.Diagnostic
	dialect *Dialect
	items   int // in sight and hidden
}

// hiddenOf returns what is hidden of the dialect of a parser that has read the blocks. Check
// boxes without an id below HTML do not count: plans of other tools have them.
func (p *parser) hiddenOf(blocks []block, items int) (h hidden, ok bool) {
	had := len(p.diags)
	p.fences(blocks)
	found := p.diags[had:]
	i := hides(found)
	if i < 0 || found[i].Code == "html-hides-items" && p.dialect.In == InTodo {
		return h, false
	}
	return hidden{found[i], &p.dialect, items + p.hid}, true
}

// mostHidden returns the one with most items; headings come first, since they are what
// people see to be missing.
func mostHidden(all []hidden) *hidden {
	var best *hidden
	for _, h := range lists.Each(all) {
		headings := h.dialect.In == InHeading
		if best == nil || headings && best.dialect.In != InHeading || headings == (best.dialect.In == InHeading) && h.items > best.items {
			best = h
		}
	}
	return best
}

// sayHidden reports it in place of the message that there are no items.
func (p *parser) sayHidden(own bool, all []hidden) {
	h := mostHidden(all)
	if h == nil && !own {
		return
	}
	p.plan.Hidden = true
	p.diags = slices.DeleteFunc(p.diags, func(d diag.Diagnostic) bool { return d.Code == "no-items" })
	if own {
		d := &p.diags[hides(p.diags)]
		d.Severity = diag.Error
		return
	}
	d := h.said
	d.Severity = diag.Error
	p.report(d.WithDetail("%s The dialect %s would read what is hidden: choose a dialect when nothing is.", d.Detail, h.dialect.Name))
}
