package depend

import (
	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
)

// Item is the engine's input for one item.
type Item struct {
	Key    ir.Key
	Title  string
	Word   string     // what it is called: "Task"; "" if nothing says it
	At     diag.Range // of the key
	Number Number
	Also   []string // further names
	Group  int32    // index into Input.Groups, -1: none
	Marked bool     // carries the dialect's parallel mark

	FirstPart int32 // index of the first of its parts, in the same group; 0: it has none
	After     []Statement
	drawn     *drawn      // nil where no list or drawing speaks of it
	Blocks    []Statement // reverse labels
	Soft      []Statement
	Prose     []Clause
	Near      []Statement // lines that look like a label but are not
	Owns      []string    // globs; only looked at for scope edges
}

// Statement is the value of a label, or one bullet below it.
type Statement struct {
	Text  string
	At    diag.Range // of Text
	typ   ir.EdgeType
	again bool // another item has the same statement, and what is wrong with it was reported there

	add bool // besides the numbers whatever the dialect says

	blocks bool // in near: what is named waits for the item
	named  bool // in near: the line is named like a label, and worth a warning whatever it says
	title  bool // in near: it is in a title
	label  bool // in near: the line has a label's name
	listed bool // in near: the line is an entry of a list
	bold   bool // in near: its name is bold
}

// Clause is prose in one of the known forms, "(after 1.1 merged)".
type Clause struct {
	ids []string
	ats []diag.Range
}

// Group is a phase, or its equivalent.
type Group struct {
	ID     string
	Title  string
	At     diag.Range
	Number Number
	Also   []string // further ids
	Word   string   // what it is called: "Week"
	After  []Statement
	drawn  *drawn         // nil where no list or drawing speaks of it
	Blocks []Statement    // reverse labels
	Again  []OtherHeading // what other headings of it say
}

// Input is the engine's input for one plan.
type Input struct {
	File   string
	Items  []Item // in document order
	Groups []Group
	Splits []Split
	Orders []syntax.Order // lists, waves and drawings outside the items
	Rules  Rules

	Serialize bool // items that own the same files get an order
}

// Split is a plain number that stands for its letters.
type Split struct {
	ID     string
	Number Number
}
