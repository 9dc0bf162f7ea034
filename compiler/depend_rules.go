package compiler

import "github.com/ralph-compiler/ralph/compiler/syntax"

// Values of the dialect's attributes, as plan-language §4 names them.
type depRules struct {
	itemWords, groupWords []string
	sequence              bool   // letters = sequence
	numbers               string // always, unless_explicit, never
	groups                string // barrier, chain, none
	inDocument            bool   // items follow the document, not their numbers
	add                   bool   // explicit = add
	whole                 bool   // ids are whole numbers: 2.5 stands between 2 and 3
	grouped               bool   // groups have headings: an item may stand in none
	alone                 bool   // items are headings, and nothing groups them
	ignoreCase            bool
	zeros                 bool   // leading zeros make no other id: 01 is 1
	maxEdges              int    // 0: mostEdges
	key                   string // of the front matter, that says what an item waits for; "" where that is a label
}

// mostEdges bounds the edges of a plan that nothing else bounds.
const mostEdges = 2_000_000

// stating says how an item is told to wait.
func (r depRules) stating() string {
	if r.key != "" {
		return "Write \"" + r.key + ": [id]\" into their entries"
	}
	return "Give them a \"Depends on\" label"
}

func rulesOf(d syntax.Dialect, maxEdges int) depRules {
	key := ""
	if d.In == syntax.InFrontMatter && len(d.Columns.Depends) > 0 {
		key = d.Columns.Depends[0]
	}
	return depRules{
		key:       key,
		itemWords: d.Item.Keywords, groupWords: d.Phase.Keywords,
		sequence: d.Letters == "sequence" || inLists(d), numbers: d.Numbers, groups: d.Groups,
		// Lists and tables are read from top to bottom; headings carry numbers.
		inDocument: d.Groups == "chain" || !inHeadings(d),
		alone:      d.Phase.None() && inHeadings(d),
		whole:      d.WholeNumbers(), add: d.Explicit == "add", ignoreCase: d.IgnoreCase, zeros: d.Name != "sprint", maxEdges: maxEdges,
	}
}

func inHeadings(d syntax.Dialect) bool { return d.In == syntax.InHeading || d.In == "" }

// inLists reports whether items follow each other as they stand in lists or tables: letters
// mean nothing there.
func inLists(d syntax.Dialect) bool { return d.Groups == "chain" && !inHeadings(d) }
