package depend

import (
	"slices"
	"strings"

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
	keys       []string           // made by near, on first use
	order      map[string][]int32 // by shape, made by sorted
	groupOrder map[string][]int32 // made by orderGroups
	groupIDs   []string
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
		shapes:  map[string]bool{}, bareGroups: len(in.Rules.groupWords) == 0, ignoreCase: in.Rules.ignoreCase, whole: in.Rules.whole,
	}
	own, groups := newWords(in.Rules.itemWords), newWords(in.Rules.groupWords)
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
	for i := range in.Items {
		n.byKey.add(n.fold(string(in.Items[i].Key)), int32(i))
		n.shapes[in.Items[i].Number.Shape] = true
		n.marked.see(string(in.Items[i].Key))
	}
	for _, sp := range in.Splits {
		if n.splits == nil {
			n.splits = map[string]Number{}
		}
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
			for form := range newWords([]string{w}) {
				n.groupWords[form] = true
			}
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

func (n *Names) item(key string) (int32, bool) {
	return n.byKey.find(n.fold(key))
}

func (n *Names) group(id string) (int32, bool) {
	return n.byGroup.find(strings.ToLower(id))
}

// near returns the known key nearest to word, but for some.
func (n *Names) near(word string, but func(string) bool) (string, bool) {
	if n.suggested++; n.suggested > maxSuggestions {
		return "", false
	}
	if n.keys == nil {
		n.keys = make([]string, 0, len(n.items))
		for i := range n.items {
			n.keys = append(n.keys, string(n.items[i].Key))
		}
	}
	// The same number in another form: 2 where 002 is.
	if num, ok := ParseNumber(word); ok && len(num.Parts) > 0 {
		if i, known := n.byNumber(num); known && n.items[i].Number.Compare(num) == 0 && !but(string(n.items[i].Key)) {
			return string(n.items[i].Key), true
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
func (n *Names) nearGroup(word string, but func(string) bool) (string, bool) {
	if n.suggested++; n.suggested > maxSuggestions {
		return "", false
	}
	if n.groupIDs == nil {
		for i := range n.groups {
			n.groupIDs = append(n.groupIDs, n.groups[i].ID)
		}
	}
	return spell.NearestID(word, slices.DeleteFunc(slices.Clone(n.groupIDs), but))
}

// Numbered reports whether a value begins with a word for items or groups and holds a
// number.
func (n *Names) Numbered(value string) bool {
	word, rest, _ := strings.Cut(strings.ToLower(value), " ")
	return (n.itemWords[word] || n.groupWords[word]) && strings.ContainsAny(rest, "0123456789")
}
