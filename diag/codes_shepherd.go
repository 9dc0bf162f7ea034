package diag

// shepherdCodes declares the codes about Agent Shepherd's YAML (owner: policies/shepherd).
var shepherdCodes = []Entry{
	{
		Code: "shepherd-yaml", Severity: Error, About: "shepherd",
		Title: "A file of Agent Shepherd is no YAML",
	},
	{
		Code: "shepherd-value", Severity: Error, About: "shepherd",
		Title: "A value of Agent Shepherd's YAML is not what its key asks for",
	},
	{
		Code: "shepherd-changed", Severity: Warning, About: "shepherd",
		Title: "What was converted means something else",
	},
	{
		Code: "shepherd-approver", Severity: Warning, About: "shepherd",
		Title: "Nobody is named who approves",
	},
	{
		Code: "shepherd-left-out", Severity: Note, About: "shepherd",
		Title: "Keys that have no counterpart in a policy",
	},
	{
		Code: "shepherd-unknown-key", Severity: Note, Strict: true, About: "shepherd",
		Title: "Keys that Agent Shepherd does not have",
	},
}
