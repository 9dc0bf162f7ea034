package depend

import (
	"maps"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/spell"
)

// Names is what values can name: the items and groups of one plan.
type Names struct {
	items      []Item
	groups     []Group
	byKey      idIndex
	byGroup    idIndex         // by id in lower case
	shapes     map[string]bool // of all keys
	ownItem    wordSet         // the dialect's item keywords
	itemWords  wordSet
	groupWords wordSet
	bareGroups bool // the dialect's groups have no keyword: a bare id names one
	ignoreCase bool
	whole      bool              // ids are whole numbers
	named      bool              // items have further names
	splits     map[string]Number // plain numbers that stand for their letters
	marked     markedKeys
	order      map[string][]int32 // by shape, made by sorted
	groupOrder map[string][]int32 // made by orderGroups
	titles     map[string]string  // keys by title, made by titled
	suggested  int
}

// maxSuggestions bounds how often one plan looks for the nearest known id:
// each look costs the number of items.
const maxSuggestions = 100

// NewNames returns what the values of a plan can name.
func NewNames(in *Input) *Names {
	n := &Names{
		items: in.Items, groups: in.Groups,
		byKey:   idIndex{ids: make(map[string]int32, len(in.Items)), zeros: in.Rules.zeros},
		byGroup: idIndex{ids: make(map[string]int32, len(in.Groups)), zeros: in.Rules.zeros},
		shapes:  map[string]bool{}, splits: map[string]Number{}, bareGroups: len(in.Rules.groupWords) == 0, ignoreCase: in.Rules.ignoreCase, whole: in.Rules.whole,
	}
	own, groups := newWords(in.Rules.itemWords), newWords(in.Rules.groupWords)
	n.ownItem = own
	n.itemWords = newWords(plainItemWords).without(groups)
	maps.Copy(n.itemWords, own)
	n.groupWords = newWords(plainGroupWords).without(own)
	maps.Copy(n.groupWords, groups.without(own))
	for i := range in.Items {
		n.byKey.add(n.fold(string(in.Items[i].Key)), int32(i))
		n.shapes[in.Items[i].Number.Shape] = true
		n.marked.see(string(in.Items[i].Key))
	}
	for _, sp := range in.Splits {
		n.splits[n.fold(sp.ID)] = sp.Number
	}
	for i := range in.Items { // no other item has one of these names
		for _, name := range in.Items[i].Also {
			n.byKey.ids[n.fold(name)] = int32(i)
			n.named = true
		}
	}
	for i := range in.Groups {
		if w := strings.ToLower(in.Groups[i].Word); w != "" && !strings.Contains(w, " ") && !own[w] && !n.groupWords[w] {
			maps.Copy(n.groupWords, newWords([]string{w}))
		}
		for _, id := range append(slices.Clip(in.Groups[i].Also), in.Groups[i].ID) {
			if id != "" {
				n.byGroup.add(strings.ToLower(id), int32(i))
			}
		}
	}
	return n
}

func (n *Names) fold(key string) string {
	if n.ignoreCase {
		return strings.ToLower(key)
	}
	return key
}

func (n *Names) item(key string) (int32, bool) { return n.byKey.find(n.fold(key)) }

func (n *Names) group(id string) (int32, bool) { return n.byGroup.find(strings.ToLower(id)) }

// numbered finds the item whose number an id is in another form: T1 where T001 is.
func (n *Names) numbered(id string) (int32, bool) {
	num, ok := ParseNumber(id)
	if !ok || len(num.Parts) == 0 {
		return 0, false
	}
	i, ok := n.byNumber(num)
	return i, ok && n.items[i].Number.Compare(num) == 0
}

// near returns the known key nearest to word, but for some.
func (n *Names) near(word string, but func(string) bool) (string, bool) {
	if n.suggested++; n.suggested > maxSuggestions {
		return "", false
	}
	// The same number in another form: 2 where 002 is.
	if i, ok := n.numbered(word); ok && !but(string(n.items[i].Key)) {
		return string(n.items[i].Key), true
	}
	// A letter was left out: 1.2 where only 1.2a is.
	for _, suffix := range []string{"a", "b", "A"} {
		if _, ok := n.byKey.ids[word+suffix]; ok && !but(word+suffix) {
			return word + suffix, true
		}
	}
	keys := lists.Map(n.items, func(x Item) string { return string(x.Key) })
	return spell.NearestID(word, slices.DeleteFunc(keys, but))
}

// nearGroup returns the id of a group nearest to word, but for some.
func (n *Names) nearGroup(word string, but func(string) bool) (string, bool) {
	if n.suggested++; n.suggested > maxSuggestions {
		return "", false
	}
	ids := lists.Map(n.groups, func(x Group) string { return x.ID })
	return spell.NearestID(word, slices.DeleteFunc(ids, but))
}

// Numbered reports whether a value begins with a word for items or groups and holds a
// number.
func (n *Names) Numbered(value string) bool {
	word, rest, _ := strings.Cut(strings.ToLower(value), " ")
	return (n.itemWords[word] || n.groupWords[word]) && strings.ContainsAny(rest, "0123456789")
}
