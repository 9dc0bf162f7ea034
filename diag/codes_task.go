package diag

// taskCodes declares the codes about tasks with success criteria (owner:
// ir/codec/beadsmith) and about tests that a source asks for without a command.
var taskCodes = []Entry{
	{
		Code: "task-no-criterion", Severity: Error, About: "bead",
		Title: "The task has no success criterion",
		Why:   "The criteria are what judges the work. With none, whatever an agent leaves would pass unjudged.",
		Wrong: `{"id": "t1", "description": "Add a login form", "successCriteria": []}`, Right: `{"id": "t1", "description": "Add a login form", "successCriteria": [{"type": "tests_pass"}], "testCommand": "npm test"}`,
	},
	{
		Code: "task-two-promises", Severity: Error, About: "bead",
		Title: "The task asks for two different last words",
		Why:   "`done_tag`, and `custom` with a condition, look for words that the agent ends with. It ends once, so only one text can be asked for.",
		Wrong: `[{"type": "done_tag"}, {"type": "custom", "config": {"condition": "SHIPPED"}}]`, Right: `[{"type": "done_tag", "config": {"marker": "SHIPPED"}}]`,
	},
	{
		Code: "task-workspace", Severity: Note, About: "bead",
		Title: "The workspace of the task is not kept",
		Why:   "An absolute path means something on one machine only. `ralph apply` works in the repository that it is started in, in worktrees of its own; an export writes that repository's path.",
		Wrong: `{"workspaceRoot": "/home/ann/shop"}`, Right: `{"workspaceRoot": "/home/ann/shop"}`,
	},
	{
		Code: "task-records", Severity: Note, About: "bead",
		Title: "Beads of another program are kept as a record",
		Why:   "A bead is one attempt at a task. What another program tried was not judged by ralph's gates, so it counts for nothing: all attempts and tokens of the task are still there. An export writes these beads before ralph's own.",
		Wrong: `{"id": "b1", "taskId": "t1", "beadNumber": 1, "status": "approved"}`, Right: `{"id": "t1", "description": "Add a login form", "successCriteria": [{"type": "done_tag"}]}`,
	},
	{
		Code: "tests-unknown", Severity: Error, About: "bead",
		Title: "Nobody knows how the project is tested",
		Why:   "Tests are to pass, and there is no command for them: none was given, and the files at the root of the project (`Cargo.toml`, settings of pytest, `package.json` with a test script, `go.mod`, `build.gradle`, `pom.xml`, a `justfile` or `Makefile` with a target test) name none, or two different ones. A criterion that cannot be checked never passes silently.",
		Wrong: `{"successCriteria": [{"type": "tests_pass"}]}`, Right: `{"successCriteria": [{"type": "tests_pass"}], "testCommand": "make test"}`,
	},
	{
		Code: "tests-found", Severity: Note, About: "bead",
		Title: "The test command was found in the project",
		Why:   "Tests are to pass and no command was given, so the files at the root of the project were asked. The command stands in `epic.json`; it is not looked for again when running.",
		Wrong: `{"successCriteria": [{"type": "tests_pass"}]}`, Right: `{"successCriteria": [{"type": "tests_pass"}], "testCommand": "go test ./..."}`,
	},
}
