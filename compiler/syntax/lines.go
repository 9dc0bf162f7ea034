package syntax

import (
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// appendLines appends the lines of a paragraph, without comments and the spaces
// at their ends.
func (p *parser) appendLines(dst []string, at, end int) []string {
	text := p.shown(at, end)
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" || strings.TrimSpace(text) == "" { // else a comment stood there
			dst = append(dst, line)
		}
	}
	return dst
}

// shown returns src[at:end] without HTML comments: what no one reads in the
// rendered plan goes to no agent.
func (p *parser) shown(at, end int) string {
	text := p.src[at:end]
	if !strings.Contains(text, "<!--") {
		return text
	}
	return cutSpans(p.src, at, end, p.plain(at, end).comments)
}

func cutSpans(src string, at, end int, spans []span) string {
	var b strings.Builder
	for _, s := range spans {
		if s.start >= at && s.start < end {
			b.WriteString(src[at:s.start])
			at = min(s.end, end)
		}
	}
	b.WriteString(src[at:end])
	return b.String()
}

// blockLines appends a block as it is in the plan: dedented, without
// comments and check boxes.
func (p *parser) blockLines(dst []string, b *block) []string {
	at, end := int(b.start), int(b.end)
	line := lineStart(p.src, at)
	col, first := columns(p.src[line:at]), true
	if b.kind == codeBlock && strings.TrimSpace(p.src[line:at]) == "" { // its indentation is what makes it code
		at, col, first = line, max(0, col-4), false
	}
	var hidden []span
	if strings.Contains(p.src[at:end], "<!--") {
		hidden = p.hidden(nil, b)
	}
	boxes := b.kind == listBlock || b.kind == itemBlock
	for ; at < end; first = false {
		next := nextLine(p.src[:end], at)
		line := p.src[at:next]
		cut := false
		if len(hidden) > 0 {
			line = cutSpans(p.src, at, next, hidden)
			for len(hidden) > 0 && hidden[0].end <= next {
				hidden = hidden[1:]
			}
			cut = len(line) < next-at
			if len(hidden) > 0 && hidden[0].start < next { // continues in the next line
				hidden[0].start = next
			}
		}
		line = strings.TrimRight(line, " \t\r\n")
		if !first {
			line = dedent(line, col)
		}
		if boxes {
			line = unboxed(line)
		}
		if !cut || line != "" {
			dst = append(dst, line)
		}
		at = next
	}
	return dst
}

// hidden collects the comments of a block, in order; code has none.
func (p *parser) hidden(dst []span, b *block) []span {
	if (b.kind == paraBlock || b.kind == htmlBlock) && strings.Contains(p.src[b.start:b.end], "<!--") {
		dst = append(dst, p.plain(int(b.start), int(b.end)).comments...)
	}
	for i := range b.kids {
		dst = p.hidden(dst, &b.kids[i])
	}
	return dst
}

// dedent takes up to n columns of space off the left.
func dedent(line string, n int) string {
	col := 0
	for i := 0; i < len(line); i++ {
		if col >= n {
			return line[i:]
		}
		switch line[i] {
		case ' ':
			col++
		case '\t':
			col += 4 - col%4
		default:
			return line[i:]
		}
	}
	return ""
}

// unboxed takes the check box off a line that begins a list item.
func unboxed(line string) string {
	text := strings.TrimLeft(line, " \t")
	n := min(len(text)-len(strings.TrimLeft(text, decimals)), 10)
	switch {
	case n > 0 && n < len(text) && (text[n] == '.' || text[n] == ')'):
		n++
	case n == 0 && text != "" && strings.IndexByte("-+*", text[0]) >= 0:
		n = 1
	default:
		return line
	}
	rest := strings.TrimLeft(text[n:], " \t")
	if rest == text[n:] {
		return line
	}
	_, k := boxAt(rest)
	if k == 0 {
		return line
	}
	return line[:len(line)-len(rest)] + rest[k:]
}

// listItemOf makes a ListItem of a block of kind itemBlock.
func (p *parser) listItemOf(b *block) ListItem {
	it := ListItem{Range: p.file.Range(int(b.start), int(b.end))}
	kids := b.kids
	if at, end, ok := b.first(); ok {
		if box, n := boxAt(p.src[at:end]); box != NoBox {
			it.Box = box
			at += n
		}
		in := p.plain(min(at, end), end)
		it.Struck = in.allStruck()
		it.Text = in.uncheckedText()
		kids = kids[1:]
	} else {
		it.Text.Range = p.file.Range(int(b.a), int(b.a))
	}
	for _, k := range lists.Each(kids) {
		if k.kind == fenceBlock && p.isPolicy(k) || k.kind == htmlBlock && strings.TrimSpace(p.shown(int(k.start), int(k.end))) == "" {
			continue
		}
		if len(it.Detail) > 0 && k.kind != listBlock {
			it.Detail = append(it.Detail, "")
		}
		from := len(it.Detail)
		it.Detail = p.blockLines(it.Detail, k)
		if k.kind == listBlock {
			for j := range it.Detail[from:] {
				it.Detail[from+j] = uncheckedLine(it.Detail[from+j])
			}
			for j := range k.kids {
				it.Items = append(it.Items, p.listItemOf(&k.kids[j]))
			}
		}
	}
	return it
}

// isPolicy reports whether a fence is "hcl ralph".
func (p *parser) isPolicy(b *block) bool {
	words := p.infoWords(b)
	return len(words) > 1 && words[0] == "hcl" && slices.Contains(words[1:], "ralph")
}

// itemFences parses the fences inside a list item that are not text: policy,
// and the commands of a check.
func (r *reader) itemFences(b *block, l *Label) {
	for _, k := range lists.Each(b.kids) {
		switch {
		case k.kind == fenceBlock && r.p.isPolicy(k):
			r.s.Fragments = append(r.s.Fragments, r.p.fragment(k))
		case k.kind == fenceBlock && l != nil && l.Name == Verify:
			if f := r.p.fenceOf(k); r.p.shell(&f, l.Written) {
				l.Fences = append(l.Fences, f)
			}
		case k.kind != quoteBlock:
			r.itemFences(k, l)
		}
	}
}

func (p *parser) fragment(b *block) Fragment {
	return Fragment{Source: p.file.Bytes[b.a:b.b:b.b], Range: p.file.Range(int(b.a), int(b.b))}
}

// boxes counts the check boxes of a block.
func (r *reader) boxes(b *block, own bool) {
	if at, end, ok := b.first(); ok && b.kind == itemBlock {
		if box, _ := boxAt(r.p.src[at:end]); box != NoBox {
			r.s.Boxes.add(box, r.p.file.Range(at, at+3))
		}
	}
	if own || b.kind == quoteBlock {
		return
	}
	for i := range b.kids {
		r.boxes(&b.kids[i], false)
	}
}

func (n *Boxes) add(box Box, at diag.Range) {
	n.Last = at
	if box == Ticked {
		n.Ticked++
		return
	}
	if n.Open++; n.Open == 1 {
		n.FirstOpen = at
	}
}

// fenceOf reads a fenced code block.
func (p *parser) fenceOf(b *block) Fence {
	f := Fence{Range: p.file.Range(int(b.a), int(b.b)), Open: p.file.Range(int(b.start), lineEnd(p.src, int(b.start)))}
	if b.info >= 0 {
		at, end := int(b.info), lineEnd(p.src, int(b.info))
		words, bad := p.attributes(at, end)
		if len(words) > 0 && words[0].ValueRange.Start == words[0].ValueRange.End && p.src[at] != '{' {
			f.Lang = words[0].Key
			words = words[1:]
		}
		f.Info = words
		f.badInfo = bad
	}
	var text strings.Builder
	for line := range strings.Lines(p.src[b.a:b.b]) {
		text.WriteString(dedent(strings.TrimRight(line, "\r\n"), int(b.col)))
		text.WriteByte('\n')
	}
	f.Content = text.String()
	return f
}

// checkVerifyFence looks at the info string of a command gate.
func (p *parser) checkVerifyFence(f *Fence) {
	known := []string{"name", "timeout", "on_failure"}
	if !f.badInfo.IsZero() {
		p.report(diag.New("fence-attribute", f.badInfo, "a quoted value is not closed").WithDetail(
			"The info string of the fence is read as name=value; close the quotes."))
	}
	for _, a := range f.Info {
		if slices.Contains(known, a.Key) {
			if a.Value == "" {
				p.report(diag.Newf("fence-attribute", a.Range, "%s has no value", a.Key).WithDetail("Write %s=value, without spaces around the sign.", a.Key))
			}
			continue
		}
		d := diag.Newf("fence-attribute", a.Range, "%s has no meaning on a check", quoted(a.Key))
		if near, ok := NearMiss(a.Key, known); ok {
			p.report(diag.Newf("near-miss-fence", a.Range, "%s is almost %s", quoted(a.Key), near).WithDetail(
				"A misspelt word would set nothing. Write %s=, or delete it.", near))
			continue
		}
		if near, ok := nearest(a.Key, known); ok {
			p.report(d.WithDetail("Did you mean %q? A check takes name=, timeout= and on_failure=.", near))
			continue
		}
		p.report(d.WithDetail("A check takes name=, timeout= and on_failure=; delete the rest."))
	}
}
