package compiler

import (
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/spell"
)

// names is what values can name: the items and groups of one plan.
type names struct {
	items      []depItem
	groups     []depGroup
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
	splits     map[string]number // plain numbers that stand for their letters
	marked     markedKeys
	keys       []string           // made by near, on first use
	order      map[string][]int32 // by shape, made by sorted
	groupOrder map[string][]int32 // made by orderGroups
	groupIDs   []string
	suggested  int
}

// maxSuggestions bounds how often one plan looks for the nearest known id:
// each look costs the number of items.
const maxSuggestions = 100

func newNames(in *depInput) *names {
	n := &names{
		items: in.items, groups: in.groups,
		byKey:   idIndex{ids: make(map[string]int32, len(in.items)), zeros: in.rules.zeros},
		byGroup: idIndex{ids: make(map[string]int32, len(in.groups)), zeros: in.rules.zeros},
		shapes:  map[string]bool{}, bareGroups: len(in.rules.groupWords) == 0, ignoreCase: in.rules.ignoreCase, whole: in.rules.whole,
	}
	own, groups := newWords(in.rules.itemWords), newWords(in.rules.groupWords)
	n.ownItem = own
	n.itemWords = newWords(plainItemWords).without(groups)
	n.groupWords = newWords(plainGroupWords).without(own)
	for w := range own {
		n.itemWords[w] = true
		delete(groups, w)
	}
	for w := range groups {
		n.groupWords[w] = true
	}
	for i := range in.items {
		n.byKey.add(n.fold(string(in.items[i].key)), int32(i))
		n.shapes[in.items[i].num.shape] = true
		n.marked.see(string(in.items[i].key))
	}
	for _, sp := range in.splits {
		if n.splits == nil {
			n.splits = map[string]number{}
		}
		n.splits[n.fold(sp.id)] = sp.num
	}
	for i := range in.items { // no other item has one of these names
		for _, name := range in.items[i].also {
			n.byKey.ids[n.fold(name)] = int32(i)
			n.named = true
		}
	}
	for i := range in.groups {
		if w := strings.ToLower(in.groups[i].word); w != "" && !strings.Contains(w, " ") && !own[w] && !n.groupWords[w] {
			for form := range newWords([]string{w}) {
				n.groupWords[form] = true
			}
		}
		for _, id := range append(slices.Clip(in.groups[i].also), in.groups[i].id) {
			if id != "" {
				n.byGroup.add(strings.ToLower(id), int32(i))
			}
		}
	}
	return n
}

func (n *names) fold(key string) string {
	if n.ignoreCase {
		return strings.ToLower(key)
	}
	return key
}

func (n *names) item(key string) (int32, bool) {
	return n.byKey.find(n.fold(key))
}

func (n *names) group(id string) (int32, bool) {
	return n.byGroup.find(strings.ToLower(id))
}

// near returns the known key nearest to word, but for some.
func (n *names) near(word string, but func(string) bool) (string, bool) {
	if n.suggested++; n.suggested > maxSuggestions {
		return "", false
	}
	if n.keys == nil {
		n.keys = make([]string, 0, len(n.items))
		for i := range n.items {
			n.keys = append(n.keys, string(n.items[i].key))
		}
	}
	// The same number in another form: 2 where 002 is.
	if num, ok := parseNumber(word); ok && len(num.parts) > 0 {
		if i, known := n.byNumber(num); known && n.items[i].num.compare(num) == 0 && !but(string(n.items[i].key)) {
			return string(n.items[i].key), true
		}
	}
	// A letter was left out: 1.2 where only 1.2a is.
	for _, suffix := range []string{"a", "b", "A"} {
		if _, ok := n.byKey.ids[word+suffix]; ok && !but(word+suffix) {
			return word + suffix, true
		}
	}
	return spell.NearestID(word, slices.DeleteFunc(slices.Clone(n.keys), but))
}

// nearGroup returns the id of a group nearest to word, but for some.
func (n *names) nearGroup(word string, but func(string) bool) (string, bool) {
	if n.suggested++; n.suggested > maxSuggestions {
		return "", false
	}
	if n.groupIDs == nil {
		for i := range n.groups {
			n.groupIDs = append(n.groupIDs, n.groups[i].id)
		}
	}
	return spell.NearestID(word, slices.DeleteFunc(slices.Clone(n.groupIDs), but))
}
