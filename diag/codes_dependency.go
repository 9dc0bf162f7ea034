package diag

// dependencyCodes declares the codes about dependencies between items (owner: compiler).
var dependencyCodes = rows{
	{"unknown-dependency", Error, "A dependency names an item that does not exist"},
	{"self-dependency", Error | orWarning, "An item depends on itself"},
	{"dependency-cycle", Error, "Items depend on each other in a cycle"},
	{"redundant-dependency", Hint, "A dependency is already implied by another one"},
	{"dependency-range", Error, "A range of items runs backwards"},
	{"dependency-prose", Hint, "A dependency label names no item"},
	{"dependency-near-miss", Warning, "Text around an id is not one of the known forms"},
	{"dependency-names-nothing", Warning, "No dependency label of the plan names an item"},
	{"dependency-roots", Note, "Items without a dependency label wait for nothing"},
	{"prose-disagrees", Error, "A sentence states an order that the numbers do not give"},
	{"drawing-contradicts", Error, "A drawing states the opposite of a label"},
	{"drawing-disagrees", Warning, "A drawing states an order that the labels do not give"},
	{"drawing-node", Hint, "A node of a drawing names no item"},
	{"plain-beside-lettered", Warning, "A plain number is used beside the same number with letters"},
	{"unknown-track", Error, "Several letters join tracks that do not exist"},
	{"too-many-edges", Error, "The plan makes more dependencies than the limit"},
	{"number-gap", Warning | strict, "A number is missing in the sequence"},
	{"number-order", Hint, "Items are not in the order of their numbers"},
	{"empty-phase", Warning, "A phase has no items"},
	{"parallel-mark", Warning, "\"(parallel)\" and the letters disagree"},
	{"look-alike-id", Error, "Two spellings of the same id"},
	{"id-case", Note, "Ids are read without regard to case"},
	{"number-too-large", Error, "A number in an id is too large"},
	{"scope-edge", Note, "Items that own the same files run one after another"},
}
