package depend

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
)

// orderNames knows how lists and drawings name groups: by keyword and id, by
// title, by a user story. Where a dialect has no groups, items that are headings
// are named so.
type orderNames struct {
	*Names
	itemsAsGroups bool             // items stand for groups
	units         []orderUnit      // the groups, or the items that stand for them
	unitWords     wordSet          // what they are called
	exact         map[string]int32 // whole titles; -1: several
	begin         map[string]int32 // beginnings of titles; -1: several
	stories       map[string][]int32
	told          []int32 // all with a story in their titles
	work          int     // bounded by maxOrderWork
}

type orderUnit struct {
	title  string
	number Number
}

// maxTitleWords bounds how many words of a title are looked at as its beginning.
const maxTitleWords = 8

var (
	storyInTitle = lazyregexp.New(`(?i)\b(?:US|User Story)[ -]?0*(\d{1,6})\b`)
	storyBegin   = lazyregexp.New(`(?i)^(?:US|User Story)[ -]?0*(\d{1,6})\b`)
	storyName    = lazyregexp.New(`(?i)^(?:US|User Story|User Stories)[ -]?0*(\d{1,6})(?:\s*[-–]\s*(?:US[ -]?)?0*(\d{1,6}))?$`)
)

func newOrderNames(in *Input) *orderNames {
	o := &orderNames{Names: NewNames(in), exact: map[string]int32{}, begin: map[string]int32{}, stories: map[string][]int32{}}
	o.itemsAsGroups = len(in.Groups) == 0 && in.Rules.alone
	o.unitWords = maps.Clone(o.groupWords)
	if o.itemsAsGroups {
		maps.Copy(o.unitWords, o.itemWords)
		o.units = lists.Map(o.items, func(it Item) orderUnit { return orderUnit{it.Title, it.Number} })
	} else {
		o.units = lists.Map(o.groups, func(g Group) orderUnit {
			return orderUnit{strings.TrimPrefix(g.Title, "N: "), g.Number} // "Phase N: Polish", as a template has it
		})
	}
	for u, unit := range o.units {
		ws := strings.Fields(plainWords(unit.title))
		keep(o.exact, strings.Join(ws, " "), int32(u))
		key := ""
		for _, w := range ws[:min(len(ws), maxTitleWords)] {
			key = strings.TrimSpace(key + " " + w)
			keep(o.begin, key, int32(u))
		}
		found := storyInTitle.FindAllStringSubmatch(unit.title, 16)
		for _, m := range found {
			if us := o.stories[m[1]]; len(us) == 0 || us[len(us)-1] != int32(u) {
				o.stories[m[1]] = append(us, int32(u))
			}
		}
		if len(found) > 0 {
			o.told = append(o.told, int32(u))
		}
	}
	return o
}

func keep(m map[string]int32, key string, u int32) {
	if old, known := m[key]; known && old != u {
		u = -1
	}
	m[key] = u
}

// plainWords writes the words of a text in lower case with single spaces.
func plainWords(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), " ")
}

func (o *orderNames) unit(id string) (int32, bool) {
	if o.itemsAsGroups {
		return o.item(id)
	}
	return o.group(id)
}

func (o *orderNames) vertex(u int32) int32 {
	if o.itemsAsGroups {
		return u
	}
	return u + int32(len(o.items))
}

// plain finds the item, else the group, of an id alone.
func (o *orderNames) plain(id string) (int32, bool) {
	if i, ok := o.item(id); ok {
		return i, true
	}
	if i, ok := o.Names.numbered(id); ok {
		return i, true
	}
	if g, ok := o.group(id); ok {
		return g + int32(len(o.items)), true
	}
	return 0, false
}

// trimID cuts off what may be around an id in a list: "[1.2]*".
func trimID(s string) string { return strings.Trim(strings.TrimSpace(s), "[]()*`\"") }

// unitsNamed returns what "Storage (Phase 2)" names: with both, what both name.
// clash says that they name different groups.
func (o *orderNames) unitsNamed(s string) (us []int32, clash bool) {
	base, behind, _ := strings.Cut(s, "(")
	behind, _, _ = strings.Cut(behind, ")")
	us, more := o.named(base), o.named(behind)
	if len(us) == 0 || len(more) == 0 {
		return append(us, more...), false
	}
	us = slices.DeleteFunc(slices.Clone(us), func(u int32) bool { return !slices.Contains(more, u) })
	return us, len(us) == 0
}

// named returns the groups that a text names as a whole.
func (o *orderNames) named(s string) []int32 {
	s = text.OneLine(strings.Trim(s, " .:;,*_`"))
	if s == "" || len(s) > 256 {
		return nil
	}
	if us := o.numbered(s); us != nil {
		return us
	}
	if m := storyName.FindStringSubmatch(s); m != nil {
		return o.storiesBetween(m[1], m[2])
	}
	key := plainWords(s)
	switch key {
	case "user stories", "user story phases":
		return o.told
	case "final phase", "last phase":
		if u, ok := o.unit("final"); ok {
			return []int32{u}
		}
		return []int32{int32(len(o.units) - 1)}[:min(1, len(o.units))]
	}
	for _, k := range []string{key, strings.TrimSuffix(key, " phase"), strings.TrimSuffix(key, " phases")} {
		for _, m := range []map[string]int32{o.exact, o.begin} {
			if u, ok := m[k]; ok && u >= 0 && k != "" {
				return []int32{u}
			}
		}
	}
	return nil
}

// numbered reads "Phase 2", "Phases 2-4", "Phases 2, 3 and 5", "Phase 3+".
func (o *orderNames) numbered(s string) (us []int32) {
	w, rest := word(s, Span{0, len(s)})
	if rest.Start >= rest.End || !o.unitWords[strings.ToLower(w)] {
		return nil
	}
	s = s[rest.Start:]
	for _, sp := range splitIDs(s) {
		id := s[sp.Start:sp.End]
		if from, ok := strings.CutSuffix(id, "+"); ok {
			u, ok := o.unit(strings.TrimSpace(from))
			if !ok {
				return nil
			}
			us = append(us, o.behind(u)...)
		} else if u, ok := o.unit(id); ok {
			us = append(us, u)
		} else if more := o.unitRange(id); len(more) > 0 {
			us = append(us, more...)
		} else {
			return nil
		}
	}
	slices.Sort(us)
	return slices.Compact(us)
}

// splitIDs is split without cutting at "+", which may be part of "3+".
func splitIDs(s string) []Span {
	out := split(strings.ReplaceAll(s, "+", "\x00"))
	return slices.DeleteFunc(out, func(sp Span) bool { return sp.Start >= sp.End })
}

// unitRange reads "2-4" and "2 to Phase 4".
func (o *orderNames) unitRange(s string) []int32 {
	for lo, hi := range cuts(s) {
		if o.work += len(o.units); o.work > maxOrderWork {
			return nil
		}
		a, okA := o.unit(lo)
		b, okB := o.unit(dropWord(hi, o.unitWords))
		if okA && okB {
			return o.unitsBetween(a, b)
		}
	}
	return nil
}

func (o *orderNames) unitsBetween(a, b int32) []int32 {
	if !o.itemsAsGroups {
		return o.groupsBetween(a, b)
	}
	if o.class(o.items[a].Number) != o.class(o.items[b].Number) {
		return nil
	}
	return o.between(o.items[a].Number, o.items[b].Number)
}

// behind returns a group and all of a higher number.
func (o *orderNames) behind(from int32) (us []int32) {
	a := o.units[from].number
	if o.work += len(o.units); o.work > maxOrderWork || len(a.Parts) == 0 {
		return nil
	}
	for u, unit := range o.units {
		if unit.number.family() == a.family() && a.compareAll(unit.number) <= 0 {
			us = append(us, int32(u))
		}
	}
	return us
}

func (o *orderNames) storiesBetween(lo, hi string) (us []int32) {
	if hi == "" {
		return o.stories[lo]
	}
	a, _ := ParseNumber(lo)
	b, _ := ParseNumber(hi)
	if o.work += len(o.told); o.work > maxOrderWork {
		return nil
	}
	for _, u := range o.told {
		for _, m := range storyInTitle.FindAllStringSubmatch(o.units[u].title, 16) {
			if n, _ := ParseNumber(m[1]); a.Compare(n) <= 0 && n.Compare(b) <= 0 {
				us = append(us, u)
				break
			}
		}
	}
	return us
}
