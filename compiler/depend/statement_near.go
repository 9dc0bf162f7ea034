package depend

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/text"
)

// nearTitle reports the title of another item, as the whole value or a part of it that says
// nothing: only ids make dependencies.
func (p *valueParser) nearTitle() (found bool) {
	if len(p.out.unread) == 0 {
		return false
	}
	self, _ := before(p.items, p.at, func(it *Item) (string, diag.Range) { return string(it.Key), it.At })()
	for _, sp := range append(slices.Clip(p.out.unread), Span{0, len(p.text)}) {
		sp = trim(p.text, sp)
		if key, ok := p.titled(p.text[sp.Start:sp.End]); ok && key != self {
			p.asProse(sp, "It is the title of %s, and only ids make dependencies. Write %[1]q.", key)
			found = true
		}
	}
	return found
}

// titled returns the key of the item that has a title.
func (n *Names) titled(title string) (string, bool) {
	if n.titles == nil {
		n.titles = make(map[string]string, len(n.items))
		for i := len(n.items) - 1; i >= 0; i-- {
			n.titles[strings.ToLower(text.OneLine(mask(n.items[i].Title)))] = string(n.items[i].Key)
		}
	}
	key, ok := n.titles[strings.ToLower(text.OneLine(title))]
	return key, ok && title != ""
}

// nearWord reports a part whose words nearly are those of a group, an item or of
// "all previous": "Phse 2", "all previuos".
func (p *valueParser) nearWord(sp Span) bool {
	w, rest := word(p.text, sp)
	name := p.text[rest.Start:rest.End]
	known := p.itemWords
	_, found := p.Names.item(name)
	if _, group := p.Names.group(name); group && !found {
		known, found = p.groupWords, true
	}
	if strings.EqualFold(w, "all") {
		w, _, _ = strings.Cut(name, " ")
		known, found = newWords(previousWords), true
	}
	if !found || len(w) > 32 || p.Names.suggested >= maxSuggestions {
		return false
	}
	p.Names.suggested++
	near, ok := syntax.NearMiss(w, slices.Sorted(maps.Keys(known)))
	if !ok {
		return false
	}
	at := sp.Start + strings.Index(p.text[sp.Start:sp.End], w)
	p.out.wrong = true
	p.diags.Add(NearValue(p.rng(Span{at, at + len(w)}), w, near, "a dependency label"))
	return true
}

// nearMiss warns about prose that contains the id of an item: a reader may take
// it for a dependency, ralph does not.
func (p *valueParser) nearMiss(sp Span) bool {
	s := p.text[sp.Start:sp.End]
	if w, rest := word(p.text, sp); p.groupWords[strings.ToLower(w)] {
		id, _, _ := strings.Cut(p.text[rest.Start:rest.End], " ")
		if g, ok := p.Names.group(strings.TrimRight(id, ".:;!?")); ok {
			p.asProse(sp, "The text names %s %s, but not in a form that makes a dependency, so it makes none. Write the id alone and put the reason in parentheses: \"%[1]s %[2]s (reason)\".", w, p.groups[g].ID)
			return true
		}
	}
	for i, f := range strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '/' || r == '|' || r == '\\' }) {
		f = strings.Trim(f, ".:;!?'\"")
		at, ok := p.Names.item(f)
		if !ok {
			f = p.unprefixed(f)
			at, ok = p.Names.item(f)
		}
		if !ok && len(p.shapes) == 1 && f != "" && strings.Trim(f, "0123456789") == "" {
			if key := p.bare(f); key != "" {
				f = key
				at, ok = p.Names.item(key)
			}
		}
		if !ok && p.stem(f) {
			p.asProse(sp, "Ids of this plan begin like that, but %q names none of them, so it makes no dependency. Write the ids, or a range such as \"1.1-1.4\".", clip(f))
			return true
		}
		if !ok || len(p.items[at].Number.Parts) == 0 || p.items[at].Number.Shape == "#" && i == 0 {
			continue
		}
		p.out.mentions = append(p.out.mentions, at)
		p.asProse(sp, "The text names %s, but not in a form that makes a dependency, so it makes none. Write the id alone and put the reason in parentheses: \"%[1]s (reason)\".", f)
		return true
	}
	return false
}

// asProse warns of a part that is prose and looks like a dependency.
func (p *valueParser) asProse(sp Span, detail string, args ...any) {
	p.diags.Add(diag.Newf("dependency-near-miss", p.rng(sp), "%q is read as prose", clip(strings.TrimSpace(p.text[sp.Start:sp.End]))).WithDetail(detail, args...))
}

// unprefixed cuts the initial or the whole of an item word off an id: "S1.2",
// "sprint_1.2". Only ids of several numbers are as unlikely to be anything else.
func (p *valueParser) unprefixed(f string) string {
	i := strings.IndexAny(f, "0123456789")
	if i <= 0 || !strings.Contains(f[i:], ".") {
		return f
	}
	lead := strings.ToLower(strings.TrimRight(f[:i], "_-#"))
	for w := range p.itemWords {
		if lead == w || lead == w[:1] {
			return f[i:]
		}
	}
	return f
}

// stem reports whether ids begin with f, "1.x" or "US-2.*": all of them may be
// meant.
func (p *valueParser) stem(f string) bool {
	f = strings.TrimRight(strings.TrimSuffix(strings.TrimSuffix(f, "x"), "X"), ".-")
	if f == "" || !digit(f[len(f)-1]) || p.Names.suggested >= maxSuggestions {
		return false
	}
	p.Names.suggested++
	return slices.ContainsFunc(p.items, func(it Item) bool {
		rest, below := strings.CutPrefix(string(it.Key), f)
		return below && rest != "" && (rest[0] == '.' || rest[0] == '-')
	})
}

// bare finds the item that a bare number means to a reader where all ids have
// one form and one number: 3 where T-001 to T-009 are.
func (p *valueParser) bare(f string) string {
	num, ok := ParseNumber(f)
	if !ok || len(p.items) == 0 || len(p.items[0].Number.Parts) != 1 || p.items[0].Number.Shape == "#" {
		return ""
	}
	num.Shape = p.items[0].Number.Shape
	if i, known := p.byNumber(num); known {
		return string(p.items[i].Key)
	}
	return ""
}
