package depend

import (
	"iter"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode"

	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/text"
)

// targetKind says what a part of a dependency value means.
type targetKind uint8

const (
	toItem      targetKind = iota + 1 // one item
	toRange                           // the items from lo to hi, in numerical order
	toGroupEnds                       // the ends of a group
	toGroup                           // every item of a group
	toPrevious                        // every item that is before
	toEarlier                         // every item of the groups that are before
)

// target is what one part of a value names.
type target struct {
	kind   targetKind
	item   int32   // toItem
	groups []int32 // toGroup, toGroupEnds: indices; read only
	lo, to Number
	at     diag.Range
}

// reading is what a whole value says.
type reading struct {
	targets []target
	at      diag.Range // of the value
	none    bool       // a none-form
	prose   bool       // a part in none of the known forms
	wrong   bool       // a part that was reported as an error
	unread  []Span
	// items that text mentions, in no form that makes a dependency
	mentions []int32
	tail     int // where the parts begin that say nothing, after all that do or nearly do
}

// targets yields what readings name.
func targets(rs []reading) iter.Seq[target] {
	return func(yield func(target) bool) {
		for _, r := range rs {
			for _, t := range r.targets {
				if !yield(t) {
					return
				}
			}
		}
	}
}

// says reports whether the value states anything: targets, or none.
func (r reading) says() bool { return len(r.targets) > 0 || r.none || r.wrong }

// read parses a value. Findings go to diags.
func (n *Names) read(st Statement, diags *diag.List) reading { return n.parser(st, diags).value() }

func (n *Names) parser(st Statement, diags *diag.List) *valueParser {
	return &valueParser{Names: n, raw: st.Text, text: n.marked.mask(n.unwrap(st.Text)), at: st.At, diags: diags, out: reading{at: st.At}}
}

// Unread returns the parts of a value that name nothing.
func (n *Names) Unread(st Statement) []Span {
	p := n.parser(st, new(diag.List))
	p.quiet = true
	return p.value().unread
}

// Finds reports whether a value names an item or a group, without a reason if not.
func (n *Names) Finds(st Statement) bool { return len(n.read(st, new(diag.List)).targets) > 0 }

// valueParser reads one value of a dependency label.
type valueParser struct {
	*Names
	raw   string // as it is in the source
	text  string // the same, masked
	at    diag.Range
	diags *diag.List
	quiet bool            // unknown ids are someone else's to report
	taken map[string]bool // see inValue
	carry wordKind        // the keyword of the part before: "Sprints 1.2, 1.3"
	out   reading
}

type wordKind uint8

const (
	noWord wordKind = iota
	itemWord
	groupWord
)

func (p *valueParser) value() reading {
	whole := strings.ToLower(strings.TrimSpace(strings.TrimRight(strings.TrimSpace(p.raw), ".")))
	if noneForms[whole] {
		p.out.none = true
		return p.out
	}
	parts := split(p.text)
	near := false
	for _, sp := range parts {
		nearly := false
		if len(p.out.targets) == 0 && SaysNone(p.text[sp.Start:sp.End]) || noneLead(p.text[sp.Start:sp.End]) {
			p.out.none = true
		} else if !p.part(sp) && !p.reasoned(sp) {
			p.out.unread = append(p.out.unread, sp)
			if nearly = p.nearWord(sp) || p.nearMiss(sp) || p.nearAll(sp); !nearly {
				continue
			}
			near = true
		}
		p.out.tail = len(p.out.unread) // for now, of those parts
	}
	p.out.tail = tailOf(p.out.unread[p.out.tail:], len(p.text))
	if len(p.out.targets) > 0 {
		p.out.none = false
	}
	p.out.prose = len(p.out.unread) > 0
	if !p.out.says() && !near && p.nearNone(parts) {
		p.out.unread = p.out.unread[1:]
		p.out.tail = tailOf(p.out.unread, len(p.text))
	} else if !p.nearTitle() && !p.out.says() && !near {
		p.diags.Add(diag.New("dependency-prose", p.at, "the value names no item, so it makes no edge").
			WithDetail("%q is kept as prose. To make a dependency of it, write the ids of items, for example %q.", clip(strings.TrimSpace(p.raw)), p.someIDs()))
	}
	return p.out
}

func tailOf(unread []Span, end int) int {
	if len(unread) > 0 {
		return unread[0].Start
	}
	return end
}

var (
	noneWords = []string{"none", "nothing", "no dependency", "no prerequisite", "no blocker"}
	nearNones = sync.OnceValue(func() *syntax.NearWords { return syntax.NewNearWords(syntax.NearValues, noneWords) })
)

// nearNone parses a value that says "none" in the plural, and reports one that
// nearly says it: as a whole, or in its first part, before a dash.
func (p *valueParser) nearNone(parts []Span) bool {
	if len(parts) == 0 {
		return false
	}
	whole := trim(p.text, Span{0, len(p.text)})
	if near, ok := nearNones().Find(p.text[whole.Start:whole.End]); ok {
		return p.reportNone(whole, near)
	}
	s := p.text[parts[0].Start:parts[0].End]
	for _, dash := range []string{" - ", " – ", " — ", " -- "} {
		if before, _, ok := strings.Cut(s, dash); ok {
			s = strings.TrimSpace(before)
		}
	}
	if _, p.out.none = syntax.KnownWord(s, noneWords); p.out.none {
		return true
	}
	near, ok := nearNones().Find(s)
	return ok && p.reportNone(Span{parts[0].Start, parts[0].Start + len(s)}, near)
}

func (p *valueParser) reportNone(sp Span, near string) bool {
	p.out.wrong = true
	p.diags.Add(NearValue(p.rng(sp), p.text[sp.Start:sp.End], near, "a dependency label"))
	return true
}

// noneLead recognises "None - can run in parallel" and "Nothing, first task".
func noneLead(s string) bool {
	w, rest, _ := strings.Cut(strings.ToLower(s), " ")
	rest = strings.TrimSpace(rest)
	if w != "none" && w != "nothing" {
		return false
	}
	return rest == "" || slices.ContainsFunc([]string{"-", "–", "—", ":", "required", "needed"}, func(dash string) bool { return strings.HasPrefix(rest, dash) })
}

// phrase adds to a word those after it with which it is a keyword: "Task Group 1".
func (p *valueParser) phrase(w string, rest Span) (string, Span) {
	long := w
	for at, n := rest, 0; n < 3 && at.Start < at.End; n++ {
		next, behind := word(p.text, at)
		long += " " + strings.ToLower(next)
		at = behind
		if lw := strings.ToLower(long); p.itemWords[lw] || p.groupWords[lw] {
			w, rest = lw, behind
		}
	}
	return w, rest
}

// part reads one part; false if it is prose.
func (p *valueParser) part(sp Span) bool {
	if i, ok := p.Names.item(p.text[sp.Start:sp.End]); ok && p.carry != groupWord { // whatever words it is made of
		p.add(target{kind: toItem, item: i}, sp)
		return true
	}
	if read, all := p.all(sp); all {
		return read
	}
	w, rest := word(p.text, sp)
	if strings.EqualFold(w, "both") && rest.Start < rest.End { // "both 1.1 and 1.2"
		sp = rest
		w, rest = word(p.text, sp)
	}
	w, rest = p.phrase(w, rest)
	lw := strings.ToLower(w)
	if rest.Start < rest.End {
		switch {
		case p.itemWords[lw] && !(p.groupWords[lw] && p.beginsWithGroup(rest)):
			if p.itemOrRange(rest, p.ownItem[lw]) {
				p.carry = itemWord
				return true
			}
			return false
		case p.groupWords[lw]:
			if p.groupOrRange(rest, true) {
				p.carry = groupWord
				return true
			}
			return false
		}
	}
	return p.carry == groupWord && p.groupOrRange(sp, false) || p.itemOrRange(sp, false) || p.bareGroups && p.groupOrRange(sp, false)
}

// beginsWithGroup reports whether an id of a group is first: "2" of "Sprint 2-3" where
// groups are called sprints.
func (p *valueParser) beginsWithGroup(sp Span) bool {
	s := p.text[sp.Start:sp.End]
	end := strings.IndexFunc(s, func(r rune) bool { return r != '.' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if end < 0 {
		end = len(s)
	}
	_, ok := p.Names.group(strings.TrimRight(s[:end], "."))
	return ok
}

// groupOrRange reads what follows a group keyword: an id, a range of ids, with
// or without "complete". keyword says that the keyword is in this part.
func (p *valueParser) groupOrRange(sp Span, keyword bool) bool {
	if len(p.groups) == 0 {
		return false
	}
	kind := toGroupEnds
	fs := strings.Fields(p.text[sp.Start:sp.End])
	for len(fs) > 1 {
		last := strings.ToLower(fs[len(fs)-1])
		if slices.Contains(doneWords, last) {
			kind = toGroup
		} else if last != "is" && last != "are" {
			break
		}
		fs = fs[:len(fs)-1]
	}
	id := strings.Join(fs, " ")
	g, ok := p.Names.group(id)
	if !ok && len(fs) > 1 { // with its title: "Epic 1: Foundation"
		g, ok = p.Names.group(strings.TrimSuffix(fs[0], ":"))
		ok = ok && isTitle(strings.Join(fs[1:], " "), p.groups[g].Title)
	}
	if ok {
		p.add(target{kind: kind, groups: []int32{g}}, sp)
		return true
	}
	for lo, hi := range cuts(id) {
		a, okA := p.Names.group(lo)
		b, okB := p.Names.group(dropWord(hi, p.groupWords))
		if okA && okB {
			gs := p.groupsBetween(a, b)
			if len(gs) == 0 {
				return p.backwards(sp)
			}
			p.add(target{kind: kind, groups: gs}, sp)
			return true
		}
	}
	if keyword && len(fs) == 1 && digit(id[0]) {
		return p.unknownGroup(sp, id)
	}
	return false
}

// groupsBetween returns the groups from a to b, both included: by their numbers
// where these can be compared, else as they are in the document.
func (n *Names) groupsBetween(a, b int32) []int32 {
	lo, hi := n.groups[a].Number, n.groups[b].Number
	if n.groupOrder == nil {
		n.orderGroups()
	}
	if lo.family() != hi.family() || len(lo.Parts) == 0 {
		return n.groupOrder[""][a:max(a, b+1)]
	}
	idx := n.groupOrder["="+lo.family()]
	i := sort.Search(len(idx), func(i int) bool { return n.groups[idx[i]].Number.compareAll(lo) >= 0 })
	j := sort.Search(len(idx), func(i int) bool { return n.groups[idx[i]].Number.compareAll(hi) > 0 })
	return idx[i:max(i, j)]
}

// orderGroups puts the groups in the order of the document, below "", and those of each
// family of numbers in that of the numbers.
func (n *Names) orderGroups() {
	n.groupOrder = map[string][]int32{}
	for g := range n.groups {
		family := "=" + n.groups[g].Number.family()
		n.groupOrder[""] = append(n.groupOrder[""], int32(g))
		n.groupOrder[family] = append(n.groupOrder[family], int32(g))
	}
	for family, idx := range n.groupOrder {
		if family != "" {
			slices.SortStableFunc(idx, func(a, b int32) int { return n.groups[a].Number.compareAll(n.groups[b].Number) })
		}
	}
}

func (p *valueParser) unknownGroup(sp Span, id string) bool {
	if p.out.wrong = true; p.quiet {
		return true
	}
	d := diag.Newf("unknown-dependency", p.rng(sp), "there is no group %q", clip(id))
	near, _ := p.nearOtherGroup(id)
	p.diags.Add(instead(d, "The plan has no phase or group with this id.", near, " Name one that exists, or remove it from the list."))
	return true
}

// instead sets the detail of a diagnostic: what is wrong, and the nearest id, else what to do.
func instead(d diag.Diagnostic, wrong, near, other string) diag.Diagnostic {
	if near != "" {
		return d.WithDetail("%s Did you mean %q?", wrong, near)
	}
	return d.WithDetail("%s%s", wrong, other)
}

func (p *valueParser) backwards(sp Span) bool {
	p.diags.Add(diag.New("dependency-range", p.rng(sp), "the range runs backwards").
		WithDetail("%q ends before it begins, so it names nothing. Write the smaller id first.", clip(p.text[sp.Start:sp.End])))
	p.out.wrong = true
	return true
}

// dropWord cuts a repeated keyword off: "1.1 to Sprint 1.4".
func dropWord(s string, words wordSet) string {
	if w, rest := word(s, Span{0, len(s)}); rest.Start < rest.End && words[strings.ToLower(w)] {
		return s[rest.Start:]
	}
	return s
}

func (p *valueParser) add(t target, sp Span) {
	t.at = p.rng(sp)
	p.out.targets = append(p.out.targets, t)
}

func (p *valueParser) rng(sp Span) diag.Range { return p.at.Sub(sp.Start, sp.End) }

// clip shortens what is quoted in a summary.
func clip(s string) string {
	const most = 24
	return text.Shorten(s, most)
}
