package diag

// taskmasterCodes declares the codes about Task Master's tasks.json (owner:
// ir/codec/taskmaster).
var taskmasterCodes = []Entry{
	{
		Code: "taskmaster-tag", Severity: Error, About: "bead",
		Title: "The file has tasks under several tags, and none was chosen",
	},
	{
		Code: "taskmaster-cancelled", Severity: Note, About: "bead",
		Title: "A cancelled task is not run",
	},
	{
		Code: "taskmaster-held", Severity: Note, About: "bead",
		Title: "A task waits for a person",
	},
	{
		Code: "taskmaster-lifted", Severity: Note, About: "bead",
		Title: "A dependency of or on a subtask is one of its whole task",
	},
}
