package diag

// taskCodes declares the codes about tasks with success criteria (owner:
// ir/codec/beadsmith) and about tests that a source asks for without a command.
var taskCodes = rows{
	{"task-no-criterion", Error, "The task has no success criterion"},
	{"task-two-promises", Error, "The task asks for two different last words"},
	{"task-workspace", Note, "The workspace of the task is not kept"},
	{"task-records", Note, "Beads of another program are kept as a record"},
	{"tests-unknown", Error, "Nobody knows how the project is tested"},
	{"tests-found", Note, "The test command was found in the project"},
}
