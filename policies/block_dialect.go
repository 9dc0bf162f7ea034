package policies

// Dialect is the block `dialect "n"`: how a plan's items are written. After
// Decode `extends` has been followed: every field holds what counts.
type Dialect struct {
	Decl
	Extends      Value[string]
	Phase        *DialectPhase // nil: no groups
	Item         DialectItem
	Letters      Value[string] // parallel, sequence
	IgnoreCase   Value[bool]
	Numbers      Value[string] // always, unless_explicit, never
	Groups       Value[string] // barrier, chain, none
	ParallelMark Value[string] // "[P]", "(P)", "" for none
	Explicit     Value[string] // replace, add
	Columns      DialectColumns
}

// DialectPhase says what group headings look like.
type DialectPhase struct {
	Keywords Value[[]string] // without case; an empty list: the id alone
	ID       Value[string]   // regular expression (RE2), without anchors
}

// DialectItem says what items look like.
type DialectItem struct {
	In       Value[string]   // heading, checkbox, bold, table
	Keywords Value[[]string] // without case; an empty list: the id alone
	ID       Value[string]   // regular expression (RE2), without anchors
}

// DialectColumns names the columns of a table of items.
type DialectColumns struct {
	ID      Value[[]string]
	Title   Value[[]string]
	Depends Value[[]string]
}
