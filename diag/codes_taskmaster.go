package diag

// taskmasterCodes declares the codes about Task Master's tasks.json (owner:
// ir/codec/taskmaster).
var taskmasterCodes = rows{
	{"taskmaster-tag", Error, "The file has tasks under several tags, and none was chosen"},
	{"taskmaster-cancelled", Note, "A cancelled task is not run"},
	{"taskmaster-held", Note, "A task waits for a person"},
	{"taskmaster-lifted", Note, "A subtask's dependency is applied to its whole task"},
}
