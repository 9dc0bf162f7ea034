package diag

// taskCodes declares the codes about tasks with success criteria (owner:
// ir/codec/beadsmith) and about tests that a source asks for without a command.
var taskCodes = []Entry{
	{
		Code: "task-no-criterion", Severity: Error, About: "bead",
		Title: "The task has no success criterion",
	},
	{
		Code: "task-two-promises", Severity: Error, About: "bead",
		Title: "The task asks for two different last words",
	},
	{
		Code: "task-workspace", Severity: Note, About: "bead",
		Title: "The workspace of the task is not kept",
	},
	{
		Code: "task-records", Severity: Note, About: "bead",
		Title: "Beads of another program are kept as a record",
	},
	{
		Code: "tests-unknown", Severity: Error, About: "bead",
		Title: "Nobody knows how the project is tested",
	},
	{
		Code: "tests-found", Severity: Note, About: "bead",
		Title: "The test command was found in the project",
	},
}
