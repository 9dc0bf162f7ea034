package diag

// planCodes declares the codes about the markdown of a plan: headings, labels, fences, front matter (owner: compiler/syntax).
var planCodes = []Entry{
	{
		Code: "plan-too-large", Severity: Error, About: "input",
		Title: "The plan is larger than the limit",
	},
	{
		Code: "plan-line-too-long", Severity: Error, About: "input",
		Title: "A line of the plan is longer than the limit",
	},
	{
		Code: "nested-too-deeply", Severity: Error, About: "input",
		Title: "Lists or quotes nest too deeply",
	},
	{
		Code: "too-many-items", Severity: Error, About: "input",
		Title: "The plan has more items than the limit",
	},
	{
		Code: "not-utf8", Severity: Error, About: "input",
		Title: "The plan is not UTF-8",
	},
	{
		Code: "front-matter-syntax", Severity: Error, About: "plan",
		Title: "The front matter is not valid YAML",
	},
	{
		Code: "front-matter-value", Severity: Error, About: "plan",
		Title: "A key of the front matter has a value of the wrong form",
	},
	{
		Code: "foreign-front-matter", Severity: Note, About: "plan",
		Title: "The front matter has keys of other tools",
	},
	{
		Code: "unknown-front-matter", Severity: Error, About: "plan",
		Title: "The front matter has an unknown key",
	},
	{
		Code: "no-items", Severity: Error, About: "plan",
		Title: "No items were found in the plan",
	},
	{
		Code: "another-dialect", Severity: Warning, Strict: true, About: "plan",
		Title: "Another dialect finds far more items",
	},
	{
		Code: "look-alike-heading", Severity: Hint, About: "plan",
		Title: "A heading looks like an item and is prose",
	},
	{
		Code: "malformed-id", Severity: Warning, About: "plan",
		Title: "A heading nearly is an item or a group",
	},
	{
		Code: "all-finished", Severity: Warning, About: "plan",
		Title: "Every item of the plan is finished",
	},
	{
		Code: "box-without-id", Severity: Warning, About: "plan",
		Title: "A check box stands where items do and has no id",
	},
	{
		Code: "empty-box", Severity: Warning, About: "plan",
		Title: "A check box has no text",
	},
	{
		Code: "text-above-boxes", Severity: Hint, About: "plan",
		Title: "A list item without a box stands above check boxes",
	},
	{
		Code: "moving-key", Severity: Warning, About: "plan",
		Title: "Items have no identity but their place",
	},
	{
		Code: "open-inside-ticked", Severity: Warning, About: "plan",
		Title: "A ticked item has open boxes inside it",
	},
	{
		Code: "open-below-tick", Severity: Warning, About: "plan",
		Title: "A ticked item is not finished, because a box in it is open",
	},
	{
		Code: "open-in-finished", Severity: Warning, About: "plan",
		Title: "A finished item has open boxes",
	},
	{
		Code: "group-without-items", Severity: Hint, About: "plan",
		Title: "A group heading contains no items, and neither does any other",
	},
	{
		Code: "group-at-other-level", Severity: Hint, About: "plan",
		Title: "A group heading stands at another level",
	},
	{
		Code: "repeated-group", Severity: Hint, About: "plan",
		Title: "A group heading repeats an id and contains no items",
	},
	{
		Code: "deeper-repeat", Severity: Hint, About: "plan",
		Title: "A heading repeats the id of an item above it",
	},
	{
		Code: "empty-repeat", Severity: Warning, About: "plan",
		Title: "A heading repeats an id without saying anything",
	},
	{
		Code: "item-outside-groups", Severity: Hint, About: "plan",
		Title: "An item heading stands outside the groups",
	},
	{
		Code: "title-like-item", Severity: Hint, About: "plan",
		Title: "The title reads like a group or an item",
	},
	{
		Code: "several-ids", Severity: Warning, About: "plan",
		Title: "A heading makes one item or group of several ids",
	},
	{
		Code: "group-labels-differ", Severity: Error, About: "plan",
		Title: "Two headings of one group say different things",
	},
	{
		Code: "split-tasks", Severity: Warning, About: "plan",
		Title: "A plain number with lettered headings below it has check boxes",
	},
	{
		Code: "lost-item", Severity: Warning, About: "plan",
		Title: "An item stands outside every group and makes no node",
	},
	{
		Code: "item-without-group", Severity: Warning, About: "plan",
		Title: "An item stands outside every group",
	},
	{
		Code: "duplicate-id", Severity: Error, About: "plan",
		Title: "An id is there twice",
	},
	{
		Code: "empty-id", Severity: Error, About: "plan",
		Title: "An item has no id",
	},
	{
		Code: "cancelled", Severity: Note, About: "plan",
		Title: "An item or a group is struck through",
	},
	{
		Code: "struck-title", Severity: Warning, About: "plan",
		Title: "Only the name of an item or a phase is struck through",
	},
	{
		Code: "item-level", Severity: Warning, About: "plan",
		Title: "An item's heading has another level",
	},
	{
		Code: "phase-mismatch", Severity: Error, About: "plan",
		Title: "A sprint stands in a phase of another number",
	},
	{
		Code: "two-kinds", Severity: Warning, About: "plan",
		Title: "A title has markers of two kinds",
	},
	{
		Code: "unknown-label", Severity: Hint, About: "plan",
		Title: "A bold label means nothing to ralph",
	},
	{
		Code: "label-form", Severity: Warning, About: "plan",
		Title: "A label is written in a form that is not read",
	},
	{
		Code: "label-not-here", Severity: Warning, About: "plan",
		Title: "A label stands where it means nothing",
	},
	{
		Code: "conflicting-values", Severity: Error, About: "plan",
		Title: "A field is given twice with different values",
	},
	{
		Code: "malformed-directive", Severity: Error, About: "plan",
		Title: "A directive cannot be read",
	},
	{
		Code: "unknown-directive", Severity: Error, About: "plan",
		Title: "A directive has an unknown field",
	},
	{
		Code: "misplaced-directive", Severity: Warning, About: "plan",
		Title: "A directive belongs to no section",
	},
	{
		Code: "malformed-annotation", Severity: Error, About: "plan",
		Title: "An annotation has no usable id",
	},
	{
		Code: "duplicate-annotation", Severity: Error, About: "plan",
		Title: "An annotation is there twice",
	},
	{
		Code: "misplaced-annotation", Severity: Warning, About: "plan",
		Title: "An annotation stands in an unusual place",
	},
	{
		Code: "verify-fence", Severity: Warning, About: "plan",
		Title: "A fence below Verify is no shell script",
	},
	{
		Code: "fence-attribute", Severity: Warning, About: "plan",
		Title: "An info string has something that means nothing",
	},
	{
		Code: "hidden-in-command", Severity: Error, About: "plan",
		Title: "A command has characters that do not show",
	},
	{
		Code: "unclosed-comment", Severity: Error, About: "plan",
		Title: "A comment is never closed, or closed by the next one",
	},
	{
		Code: "unclosed-fence", Severity: Error, About: "plan",
		Title: "A code fence is never closed and hides items",
	},
	{
		Code: "fence-hides-items", Severity: Warning, About: "plan",
		Title: "A code fence hides what looks like items",
	},
	{
		Code: "graph-not-read", Severity: Hint, About: "plan",
		Title: "A drawing or a section about dependencies is not read",
	},
	{
		Code: "table-row", Severity: Hint, About: "plan",
		Title: "A row of a dependency table names no item",
	},
	{
		Code: "control-character", Severity: Warning, About: "plan",
		Title: "A title has a control character",
	},
	{
		Code: "finished", Severity: Note, About: "plan",
		Title: "Items are finished",
	},
	{
		Code: "story-acceptance", Severity: Note, About: "plan",
		Title: "Acceptance criteria come from the spec beside the plan",
	},
	{
		Code: "spec-unread", Severity: Warning, Strict: true, About: "plan",
		Title: "The spec beside the plan cannot be read",
	},
}
