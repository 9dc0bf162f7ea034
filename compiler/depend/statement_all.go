package depend

import (
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
)

// all reads "all", "all tasks", "all previous phases", "all Phase 2 sprints", "all
// sprints in Phase 2". isAll says that the part begins with such a word: where it
// continues with words that are not ids it is prose, and none of them is a name.
func (p *valueParser) all(sp Span) (read, isAll bool) {
	fs := strings.Fields(strings.ToLower(p.text[sp.Start:sp.End]))
	if len(fs) == 0 || fs[0] != "all" && fs[0] != "every" {
		return false, false
	}
	fs = p.keywords(skip(fs[1:], "of", "the", "these"))
	for len(fs) > 0 && (slices.Contains(doneWords, fs[len(fs)-1]) || fs[len(fs)-1] == "are" || fs[len(fs)-1] == "is") {
		fs = fs[:len(fs)-1]
	}
	previous := len(fs) > 0 && slices.Contains(previousWords, fs[0])
	if previous {
		fs = fs[1:]
	}
	kind := toPrevious
	switch {
	case len(fs) == 0:
	case len(fs) > 1 && previous:
		return false, true
	case len(fs) > 1:
		kind = 0
	case p.itemWords[fs[0]] || previous && fs[0] == "work":
	case p.groupWords[fs[0]]:
		if previous {
			kind = toEarlier
		}
	default:
		return false, true
	}
	if kind > 0 {
		p.add(target{kind: kind}, sp)
		return true, true
	}
	// all Phase 2 sprints | all sprints of Phase 2
	if len(fs) >= 4 && p.itemWords[fs[0]] && (fs[1] == "in" || fs[1] == "of" || fs[1] == "from") {
		fs = skip(fs[2:], "the")
	}
	if len(fs) == 3 && p.itemWords[fs[2]] {
		fs = fs[:2]
	}
	if len(fs) != 2 || !p.groupWords[fs[0]] {
		return false, true
	}
	g, ok := p.Names.group(fs[1])
	if !ok {
		return strings.ContainsAny(fs[1], "0123456789") && p.unknownGroup(sp, fs[1]), true
	}
	p.add(target{kind: toGroup, groups: []int32{g}}, sp)
	return true, true
}

// keywords makes one word of words that are a keyword together: "task groups".
func (p *valueParser) keywords(fs []string) (out []string) {
	const most = 4
	for len(fs) > 0 {
		n := min(len(fs), most)
		for ; n > 1; n-- {
			if w := strings.Join(fs[:n], " "); p.itemWords[w] || p.groupWords[w] {
				break
			}
		}
		out, fs = append(out, strings.Join(fs[:n], " ")), fs[n:]
	}
	return out
}

func skip(fs []string, words ...string) []string {
	for len(fs) > 0 && slices.Contains(words, fs[0]) {
		fs = fs[1:]
	}
	return fs
}

// nearAll warns of "all" that continues with other words: "All phases substantially
// complete".
func (p *valueParser) nearAll(sp Span) bool {
	if w, rest := word(p.text, sp); rest.Start == rest.End || !strings.EqualFold(w, "all") && !strings.EqualFold(w, "every") {
		return false
	}
	p.asProse(sp, "\"All\" goes on with words that are not ids, so it makes no dependency. Write \"all\" alone, \"all previous phases\" or the ids, and the rest in parentheses: \"all (when they are tested)\".")
	return true
}

// maxReasons bounds the dashes at which a part is cut.
const maxReasons = 3

// reasoned reads a part with a reason after a dash: "Task 1 - for the tests". The
// last dash is tried first: in "1.1 - 1.3 - for the tests" the first one makes a range.
func (p *valueParser) reasoned(sp Span) bool {
	for _, at := range p.dashes(sp) {
		if head := trim(p.text, Span{sp.Start, at}); head.Start < head.End && p.part(head) {
			p.nearReason(trim(p.text, Span{at, sp.End}))
			return true
		}
	}
	return false
}

// nearReason warns of a reason that begins with another item: "Task 1 - Task 3 for the
// tests" may mean both. Numbers alone may count anything.
func (p *valueParser) nearReason(sp Span) {
	s := strings.TrimLeft(p.text[sp.Start:sp.End], "-–— ")
	w, rest := word(s, Span{0, len(s)})
	id, _, _ := strings.Cut(s[rest.Start:], " ")
	if !p.itemWords[strings.ToLower(w)] {
		id = w
	}
	id = strings.TrimRight(id, ".:!?")
	if _, ok := p.Names.item(id); !ok || id == w && strings.Trim(id, "0123456789.") == "" {
		return
	}
	p.diags.Add(diag.Newf("dependency-near-miss", p.rng(sp), "%q is read as a reason", clip(s)).
		WithDetail("It follows a dash and begins with %s, so it makes no dependency on it. Write a comma to name both, or the range alone, or put the reason in parentheses.", clip(id)))
}

// dashes returns the places of the first dashes with spaces around them, last one first.
func (p *valueParser) dashes(sp Span) (out []int) {
	for i := sp.Start + 1; i < sp.End && len(out) < maxReasons; i++ {
		if !blank(p.text[i-1]) {
			continue
		}
		for _, dash := range []string{"- ", "– ", "— ", "-- "} {
			if strings.HasPrefix(p.text[i:sp.End], dash) {
				out = slices.Insert(out, 0, i)
				break
			}
		}
	}
	return out
}
