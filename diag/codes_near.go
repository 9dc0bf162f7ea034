package diag

// nearCodes declares the codes about words that are one typing mistake away from a control (owner: compiler).
var nearCodes = rows{
	{"near-miss-label", Error, "A label is one typo away from a control"},
	{"near-miss-value", Error, "A value is one typo away from a known one"},
	{"near-miss-marker", Error | orWarning, "A marker is one typo away from a kind"},
	{"near-miss-heading", Error, "A heading is one typo away from an item or a group"},
	{"near-miss-fence", Error, "The info string of a fence is almost one that ralph reads"},
	{"near-miss-directive", Error, "A comment is almost a directive or an annotation"},
	{"control-value", Error, "Approval or Manual has a value that cannot be read"},
	{"control-place", Error, "Approval or Manual is inside a list"},
	{"label-heading", Error, "A label is a heading"},
}
