package depend

import "github.com/ralph-compiler/ralph/compiler/syntax"

// Rules are values of the dialect's attributes, as plan-language §4 names them.
type Rules struct {
	itemWords, groupWords []string
	sequence              bool   // letters = sequence
	numbers               string // always, unless_explicit, never
	groups                string // barrier, chain, none
	InDocument            bool   // items follow the document, not their numbers
	add                   bool   // explicit = add
	whole                 bool   // ids are whole numbers: 2.5 is between 2 and 3
	Grouped               bool   // groups have headings: an item may be in none
	alone                 bool   // items are headings, and nothing groups them
	ignoreCase            bool
	zeros                 bool   // leading zeros make no other id: 01 is 1
	MaxEdges              int    // 0: MostEdges
	key                   string // of the front matter, that says what an item waits for; "" where that is a label
}

// MostEdges bounds the edges of a plan that have no other bound.
const MostEdges = 2_000_000

// stating says how to declare a dependency of an item.
func (r Rules) stating() string {
	if r.key != "" {
		return "Write \"" + r.key + ": [id]\" into their entries"
	}
	return "Give them a \"Depends on\" label"
}

// RulesOf returns the rules of a dialect.
func RulesOf(d syntax.Dialect, maxEdges int) Rules {
	key := ""
	if d.In == syntax.InFrontMatter && len(d.Columns.Depends) > 0 {
		key = d.Columns.Depends[0]
	}
	return Rules{
		key:       key,
		itemWords: d.Item.Keywords, groupWords: d.Phase.Keywords,
		sequence: d.Letters == "sequence" || InLists(d), numbers: d.Numbers, groups: d.Groups,
		// Lists and tables are read from top to bottom; headings carry numbers.
		InDocument: d.Groups == "chain" || !inHeadings(d),
		alone:      d.Phase.None() && inHeadings(d),
		whole:      d.WholeNumbers(), add: d.Explicit == "add", ignoreCase: d.IgnoreCase, zeros: d.Name != "sprint", MaxEdges: maxEdges,
	}
}

func inHeadings(d syntax.Dialect) bool { return d.In == syntax.InHeading || d.In == "" }

// InLists reports whether items follow each other as they are in lists or tables: letters
// mean nothing there.
func InLists(d syntax.Dialect) bool { return d.Groups == "chain" && !inHeadings(d) }
