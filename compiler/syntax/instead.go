package syntax

import (
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lists"
)

// instead says how the plan would have to be written so that a dialect finds items in it:
// with an example from what is there. "" if nothing looks like a list of work.
func (p *parser) instead(blocks []block) string {
	var levels [7]int
	var first [7]*block
	var bullet *block
	table := false
	for _, b := range lists.Each(blocks) {
		switch {
		case b.kind == fenceBlock && p.holdsPlan(b):
			return fmt.Sprintf("The content of the fence in lines %d to %d is code, not items: if it is the plan, delete these two lines.",
				p.file.Position(int(b.start)).Line, p.file.Position(int(b.end)).Line)
		case b.kind == headingBlock && int(b.level) < len(levels) && b.level > 1:
			if levels[b.level]++; first[b.level] == nil {
				first[b.level] = b
			}
		case b.kind == listBlock && len(b.kids) > 1 && bullet == nil && len(b.kids[0].kids) > 0 && b.kids[0].kids[0].kind == paraBlock:
			bullet = &b.kids[0].kids[0]
		case b.kind == paraBlock && p.src[b.start] == '|' && strings.Count(p.src[b.start:b.end], "\n|") > 2:
			table = true
		}
	}
	for level := len(levels) - 1; level > 1; level-- {
		if levels[level] < 2 || bullet != nil && level == 2 {
			continue
		}
		b := first[level]
		return fmt.Sprintf("If its headings are the items, number them, \"%s 1.1 %s\", and use the dialect section.", strings.Repeat("#", level), p.sample(int(b.a), int(b.b)))
	}
	switch {
	case table:
		return "If the rows of its table are the items, call the column of their ids \"ID\", and use the dialect table."
	case bullet != nil:
		return fmt.Sprintf("If its bullets are the items, give them check boxes, \"- [ ] %s\", and use the dialect todo.", p.sample(int(bullet.start), int(bullet.end)))
	}
	return ""
}

// holdsPlan reports whether a fence of markdown has a heading or a check box in it.
func (p *parser) holdsPlan(b *block) bool {
	if name := p.language(b); name != "md" && name != "markdown" {
		return false
	}
	for line := range strings.Lines(p.src[b.a:b.b]) {
		line = strings.TrimLeft(line, " \t")
		if text := strings.TrimLeft(line, "#"); text != line && strings.HasPrefix(text, " ") || strings.HasPrefix(line, "- [") {
			return true
		}
	}
	return false
}

// sample is the first line of a text, for an example.
func (p *parser) sample(at, end int) string {
	in := p.plain(at, min(end, lineEnd(p.src, at)))
	return clip(strings.TrimSpace(in.Value), 40)
}
