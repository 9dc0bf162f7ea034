package depend

import (
	"iter"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/text"
)

// itemOrRange reads an id or a range of ids; own says that the dialect's own item
// keyword is before.
func (p *valueParser) itemOrRange(sp Span, own bool) bool {
	s := p.text[sp.Start:sp.End]
	if i, ok := p.Names.item(s); ok {
		p.add(target{kind: toItem, item: i}, sp)
		return true
	}
	if first, rest, ok := strings.Cut(s, " "); ok {
		if i, known := p.Names.item(strings.TrimSuffix(first, ":")); known && p.restIsHarmless(i, rest) {
			p.add(target{kind: toItem, item: i}, sp)
			return true
		}
	}
	if bare := p.withoutDone(sp); len(p.splits) > 0 {
		if num, ok := p.Names.split(p.text[bare.Start:bare.End]); ok {
			p.add(target{kind: toRange, lo: num, to: num}, sp)
			return true
		}
	}
	if p.itemRange(p.withoutDone(sp)) {
		return true
	}
	if strings.ContainsAny(s, " \t") {
		return false
	}
	if plain := strings.ToLower(PlainID(s, true)); plain != s {
		if i, ok := p.Names.item(plain); ok {
			p.diags.Add(diag.Newf("look-alike-id", p.rng(sp), "%q is not written plainly", clip(s)).
				WithDetail("%s. Write %q.", Oddity(s, plain), plain).WithFix(p.rng(sp), plain).
				WithRelated(p.items[i].At, "%s is here", plain))
			p.out.wrong = true
			return true
		}
	}
	num, _ := ParseNumber(s)
	known := p.shapes[num.Shape] && len(num.Parts) > 0
	if !known && !(own && len(num.Parts) > 0) {
		return false
	}
	if _, group := p.Names.group(s); group && p.bareGroups {
		return false
	}
	p.unknownItem(sp, s)
	return true
}

// withoutDone cuts "complete", "are merged" and the like off the end.
func (p *valueParser) withoutDone(sp Span) Span {
	for {
		s := p.text[sp.Start:sp.End]
		i := strings.LastIndexByte(s, ' ')
		if i < 0 || !isWord(s[i+1:], doneWords, auxiliaries) {
			return sp
		}
		sp = trim(p.text, Span{sp.Start, sp.Start + i})
	}
}

// restIsHarmless recognises what may follow an id: "1.2 merged", or the
// item's own title.
func (p *valueParser) restIsHarmless(item int32, rest string) bool {
	told := slices.ContainsFunc(strings.Fields(rest), func(w string) bool { return !isWord(w, doneWords, auxiliaries) })
	return !told || isTitle(rest, p.items[item].Title)
}

// isTitle reports whether what follows an id is the title of what it names.
func isTitle(rest, title string) bool {
	rest = strings.TrimLeft(rest, " :-–—")
	return title != "" && len(rest) <= 4*len(title) && strings.EqualFold(text.OneLine(rest), text.OneLine(mask(title)))
}

func (p *valueParser) unknownItem(sp Span, id string) {
	if p.out.wrong = true; p.quiet {
		return
	}
	near, ok := p.nearOther(id)
	d := instead(diag.Newf("unknown-dependency", p.rng(sp), "there is no item %q", clip(id)), "No item of the plan has this id.", near, " Name one that exists, or remove it from the list.")
	if ok {
		d = d.WithFix(p.rng(sp), near)
		if i, known := p.Names.item(near); known {
			d = d.WithRelated(p.items[i].At, "%s is here", near)
		}
	}
	p.diags.Add(d)
}

// itemRange reads "1.2-1.6", "1.1 through 1.5", "BMP-001-006", "1.2a-c".
func (p *valueParser) itemRange(sp Span) bool {
	s := p.text[sp.Start:sp.End]
	for lo, hi := range cuts(s) {
		a, okA := ParseNumber(lo)
		if !okA || !p.shapes[a.Shape] || len(a.Parts) == 0 {
			continue
		}
		b, okB := completeEnd(a, dropWord(hi, p.itemWords))
		if !okB {
			continue
		}
		a, b = p.itemNumber(a), p.itemNumber(b)
		if a.compareAll(b) > 0 {
			return p.backwards(sp)
		}
		ok := p.end(sp, lo, a)
		if b.Compare(a) != 0 {
			ok = p.end(sp, hi, b) && ok
		}
		if ok {
			p.add(target{kind: toRange, lo: a, to: b}, sp)
		}
		return true
	}
	return false
}

// itemNumber returns the number of the item that has this one as a further name.
func (n *Names) itemNumber(num Number) Number {
	if !n.named {
		return num
	}
	if i, ok := n.item(num.Text()); ok {
		return n.items[i].Number
	}
	return num
}

// class says which numbers are in one order for ranges: where ids are whole
// numbers, decimals are between them.
func (n *Names) class(num Number) string {
	if n.whole {
		return num.family()
	}
	return num.Shape
}

// end checks that an end of a range exists: as an item, or as a number with
// letters (1.2 where 1.2a and 1.2b are).
func (p *valueParser) end(sp Span, text string, num Number) bool {
	if _, ok := p.byNumber(num); ok {
		return true
	}
	at := sp
	if i := strings.Index(p.text[sp.Start:sp.End], text); i >= 0 {
		at = Span{sp.Start + i, sp.Start + i + len(text)}
	}
	p.unknownItem(at, text)
	return false
}

// byNumber finds an item of this number; a plain number is also found by its
// lettered items.
func (n *Names) byNumber(num Number) (int32, bool) {
	idx := n.sorted(n.class(num))
	i, ok := slices.BinarySearchFunc(idx, num, func(at int32, b Number) int { return n.items[at].Number.compareAll(b) })
	if ok || i < len(idx) && num.Letters() == "" && n.items[idx[i]].Number.SameBase(num) {
		return idx[i], true
	}
	return 0, false
}

// between returns the items from lo to hi, both included; a plain hi includes
// its lettered items when it is not an item itself.
func (n *Names) between(lo, hi Number) []int32 {
	idx := n.sorted(n.class(lo))
	cmp := func(at int32, b Number) int { return n.items[at].Number.compareAll(b) }
	i, _ := slices.BinarySearchFunc(idx, lo, cmp)
	j, exact := slices.BinarySearchFunc(idx, hi, cmp)
	if exact {
		j++
	}
	for !exact && j < len(idx) && hi.Letters() == "" && n.items[idx[j]].Number.SameBase(hi) {
		j++
	}
	return idx[i:max(i, j)]
}

// sorted returns the items of one class in numerical order.
func (n *Names) sorted(class string) []int32 {
	if n.order == nil {
		n.order = map[string][]int32{}
		for i := range n.items {
			s := n.class(n.items[i].Number)
			n.order[s] = append(n.order[s], int32(i))
		}
		for _, idx := range n.order {
			slices.SortStableFunc(idx, func(a, b int32) int { return n.items[a].Number.compareAll(n.items[b].Number) })
		}
	}
	return n.order[class]
}

// completeEnd gives the right end of a range the prefix that it leaves out:
// BMP-001 and 006 make BMP-006, 1.2a and c make 1.2c.
func completeEnd(a Number, hi string) (Number, bool) {
	b, ok := ParseNumber(hi)
	if !ok {
		return Number{}, false
	}
	if b.Shape == a.Shape {
		return b, true
	}
	if len(hi) == 1 && letter(hi[0]) && len(a.Letters()) == 1 {
		parts := slices.Clone(a.Parts)
		parts[len(parts)-1].Letters = strings.ToLower(hi)
		return Number{a.Shape, parts}, true
	}
	if len(b.Parts) == 0 || len(b.Parts) > len(a.Parts) || !strings.HasSuffix(a.Shape, b.Shape) {
		return Number{}, false
	}
	return Number{a.Shape, slices.Concat(a.Parts[:len(a.Parts)-len(b.Parts)], b.Parts)}, true
}

var rangeSigns = []string{" through ", " thru ", " to ", "...", "..", "…", "–", "—", "-"}

// cuts yields every way to take s for a range.
func cuts(s string) iter.Seq2[string, string] {
	return func(yield func(lo, hi string) bool) {
		if len(s) > 256 { // no id is that long
			return
		}
		low := strings.ToLower(s)
		if len(low) != len(s) {
			low = s
		}
		for _, sign := range rangeSigns {
			for from := 0; ; {
				i := strings.Index(low[from:], sign)
				if i < 0 {
					break
				}
				i += from
				from = i + len(sign)
				lo, hi := strings.TrimSpace(s[:i]), strings.TrimSpace(s[from:])
				if lo != "" && hi != "" && !yield(lo, hi) {
					return
				}
			}
		}
	}
}
