package diag

// nearCodes declares the codes about words that are one typing mistake away from a control (owner: compiler).
var nearCodes = []Entry{
	{
		Code: "near-miss-label", Severity: Error, About: "plan",
		Title: "A label is one typing mistake away from a control",
		Why: "A bold name that is no label is prose. One that differs by a single letter from a label that decides who judges, what runs or in which order was almost certainly meant to be that label, " +
			"and read as prose it would take the control away without a word. Correct it. If the word is meant as it stands, write it without bold and colon, or in other words.",
		Wrong: "**Aproval**: required from @ada",
		Right: "**Approval**: required from @ada",
	},
	{
		Code: "near-miss-value", Severity: Error, About: "plan",
		Title: "A value is one typing mistake away from one that is known",
		Why: "The value of Complexity, Access, Policy, Approval, or a dependency label that says \"none\", differs by a single letter from a word that ralph knows. Left out, it would change who judges the work, " +
			"or what waits for what. Correct it, or write what is meant in other words: a value that is far from all known ones is prose, with a warning.",
		Wrong: "**Complexity**: crtical",
		Right: "**Complexity**: critical",
	},
	{
		Code: "near-miss-marker", Severity: Error, About: "plan",
		Title: "A marker is one typing mistake away from a kind",
		Why: "`(merge)`, `(gate)` and `(manual)` at the end of an item's heading say what kind of node it is. A word in parentheses that nearly is one of them, or stands in other brackets (`[manual]`, `(manual).`), would be a part of the title, and agents would do what a person was to do. " +
			"Correct it. If the word belongs to the title, write it without parentheses. What may be meant as it stands is a warning: `- manual`, `(manual) (later)`, `(paralel)`.",
		Wrong: "### Sprint 1.2: Sign the contract (manul)",
		Right: "### Sprint 1.2: Sign the contract (manual)",
	},
	{
		Code: "near-miss-heading", Severity: Error, About: "plan",
		Title: "A heading is one typing mistake away from an item or a group",
		Why: "The heading stands where an item or a group may stand, its first word is nearly the keyword or no space stands behind its `###`, and no other heading has its id. Read as prose it makes no node, and what stands below it belongs to the item above. " +
			"Correct the keyword, or set it off from the id by one space. If it is meant as text, put another word first.",
		Wrong: "### Spirnt 1.2: Parser",
		Right: "### Sprint 1.2: Parser",
	},
	{
		Code: "near-miss-fence", Severity: Error, About: "plan",
		Title: "The first line of a fence nearly makes it a control",
		Why: "A fence marked `hcl ralph` is policy, one marked `json output=<gate>` is the schema of a gate, and one marked `sh` or `bash` below Verify is a command gate. A misspelt mark makes it a quotation, and what it asks for is left out. " +
			"Correct the mark, or leave it out if the fence is only there to be read.",
		Wrong: "```hcl ralhp\naccess = \"read\"\n```",
		Right: "```hcl ralph\naccess = \"read\"\n```",
	},
	{
		Code: "near-miss-directive", Severity: Error, About: "plan",
		Title: "A comment nearly is a directive or an annotation",
		Why: "`<!-- ralph: key=value -->` is a directive and `<!-- beads-ralph: ID -->` an annotation. Any other comment is ignored, so a misspelt one would silently set nothing, or make a sprint another sprint. " +
			"Correct the word in front of the colon, or reword the comment.",
		Wrong: "<!-- raplh: manual=yes -->",
		Right: "<!-- ralph: manual=yes -->",
	},
	{
		Code: "control-value", Severity: Error, About: "plan",
		Title: "Approval or Manual has a value that cannot be read",
		Why:   "These labels ask for a person. A value that is not understood is never taken for \"nobody\": write one that is, or remove the label. If the line is meant as text, write it without bold and colon.",
		Wrong: "**Manual**: perhaps",
		Right: "**Manual**: yes",
	},
	{
		Code: "control-place", Severity: Error, About: "plan",
		Title: "Approval or Manual stands in a list",
		Why:   "Lines below a list item, and items of a list that belongs to another label, are part of that list: no label is read there, and what asks for a person would be left out. Write the label on a line of its own below the heading of the item. If it is meant as text, write it without bold and colon.",
		Wrong: "- [ ] write it\n  **Approval**: required from @ada",
		Right: "**Approval**: required from @ada\n\n- [ ] write it",
	},
	{
		Code: "label-heading", Severity: Error, About: "plan",
		Title: "A label is a heading",
		Why: "Dashes or equals signs directly below text are no rule: markdown makes the text a heading. A heading of the same or a higher level ends an item, so the label sets nothing, and gates and tasks below it are left out. " +
			"Put an empty line between. If the line was meant as a heading, write it without a bold name and a colon.",
		Wrong: "**Verify**: `make test`\n---",
		Right: "**Verify**: `make test`\n\n---",
	},
}
