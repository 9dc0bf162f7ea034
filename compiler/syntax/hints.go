package syntax

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
)

// maxMisses bounds the warnings about headings that nearly are items.
const maxMisses = 50

// hints says what was not read, and why: look-alikes, hidden headings, graphs.
func (p *parser) hints(blocks []block) {
	p.reportNear()
	p.reportStrays()
	p.underlined()
	if len(p.plan.Items) == 0 {
		p.noItems()
	} else {
		p.nearMisses()
		p.boxesWithoutID()
		p.innerHeadings(blocks, "")
		p.lookAlikes()
		p.orders()
	}
	p.frontMatterHides()
	p.fences(blocks)
	p.reportUnknown()
	p.others(blocks)
}

// itemForm shows what an item looks like.
func (p *parser) itemForm() string { return p.form(p.dialect.Item) }

func (p *parser) form(pattern Pattern) string {
	word := ""
	if len(pattern.Keywords) > 0 {
		word = pattern.Keywords[0] + " "
	}
	two := exampleIDs(pattern, 2)
	switch {
	case len(two) == 0:
		return fmt.Sprintf("%q with an id like %s", word+"<id>: Name", clip(pattern.ID, 60))
	case word != "" || p.dialect.In == InHeading:
		return fmt.Sprintf("%q or %q", word+two[0]+": Name", word+two[1]+": Name")
	}
	return fmt.Sprintf("%q or %q", two[0]+" Name", two[1]+" Name")
}

// noItems reports a plan without items.
func (p *parser) noItems() {
	what := map[Place]string{InHeading: "headings such as", InCheckbox: "list items with a check box such as", InBold: "bold lines such as", InTable: "table rows with an id such as"}
	mine := fmt.Sprintf("The dialect %s looks for %s %s, and found none.", p.dialect.Name, what[p.dialect.In], p.itemForm())
	switch p.dialect.In {
	case InTodo:
		mine = fmt.Sprintf("The dialect %s looks for check boxes (- [ ] text), and found none.", p.dialect.Name)
	case InFrontMatter:
		mine = fmt.Sprintf("The dialect %s looks for items in the front matter, below %s: with id, content and status, and found none.", p.dialect.Name, strings.Join(p.dialect.Item.Keywords, " or "))
	}
	if strings.IndexByte(p.src, '\n') < 0 && strings.IndexByte(p.src, '\r') >= 0 {
		mine += " The file's lines end with CR alone, which markdown does not know: save it with LF."
	}
	p.report(diag.New("no-items", p.plan.TitleRange, "the plan has no items").WithDetail("%s", mine))
}

// fences warns of fences that hide what looks like items: one that is never
// closed, or one that swallowed the opening line of the next.
func (p *parser) fences(blocks []block) {
	for _, b := range lists.Each(blocks) {
		switch b.kind {
		case fenceBlock:
			p.fenceHides(b)
			p.nearFence(b)
		case htmlBlock:
			p.commentHides(b)
			p.htmlHides(b)
		default:
			p.fences(b.kids)
		}
	}
}

func (p *parser) fenceHides(b *block) {
	content := p.src[b.a:b.b]
	unclosed := !b.closed && int(b.b) == len(p.src)
	if !unclosed && !strings.Contains(content, "```") && !strings.Contains(content, "~~~") {
		return
	}
	mark := p.src[b.start]
	length := run(p.src, int(b.start), len(p.src))
	swallowed := -1
	for at, end := range p.lines(int(b.a), int(b.b)) {
		if text := strings.TrimLeft(p.src[at:end], " "); text != "" && text[0] == mark {
			if n := fenceOpens(text); n > 0 && n >= length && strings.TrimSpace(text[n:]) != "" {
				swallowed = at
				break
			}
		}
	}
	hidden := p.hiddenLines(int(b.a), int(b.b), unclosed)
	if len(hidden) == 0 || !unclosed && swallowed < 0 {
		return
	}
	open := p.file.Range(int(b.start), lineEnd(p.src, int(b.start)))
	var d diag.Diagnostic
	if unclosed {
		d = diag.Newf("unclosed-fence", open, "this fence is never closed and hides %s", text.Counted(len(hidden), "item or label", "items and labels")).WithDetail(
			"Everything below it is code, to the end of the file. Close it with a line of %s.", p.src[b.start:int(b.start)+min(length, 20)])
	} else {
		d = diag.Newf("fence-hides-items", open, "this fence hides %s", text.Count(len(hidden), "item")).WithDetail(
			"Another fence seems to begin inside it, so it was probably meant to be closed before. Close it above the first hidden heading, or open it with more marks than the fences inside.")
		d = d.WithRelated(p.file.Range(swallowed, lineEnd(p.src, swallowed)), "a fence seems to begin here")
	}
	p.reportHidden(d, hidden)
}

// looksLikeItem reports whether a line of code would be an item or a group.
func (p *parser) looksLikeItem(at, end int) bool {
	if p.src[at:end] == "" {
		return false
	}
	if p.src[at] == '#' {
		n := run(p.src, at, end)
		if n > 6 || at+n >= end || p.src[at+n] != ' ' {
			return false
		}
		in := p.plain(at+n, end)
		if p.dialect.In == InHeading {
			if _, ok := p.readTitle(in, &p.item); ok {
				return true
			}
		}
		_, ok := p.readTitle(in, &p.phase)
		return ok
	}
	text := p.src[p.behindBullet(at, end):end]
	bullet := len(text) < end-at
	box, n := boxAt(text)
	switch p.dialect.In {
	case InTodo:
		return bullet && box != NoBox
	case InTable:
		cells := strings.Split(text, "|")
		if len(cells) < 3 || strings.TrimSpace(cells[0]) != "" {
			return false
		}
		id := strings.Trim(cells[1], " \t*`")
		key := p.item.match(id)
		return id != "" && key.look.good() && key.n == len(id)
	case InBold:
		if text = text[n:]; !strings.HasPrefix(text, "**") {
			return false
		}
	case InCheckbox:
		if !strings.HasPrefix(text, "[") || !bullet {
			return false
		}
		text = text[min(3, len(text)):]
	default:
		return false
	}
	_, ok := p.readTitle(p.plain(end-len(text), end), &p.item)
	return ok
}

// drawing reports whether a fence is a mermaid graph or a drawing in characters.
func (p *parser) drawing(b *block) bool {
	switch p.language(b) {
	case "mermaid", "dot", "graphviz":
		return true
	case "", "text", "txt", "ascii", "plaintext", "plain":
		text := p.src[b.a:b.b]
		return strings.ContainsAny(text, "→↓↑←─│└├┌▼▲►") || strings.Contains(text, "->") || strings.Contains(text, "|\n")
	}
	return false
}

// nameFinder finds ids of the plan's items and groups in text.
type nameFinder struct {
	ids      map[string]bool // as words of their own
	bare     map[string]bool // only after a keyword: "Sprint 3"
	keywords map[string]bool
}

func (p *parser) newNameFinder() *nameFinder {
	f := &nameFinder{ids: map[string]bool{}, bare: map[string]bool{}, keywords: map[string]bool{}}
	for i := range p.plan.Items {
		id := p.plan.Items[i].ID
		if strings.IndexFunc(id, func(r rune) bool { return !unicode.IsDigit(r) }) >= 0 {
			f.ids[id] = true
		} else {
			f.bare[id] = true
		}
	}
	for i := range p.plan.Phases {
		if ph := &p.plan.Phases[i]; ph.Keyword != "" {
			f.bare[ph.ID] = true
		}
	}
	for _, list := range [][]string{p.dialect.Item.Keywords, p.dialect.Phase.Keywords} {
		for _, k := range list {
			w := strings.Fields(strings.ToLower(k))
			if len(w) > 0 {
				f.keywords[w[len(w)-1]] = true
			}
		}
	}
	return f
}

// count returns how many different items or groups text names, at most limit.
func (f *nameFinder) count(text string, limit int) int {
	seen := map[string]bool{}
	last := ""
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return r >= 0x80 || !isWord(byte(r)) && r != '.' && r != '-' }) {
		w = strings.Trim(w, ".-")
		if f.ids[w] || f.bare[w] && f.keywords[strings.ToLower(strings.TrimSuffix(last, "s"))] {
			seen[w] = true
		} else if from, to, ok := strings.Cut(w, "-"); ok && f.ids[from] && f.ids[to] { // a range
			seen[from], seen[to] = true, true
		}
		if len(seen) >= limit {
			return limit
		}
		last = w
	}
	return len(seen)
}

// exampleIDs returns n ids that a pattern lets through; none if it knows none. Patterns
// are for those who write dialects: a message shows what people write.
func exampleIDs(pattern Pattern, n int) (out []string) {
	switch pattern.ID {
	case sprintID:
		return []string{"1.2", "3a.2b"}[:n]
	case phaseID:
		return []string{"3", "3a"}[:n]
	}
	m := newMatcher(pattern)
	tried := []string{"1.1", "1.2", "1", "2", "T001", "T002", "P1.1", "P1.2", "A-1", "A-2", "#1", "#2", "A", "B", "A1", "A2"}
	if len(pattern.Keywords) > 0 { // "Task 1"
		tried = append([]string{"1", "2"}, tried...)
	}
	for _, id := range tried {
		if k := m.match(id); len(out) < n && k.look == goodID && k.n == len(id) {
			out = append(out, id)
		}
	}
	if len(out) < n {
		return nil
	}
	return out
}
