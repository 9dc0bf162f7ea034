package diag

// dependencyCodes declares the codes about dependencies between items (owner: compiler).
var dependencyCodes = []Entry{
	{
		Code: "unknown-dependency", Severity: Error, About: "dependency",
		Title: "A dependency names an item that does not exist",
		Why:   "A label or a sentence names an id that looks like one of the plan's, but no item has it. Leaving it out silently could start work too early, so it is an error.",
		Wrong: "**Depends on**: 1.5", Right: "**Depends on**: 1.4",
	},
	{
		Code: "self-dependency", Severity: Error, About: "dependency",
		Title: "An item depends on itself",
		Why:   "Such an item could never start. \"All previous\" and \"all Phase 2 sprints\" never include the item that says so; a plain id does.",
		Wrong: "### Sprint 1.2: API\n**Depends on**: 1.2", Right: "### Sprint 1.2: API\n**Depends on**: 1.1",
	},
	{
		Code: "dependency-cycle", Severity: Error, About: "dependency",
		Title: "Items wait for each other in a circle",
		Why:   "None of them could ever start. The message shows the whole circle and, for each step of it, the line that made it: remove one of them.",
		Wrong: "### Sprint 1.1: A\n**Depends on**: 1.2\n### Sprint 1.2: B", Right: "### Sprint 1.1: A\n### Sprint 1.2: B",
	},
	{
		Code: "redundant-dependency", Severity: Hint, About: "dependency",
		Title: "A named dependency follows from another one",
		Why:   "Another dependency of the same item already comes after the one that is named, so naming it changes nothing. Shorter lists are easier to keep true.",
		Wrong: "**Depends on**: 1.1, 1.2", Right: "**Depends on**: 1.2",
	},
	{
		Code: "dependency-range", Severity: Error, About: "dependency",
		Title: "A range of items runs backwards",
		Why:   "Ranges are compared numerically, both ends included, from the smaller to the larger id.",
		Wrong: "**Depends on**: 1.5-1.1", Right: "**Depends on**: 1.1-1.5",
	},
	{
		Code: "dependency-prose", Severity: Hint, About: "dependency",
		Title: "A dependency label names no item",
		Why:   "Packages, approvals and other conditions may stand in a dependency label. They are read by people only: they make no edge and leave the numbers in force.",
		Wrong: "**Depends on**: the new API", Right: "**Depends on**: 1.2 (the new API)",
	},
	{
		Code: "dependency-near-miss", Severity: Warning, About: "dependency",
		Title: "Text around an id is not one of the known forms",
		Why:   "A part of a dependency label contains the id of an item but is not one of the forms that make an edge, so it makes none although a reader may think so.",
		Wrong: "**Depends on**: the schema of 1.1", Right: "**Depends on**: 1.1 (the schema)",
	},
	{
		Code: "dependency-names-nothing", Severity: Warning, About: "dependency",
		Title: "No dependency label of the plan names an item",
		Why:   "In this dialect explicit labels take the place of the order of the items as soon as one label names an item. Only \"none\" or prose was found, so the items still follow each other in order.",
		Wrong: "**Depends on**: None", Right: "**Depends on**: Task 1",
	},
	{
		Code: "dependency-roots", Severity: Note, About: "dependency",
		Title: "Items without a dependency label wait for nothing",
		Why:   "In this dialect explicit labels take the place of the order of the items as soon as one label names an item. Items without a label can then start at once.",
		Wrong: "### Task 3: Ship it", Right: "### Task 3: Ship it\n**Depends on**: Task 2",
	},
	{
		Code: "prose-disagrees", Severity: Error, About: "dependency",
		Title: "A sentence states an order that the numbers do not give",
		Why:   "\"(after 1.1 merged)\" is checked, not obeyed: everything it names must come before the item. If it does not, either the sentence or the number is wrong, and ralph cannot know which.",
		Wrong: "### Sprint 1.2a: A\n**Source Branch**: `main` (after 1.2b merged)", Right: "### Sprint 1.3: A\n**Source Branch**: `main` (after 1.2b merged)",
	},
	{
		Code: "drawing-contradicts", Severity: Error, About: "dependency",
		Title: "A drawing states the opposite of a label",
		Why:   "A list of phases, waves or a mermaid graph says that one item comes after another, and labels say that it comes before. Where both speak of an item labels win, but one of them is wrong: turn the arrow around, or mend the label.",
	},
	{
		Code: "drawing-disagrees", Severity: Warning, About: "dependency",
		Title: "A drawing states an order that the labels do not give",
		Why:   "A list of phases, waves or a mermaid graph, and a label, speak of the same item. The label wins; what the drawing says besides is not obeyed. Name the item in the label, or remove the arrow.",
	},
	{
		Code: "drawing-node", Severity: Hint, About: "dependency",
		Title: "A node of a drawing names no item",
		Why:   "In a mermaid graph below a heading about dependencies a node names an item or a group by its id, or at the beginning of its text: `T1`, `Phase 1: Setup`. Another node, such as a start, only joins what points to it with what it points to.",
	},
	{
		Code: "plain-beside-lettered", Severity: Warning, About: "dependency",
		Title: "A plain number stands beside lettered ones of the same number",
		Why:   "1.2a and 1.2b run side by side. A plain 1.2 beside them comes first: they wait for it, and what follows waits for them. Where it was meant to run beside them, give it a letter.",
		Wrong: "### Sprint 1.2: A\n### Sprint 1.2a: B", Right: "### Sprint 1.2a: A\n### Sprint 1.2b: B",
	},
	{
		Code: "unknown-track", Severity: Error, About: "dependency",
		Title: "Several letters join tracks that do not exist",
		Why:   "1.2ab waits for 1.2a and 1.2b: each letter names an existing item of the same number, once.",
		Wrong: "### Sprint 1.2a: A\n### Sprint 1.2ac: Join", Right: "### Sprint 1.2a: A\n### Sprint 1.2c: C\n### Sprint 1.2ac: Join",
	},
	{
		Code: "too-many-edges", Severity: Error, About: "dependency",
		Title: "The plan makes more dependencies than the limit",
		Why:   "Two groups of a thousand items side by side make a million dependencies, because each waits for each. Put one item between them, so that both sides depend on it alone.",
	},
	{
		Code: "number-gap", Severity: Warning, Strict: true, About: "dependency",
		Title: "A number is missing in the sequence",
		Why:   "1.3 follows 1.1 where there is no 1.2. That is allowed, but often a heading was misspelt or lost.",
		Wrong: "### Sprint 1.1: A\n### Sprint 1.3: B", Right: "### Sprint 1.1: A\n### Sprint 1.2: B",
	},
	{
		Code: "number-order", Severity: Hint, About: "dependency",
		Title: "Items stand in another order than their numbers",
		Why:   "Numbers decide what follows what, not the place in the file. Sorting the headings makes the plan read as it runs.",
		Wrong: "### Sprint 1.2: B\n### Sprint 1.1: A", Right: "### Sprint 1.1: A\n### Sprint 1.2: B",
	},
	{
		Code: "empty-phase", Severity: Warning, About: "dependency",
		Title: "A phase has no items",
		Why:   "What follows an empty phase waits for the phase before it. Usually the headings of its items are not in the form that the dialect knows.",
		Wrong: "## Phase 2: Backend\nWe build the backend.", Right: "## Phase 2: Backend\n### Sprint 2.1: Build the backend",
	},
	{
		Code: "parallel-mark", Severity: Warning, About: "dependency",
		Title: "\"(parallel)\" and the letters disagree",
		Why:   "Letters make items parallel; the word is only for readers. An item that says \"(parallel)\" but has no sibling of its number runs alone.",
		Wrong: "### Sprint 1.2: API (parallel)", Right: "### Sprint 1.2a: API (parallel)\n### Sprint 1.2b: UI (parallel)",
	},
	{
		Code: "look-alike-id", Severity: Error, About: "dependency",
		Title: "Two ways to write the same id",
		Why:   "Ids that differ only by case, by width, by script or by leading zeros look the same to a reader and are different to a program. The message shows the odd character and the plain spelling.",
		Wrong: "### Sprint 1.2A: API", Right: "### Sprint 1.2a: API",
	},
	{
		Code: "id-case", Severity: Note, About: "dependency",
		Title: "Ids are read without regard to case",
		Why:   "The dialect sets ignore_case, so 1.2A and 1.2a are the same id, written in lower case in epic.json.",
		Wrong: "### Sprint 1.2A: API", Right: "### Sprint 1.2a: API",
	},
	{
		Code: "number-too-large", Severity: Error, About: "dependency",
		Title: "A number in an id is too large",
		Why:   "Numbers in ids go up to 2147483647. A longer one is most often a date or a serial number that is no id.",
		Wrong: "### Sprint 1.99999999999: A", Right: "### Sprint 1.9: A",
	},
	{
		Code: "scope-edge", Severity: Note, About: "dependency",
		Title: "Items that own the same files run one after another",
		Why:   "The policy sets serialize_overlaps: two items without an order between them that own the same files get one, in the order of their numbers.",
	},
}
