package syntax

// Dialect says how items and groups are written in a plan. It is data: policies
// define dialects in HCL, and the compiler hands them over in this form. The
// zero values of Phase and Columns mean "none".
type Dialect struct {
	Name         string
	Phase        Pattern // no keywords and no id: there are no groups
	Item         Pattern
	In           Place
	Letters      string // parallel, sequence
	IgnoreCase   bool   // 1.2A is 1.2a
	Numbers      string // always, unless_explicit, never
	Groups       string // barrier, chain, none
	ParallelMark string // "[P]", "(P)"; "" if there is none
	Explicit     string // replace, add
	Columns      Columns
}

// Pattern says how a heading or an item begins: one of the keywords, in any
// case, and an id. Without keywords there is only the id. ID is a regular
// expression (RE2) for the whole id; anchors at its ends are allowed and have no
// effect. A group whose ID is empty or matches the empty text needs no id.
type Pattern struct {
	Keywords []string
	ID       string
}

// None reports whether the pattern matches nothing because it is empty.
func (p Pattern) None() bool { return len(p.Keywords) == 0 && p.ID == "" }

// Place is where items are written.
type Place string

// Places.
const (
	InHeading  Place = "heading"
	InCheckbox Place = "checkbox"
	InBold     Place = "bold"
	InTable    Place = "table"
	InTodo     Place = "todo" // every check box that stands in no other one

	// InFrontMatter is a list of the front matter; the keywords of items are its key.
	InFrontMatter Place = "front_matter"
)

// Columns names the columns of a table of items by their header words, in any
// case.
type Columns struct {
	ID, Title, Depends []string
}

// Patterns of the default dialect, which decide what "like a sprint" means.
const (
	phaseID  = `[0-9]+[a-z]*`
	sprintID = `[0-9]+[a-z]*\.[0-9]+[a-z]*`
)

// Sprint is the default dialect.
func Sprint() Dialect {
	return Dialect{
		Name:    "sprint",
		Phase:   Pattern{Keywords: []string{"Phase"}, ID: phaseID},
		Item:    Pattern{Keywords: []string{"Sprint"}, ID: sprintID},
		In:      InHeading,
		Letters: "parallel", Numbers: "always", Groups: "barrier", Explicit: "replace",
	}
}
