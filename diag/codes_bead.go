package diag

// beadCodes declares the codes about files of other formats that hold single
// beads (owner: ir/codec/ralphbead).
var beadCodes = []Entry{
	{
		Code: "bead-json", Severity: Error, About: "bead",
		Title: "The bead is not a JSON object",
	},
	{
		Code: "bead-missing", Severity: Error, About: "bead",
		Title: "The bead lacks a key that it must have",
	},
	{
		Code: "bead-value", Severity: Error, About: "bead",
		Title: "A value of the bead is not what its key asks for",
	},
	{
		Code: "bead-no-verifier", Severity: Error, About: "bead",
		Title: "The bead has no verifier",
	},
	{
		Code: "bead-priority", Severity: Warning, About: "bead",
		Title: "A priority of 5 becomes 4",
	},
	{
		Code: "start-step-unknown", Severity: Error, About: "bead",
		Title: "A label names a step that the policy does not have",
	},
	{
		Code: "bead-powershell", Severity: Warning, Strict: true, About: "bead",
		Title: "A verifier is written for PowerShell",
	},
	{
		Code: "bead-completed", Severity: Note, About: "bead",
		Title: "The bead says that it is completed",
	},
	{
		Code: "bead-unknown-key", Severity: Note, Strict: true, About: "bead",
		Title: "The bead has keys that ralph does not use",
	},
	{
		Code: "bead-demand", Severity: Warning, Strict: true, About: "bead",
		Title: "The bead does not meet what its format demands",
	},
	{
		Code: "bead-status", Severity: Warning, About: "bead",
		Title: "A bead's status is not taken over",
	},
	{
		Code: "bead-dependency", Severity: Warning, Strict: true, About: "bead",
		Title: "A bead depends on one that is not imported",
	},
	{
		Code: "bead-branch", Severity: Warning, About: "bead",
		Title: "git cannot have a bead's branch",
	},
	{
		Code: "bead-place", Severity: Warning, About: "bead",
		Title: "ralph has no place for a value of the bead",
	},
	{
		Code: "bead-sandbox", Severity: Warning, About: "bead",
		Title: "A bead asks for a container",
	},
	{
		Code: "bead-policy-gate", Severity: Note, About: "bead",
		Title: "A QA agent of the policy is left to the policy",
	},
}
