package diag

// dependencyCodes declares the codes about dependencies between items (owner: compiler).
var dependencyCodes = []Entry{
	{
		Code: "unknown-dependency", Severity: Error, About: "dependency",
		Title: "A dependency names an item that does not exist",
	},
	{
		Code: "self-dependency", Severity: Error, About: "dependency",
		Title: "An item depends on itself",
	},
	{
		Code: "dependency-cycle", Severity: Error, About: "dependency",
		Title: "Items wait for each other in a circle",
	},
	{
		Code: "redundant-dependency", Severity: Hint, About: "dependency",
		Title: "A named dependency follows from another one",
	},
	{
		Code: "dependency-range", Severity: Error, About: "dependency",
		Title: "A range of items runs backwards",
	},
	{
		Code: "dependency-prose", Severity: Hint, About: "dependency",
		Title: "A dependency label names no item",
	},
	{
		Code: "dependency-near-miss", Severity: Warning, About: "dependency",
		Title: "Text around an id is not one of the known forms",
	},
	{
		Code: "dependency-names-nothing", Severity: Warning, About: "dependency",
		Title: "No dependency label of the plan names an item",
	},
	{
		Code: "dependency-roots", Severity: Note, About: "dependency",
		Title: "Items without a dependency label wait for nothing",
	},
	{
		Code: "prose-disagrees", Severity: Error, About: "dependency",
		Title: "A sentence states an order that the numbers do not give",
	},
	{
		Code: "drawing-contradicts", Severity: Error, About: "dependency",
		Title: "A drawing states the opposite of a label",
	},
	{
		Code: "drawing-disagrees", Severity: Warning, About: "dependency",
		Title: "A drawing states an order that the labels do not give",
	},
	{
		Code: "drawing-node", Severity: Hint, About: "dependency",
		Title: "A node of a drawing names no item",
	},
	{
		Code: "plain-beside-lettered", Severity: Warning, About: "dependency",
		Title: "A plain number stands beside lettered ones of the same number",
	},
	{
		Code: "unknown-track", Severity: Error, About: "dependency",
		Title: "Several letters join tracks that do not exist",
	},
	{
		Code: "too-many-edges", Severity: Error, About: "dependency",
		Title: "The plan makes more dependencies than the limit",
	},
	{
		Code: "number-gap", Severity: Warning, Strict: true, About: "dependency",
		Title: "A number is missing in the sequence",
	},
	{
		Code: "number-order", Severity: Hint, About: "dependency",
		Title: "Items stand in another order than their numbers",
	},
	{
		Code: "empty-phase", Severity: Warning, About: "dependency",
		Title: "A phase has no items",
	},
	{
		Code: "parallel-mark", Severity: Warning, About: "dependency",
		Title: "\"(parallel)\" and the letters disagree",
	},
	{
		Code: "look-alike-id", Severity: Error, About: "dependency",
		Title: "Two ways to write the same id",
	},
	{
		Code: "id-case", Severity: Note, About: "dependency",
		Title: "Ids are read without regard to case",
	},
	{
		Code: "number-too-large", Severity: Error, About: "dependency",
		Title: "A number in an id is too large",
	},
	{
		Code: "scope-edge", Severity: Note, About: "dependency",
		Title: "Items that own the same files run one after another",
	},
}
