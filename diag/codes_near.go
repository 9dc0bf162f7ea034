package diag

// nearCodes declares the codes about words that are one typing mistake away from a control (owner: compiler).
var nearCodes = rows{
	{"near-miss-label", Error, "A label is one typing mistake away from a control"},
	{"near-miss-value", Error, "A value is one typing mistake away from one that is known"},
	{"near-miss-marker", Error, "A marker is one typing mistake away from a kind"},
	{"near-miss-heading", Error, "A heading is one typing mistake away from an item or a group"},
	{"near-miss-fence", Error, "The first line of a fence nearly makes it a control"},
	{"near-miss-directive", Error, "A comment nearly is a directive or an annotation"},
	{"control-value", Error, "Approval or Manual has a value that cannot be read"},
	{"control-place", Error, "Approval or Manual stands in a list"},
	{"label-heading", Error, "A label is a heading"},
}
