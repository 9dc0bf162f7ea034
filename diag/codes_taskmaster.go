package diag

// taskmasterCodes declares the codes about Task Master's tasks.json (owner:
// ir/codec/taskmaster).
var taskmasterCodes = rows{
	{"taskmaster-tag", Error, "The file has tasks under several tags, and none was chosen"},
	{"taskmaster-cancelled", Note, "A cancelled task is not run"},
	{"taskmaster-held", Note, "A task waits for a person"},
	{"taskmaster-lifted", Note, "A dependency of or on a subtask is one of its whole task"},
}
