package diag

// taskCodes declares the codes about tasks with success criteria (owner:
// ir/codec/beadsmith) and about tests that a source asks for without a command.
var taskCodes = rows{
	{"task-no-criterion", Error, "The task has no success criterion"},
	{"task-two-promises", Error, "The task asks for two different final words"},
	{"task-workspace", Note, "The workspace of the task is not kept"},
	{"task-records", Note, "Beads of another program are kept as a record"},
	{"tests-unknown", Error, "No test command is known"},
	{"tests-found", Note, "The test command was detected in the project"},
}
