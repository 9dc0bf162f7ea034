package policies

// Complexity is the block `complexity "c"`: a level, how it is recognised and
// what it means.
type Complexity struct {
	Decl
	Rank     Value[int]      // the highest rank that matches wins
	Default  Value[bool]     // the level of a node that nothing matches
	Keywords Value[[]string] // whole words or phrases
	In       Value[[]string] // where they are looked for: title, goal, tasks (default: title)
	Limits   Limits
	Review   Value[string] // skip, auto, required
}
