package syntax

import (
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// Options configure the reading of a plan. The zero value reads the default dialect with
// the default limits.
type Options struct {
	Dialect  Dialect   // zero: Sprint()
	Dialects []Dialect // all that are known: to find out which of them would match
	Limits   Limits

	// Names makes a reader of values out of what a plan's values can name. nil: labels
	// without bold are only read beside bold ones.
	Names func(items, groups []Named) func(value string) Reading
}

// Limits bound what a plan may cost. A zero field means its default.
type Limits struct {
	Bytes int // size of the file, in bytes; default 64 MiB
	Line  int // length of a line, in bytes; default 1 MiB
	Depth int // nesting of lists and quotes; default 64
	Items int // items in a plan; default 1,000,000
}

// Plan is the tree of a plan. Everything that may be reported has a range in
// File. All slices are in document order.
type Plan struct {
	File        *diag.File
	FrontMatter FrontMatter
	Title       string     // text of the first level-1 heading that is not an item; else of the front matter; else ""
	TitleRange  diag.Range // of that heading's line; an empty range at the start if there is none
	Epic        Annotation // <!-- beads-ralph-epic: bd-… -->
	EpicSlot    Slot       // where it is to be written if Epic is not set
	Section     Section    // from the title to the next heading; its Fragments are those of all text outside phases and items
	Phases      []Phase
	Splits      []Phase // plain numbers with lettered headings below them: groups inside the phases
	Items       []Item
	Cancelled   []Cancelled // struck-through items and phases
	Outside     []Label     // dependency labels that are in no section
	Orders      []Order     // lists, waves and drawings that state an order
	Others      []Other     // what other dialects would find, where that may be more; in the order of Options.Dialects
	Unread      int         // dialects that were left out there, because the plan is large or they are many
	Hidden      bool        // there are no items, and a fence or a comment that is never closed hides some of a dialect
	Instead     string      // what to write so that a dialect finds items, if there are none
	Strays      int         // ids of items where there are no items: another dialect finds those
	Words       []string    // words that may be item keywords, if there are no items
}

// Phase is a group of items.
type Phase struct {
	ID          string     // "3a"; without letters of the group's keyword
	IDRange     diag.Range // of the id as written; empty at Range's start if there is none
	Names       []string   // further ids that the heading gives it: "62" of "Phase 61 & 62"
	Keyword     string     // as written: "Phase", "Milestone"; "" if there is none
	Name        string
	NameRange   diag.Range
	Range       diag.Range // of the heading's line; of the first item's title if Implicit
	Level       int        // of the heading, 1 to 6; 0 if Implicit
	Implicit    bool       // made from the ids of items that are in no group
	Done        bool
	DoneBy      string  // "heading", "status"
	Section     Section // up to the first item or sub-heading; Prose continues over sub-headings that are not items
	Again       []GroupAgain
	Items       []int  // indices in Plan.Items
	Path        string // "## Phase 1: A"
	StruckTitle bool
	Led         bool // the group of an item's parts, named by that item, which is its first
	Optional    bool // a star follows its check box or id
	doneAt      diag.Range
}

// GroupAgain is another heading with a group's id, at another level.
type GroupAgain struct {
	Range  diag.Range // of the heading's text
	Labels []Label    // below it: dependencies and Status
}

// Kinds of items, as their markers say.
const (
	KindWork   = "work"
	KindMerge  = "merge"
	KindGate   = "gate"
	KindManual = "manual"
)

// Item is one unit of work: a sprint, a task.
type Item struct {
	ID          string     // "1.2a": the key, without keyword; ASCII
	KeyRange    diag.Range // of the id as written; of the title if Placed
	Names       []string   // further ids that the heading gives it: "4" of "Sprint 3-4"
	Placed      bool       // the key is the item's place: not written in the plan
	Keyword     string     // as written: "Sprint"; "" if there is none
	Title       string     // without markup, markers, status, anchor, annotation, control characters
	TitleRange  diag.Range // of the title text; empty after the id if there is none
	StruckTitle bool       // the title is inside ~~, the id is not
	Range       diag.Range // of the heading's text, or of the item's first line or row
	Level       int        // of the heading, 1 to 6; 7 for other items

	Kind         string     // KindWork unless a marker says otherwise
	Parallel     bool       // (parallel), or the dialect's parallel mark
	ParallelMark diag.Range // of it
	Tags         []Text     // [US1] after the id of a checkbox item
	Optional     bool       // a star after the check box or the id
	Box          Box        // in front of it; NoBox if there is none

	Phase     int    // index in Plan.Phases; -1 if there is none
	FirstPart int    // index of the first of the item's parts, which waits for it; 0 if it has none
	Split     int    // index in Plan.Splits + 1; 0 if there is none
	Section   string // heading path: "## Phase 1: A > ### Sprint 1.2: B"

	Done      bool
	DoneBy    string     // "heading", "status", "boxes", "phase", "overview"
	DoneRange diag.Range // what says so

	Annotation Annotation
	Slot       Slot // where an annotation is to be written

	Body Section
}

// Annotation is an id that the compiler wrote into the plan.
type Annotation struct {
	ID    string     // "bd-a1b2c3"; "" if there is none
	Range diag.Range // of the whole comment
}

// Set reports whether there is an annotation.
func (a Annotation) Set() bool { return a.ID != "" }

// Slot is a place where an annotation can be inserted: write
// Prefix + comment + Suffix at Offset. Line ends are those of the file.
type Slot struct {
	Offset int // in bytes, from 0
	Form   SlotForm
	Prefix string
	Suffix string
}

// SlotForm says what an inserted annotation looks like.
type SlotForm uint8

// Forms of a slot.
const (
	OwnLine SlotForm = iota + 1 // a line of its own
	LineEnd                     // at the end of an item's first line
	CellEnd                     // at the end of a table's title cell
)

// Cancelled is a struck-through item or phase.
type Cancelled struct {
	ID    string
	Range diag.Range // of the id
	Phase bool
}

// Section is the content below a heading or an item's first line.
type Section struct {
	Range     diag.Range // from after the heading to the section's end
	Labels    []Label    // known labels, from all sources, in document order
	Prose     []string   // lines for people and prompts: no known labels, comments, annotations or check marks
	Tasks     []ListItem // of Tasks and Deliverables, or the section's lists (see docs)
	Fragments []Fragment // hcl fences with "ralph"
	Outputs   []Fence    // json fences with output=
	Boxes     Boxes      // all check boxes of the section

	statuses []lostStatus
}

// Label returns the first label of that name, or nil.
func (s *Section) Label(n LabelName) *Label {
	return lists.Find(s.Labels, func(l *Label) bool { return l.Name == n })
}

// Boxes counts check boxes.
type Boxes struct {
	Ticked, Open int
	FirstOpen    diag.Range
	Last         diag.Range
}

// LabelFrom is the kind of text that a label was read from.
type LabelFrom uint8

// Sources of labels.
const (
	FromBold        LabelFrom = iota + 1 // **Label**: value
	FromHeading                          // #### Label
	FromDirective                        // <!-- ralph: label=value -->
	FromCell                             // table cell
	FromTitle                            // (depends on …) after a checkbox item
	FromFrontMatter                      // a key of an item in the front matter
	FromPlain                            // list item, or part of one: Depends on: 1.1
)

// Label is a known label with its value.
type Label struct {
	Name      LabelName
	Written   string // as the plan writes it, without markup: "Depends On"
	Meant     string // how it is spelt, if Written is nearly that: reported as an error
	NameRange diag.Range
	Value     Text // on the label's line and the lines that go on; "" if none
	Items     []ListItem
	Text      []string // paragraphs that belong to the value, when Value is empty or it came from a heading
	TextRange diag.Range
	Fences    []Fence
	From      LabelFrom
	Lines     []string // the label as it is in the plan, if it turns out to be prose
	At        int      // index in Section.Prose where Lines would be
}

// Range returns the range of name and value.
func (l *Label) Range() diag.Range {
	r := l.NameRange
	r.End = max(r.End, l.Value.Range.End)
	return r
}

// Text is a piece of the plan without its markup. Every byte of Value knows
// where it was written.
type Text struct {
	Value  string
	Raw    string     // with markup; lines joined by a space
	Range  diag.Range // of the text as written
	Code   bool       // it is exactly one code span
	pieces []piece    // nil: Value is at Range.Start as it is
}

type piece struct{ value, source int } // value[value:] is at source, up to the next piece

// Sub returns the place of Value[start:end].
func (t Text) Sub(start, end int) diag.Range {
	if start > end || start < 0 || end > len(t.Value) {
		return t.Range
	}
	return diag.Range{File: t.Range.File, Start: t.source(start), End: max(t.source(start), t.sourceEnd(end))}
}

// Plain returns Value without the parentheses and the full stop at its end:
// "P0" of "P0 (Must Have)".
func (t Text) Plain() string {
	v := strings.TrimRight(t.Value, " .")
	for strings.HasSuffix(v, ")") {
		at := opener(v, '(')
		if at <= 0 {
			break
		}
		v = strings.TrimRight(v[:at], " .")
	}
	return v
}

func (t Text) source(off int) int {
	if t.pieces == nil {
		return t.Range.Start + off
	}
	p := t.pieces[0]
	for _, q := range t.pieces {
		if q.value > off {
			break
		}
		p = q
	}
	return min(p.source+off-p.value, t.Range.End)
}

func (t Text) sourceEnd(off int) int {
	if off == 0 {
		return t.source(0)
	}
	return t.source(off-1) + 1
}

// Box is the state of a check box.
type Box uint8

// States of a check box. Marks other than a space and x, such as [-], count as open.
const (
	NoBox Box = iota
	Open
	Ticked
)

// ListItem is an item of a list.
type ListItem struct {
	Text   Text // first paragraph, without box and check marks
	Box    Box
	Struck bool     // all of the text is struck through
	Detail []string // what is below the first paragraph, as lines, dedented, boxes removed
	Items  []ListItem
	Range  diag.Range
}

// Fence is a fenced code block.
type Fence struct {
	Lang    string     // first word of the info string, lower case
	Info    []Attr     // the other words
	Content string     // dedented, LF
	Range   diag.Range // of the content
	Open    diag.Range // of the opening line's fence and info string
	badInfo diag.Range // an unclosed quotation in the info string
}

// Attr is a word of an info string: "ralph" (Value "") or name="value".
type Attr struct {
	Key, Value string
	Range      diag.Range
	ValueRange diag.Range
}

// Attr returns the first attribute of that name.
func (f *Fence) Attr(key string) (Attr, bool) {
	for _, a := range f.Info {
		if a.Key == key {
			return a, true
		}
	}
	return Attr{}, false
}

// Fragment is policy text in an hcl fence. Offsets in Source are offsets from
// Range.Start in the file.
type Fragment struct {
	Source []byte
	Range  diag.Range
}

// FrontMatter is the YAML between --- lines at the start. Known keys are
// gathered whether or not "ralph" is there.
type FrontMatter struct {
	Range       diag.Range // with both --- lines; zero if there is none
	Ralph       Stated     // "1" if the plan says that it is one
	ID          Stated
	Title       Stated
	Policy      Stated
	Policies    []Stated
	Base        Stated
	Integration Stated
	Owner       Stated
	Labels      []Stated
	Dialect     Stated
	PoliciesSet bool // policies: [] replaces the policy path too
}

// Present reports whether there is front matter.
func (f *FrontMatter) Present() bool { return !f.Range.IsZero() }

// Stated is a value and its place; the zero value states nothing.
type Stated struct {
	Value string
	Range diag.Range
}

// Set reports whether anything was stated.
func (s Stated) Set() bool { return !s.Range.IsZero() }
