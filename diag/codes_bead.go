package diag

// beadCodes declares the codes about files of other formats that hold single
// beads (owner: ir/codec/ralphbead).
var beadCodes = rows{
	{"bead-json", Error, "The bead is not a JSON object"},
	{"bead-missing", Error, "A required key of the bead is missing"},
	{"bead-value", Error, "A value of the bead has the wrong type or form"},
	{"bead-no-verifier", Error, "The bead has no verifier"},
	{"bead-priority", Warning, "A priority of 5 becomes 4"},
	{"start-step-unknown", Error, "A label names a step that the policy does not have"},
	{"bead-powershell", Warning | strict, "A verifier is written for PowerShell"},
	{"bead-completed", Note, "The bead says that it is completed"},
	{"bead-unknown-key", Note | strict, "The bead has keys that ralph does not use"},
	{"bead-demand", Warning | strict, "The bead does not meet its format's requirements"},
	{"bead-status", Warning, "A bead's status is not imported"},
	{"bead-dependency", Warning | strict, "A bead depends on one that is not imported"},
	{"bead-branch", Warning, "git cannot create a bead's branch"},
	{"bead-place", Warning | orNote, "ralph has no counterpart for a value of the bead"},
	{"bead-sandbox", Warning, "A bead asks for a container"},
	{"bead-policy-gate", Note, "A QA agent of the policy is left to the policy"},
}
