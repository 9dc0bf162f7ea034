package diag

// beadCodes declares the codes about files of other formats that hold single
// beads (owner: ir/codec/ralphbead).
var beadCodes = rows{
	{"bead-json", Error, "The bead is not a JSON object"},
	{"bead-missing", Error, "The bead lacks a key that it must have"},
	{"bead-value", Error, "A value of the bead is not what its key asks for"},
	{"bead-no-verifier", Error, "The bead has no verifier"},
	{"bead-priority", Warning, "A priority of 5 becomes 4"},
	{"start-step-unknown", Error, "A label names a step that the policy does not have"},
	{"bead-powershell", Warning | strict, "A verifier is written for PowerShell"},
	{"bead-completed", Note, "The bead says that it is completed"},
	{"bead-unknown-key", Note | strict, "The bead has keys that ralph does not use"},
	{"bead-demand", Warning | strict, "The bead does not meet what its format demands"},
	{"bead-status", Warning, "A bead's status is not taken over"},
	{"bead-dependency", Warning | strict, "A bead depends on one that is not imported"},
	{"bead-branch", Warning, "git cannot have a bead's branch"},
	{"bead-place", Warning, "ralph has no place for a value of the bead"},
	{"bead-sandbox", Warning, "A bead asks for a container"},
	{"bead-policy-gate", Note, "A QA agent of the policy is left to the policy"},
}
