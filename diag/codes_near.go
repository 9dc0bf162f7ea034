package diag

// nearCodes declares the codes about words that are one typing mistake away from a control (owner: compiler).
var nearCodes = []Entry{
	{
		Code: "near-miss-label", Severity: Error, About: "plan",
		Title: "A label is one typing mistake away from a control",
	},
	{
		Code: "near-miss-value", Severity: Error, About: "plan",
		Title: "A value is one typing mistake away from one that is known",
	},
	{
		Code: "near-miss-marker", Severity: Error, About: "plan",
		Title: "A marker is one typing mistake away from a kind",
	},
	{
		Code: "near-miss-heading", Severity: Error, About: "plan",
		Title: "A heading is one typing mistake away from an item or a group",
	},
	{
		Code: "near-miss-fence", Severity: Error, About: "plan",
		Title: "The first line of a fence nearly makes it a control",
	},
	{
		Code: "near-miss-directive", Severity: Error, About: "plan",
		Title: "A comment nearly is a directive or an annotation",
	},
	{
		Code: "control-value", Severity: Error, About: "plan",
		Title: "Approval or Manual has a value that cannot be read",
	},
	{
		Code: "control-place", Severity: Error, About: "plan",
		Title: "Approval or Manual stands in a list",
	},
	{
		Code: "label-heading", Severity: Error, About: "plan",
		Title: "A label is a heading",
	},
}
