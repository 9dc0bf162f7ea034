package diag

// shepherdCodes declares the codes about Agent Shepherd's YAML (owner: policies/shepherd).
var shepherdCodes = rows{
	{"shepherd-yaml", Error, "A file of Agent Shepherd is not valid YAML"},
	{"shepherd-value", Error, "A value of Agent Shepherd's YAML has the wrong type or form"},
	{"shepherd-changed", Warning, "A converted value has another meaning"},
	{"shepherd-approver", Warning, "No approver is named"},
	{"shepherd-left-out", Note, "Keys that have no counterpart in a policy"},
	{"shepherd-unknown-key", Note | strict, "Keys that Agent Shepherd does not have"},
}
