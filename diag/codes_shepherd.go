package diag

// shepherdCodes declares the codes about Agent Shepherd's YAML (owner: policies/shepherd).
var shepherdCodes = rows{
	{"shepherd-yaml", Error, "A file of Agent Shepherd is no YAML"},
	{"shepherd-value", Error, "A value of Agent Shepherd's YAML is not what its key asks for"},
	{"shepherd-changed", Warning, "What was converted means something else"},
	{"shepherd-approver", Warning, "Nobody is named who approves"},
	{"shepherd-left-out", Note, "Keys that have no counterpart in a policy"},
	{"shepherd-unknown-key", Note | strict, "Keys that Agent Shepherd does not have"},
}
