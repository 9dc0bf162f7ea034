package diag

// taskmasterCodes declares the codes about Task Master's tasks.json (owner:
// ir/codec/taskmaster).
var taskmasterCodes = []Entry{
	{
		Code: "taskmaster-tag", Severity: Error, About: "bead",
		Title: "The file has tasks under several tags, and none was chosen",
		Why:   "Each tag is a list of tasks of its own, with its own numbers, and becomes an epic of its own. Which one is current stands in another file, and differs from clone to clone. Name the one that you want behind the format.",
		Wrong: `ralph import --as taskmaster tasks.json`, Right: `ralph import --as taskmaster:master tasks.json`,
	},
	{
		Code: "taskmaster-cancelled", Severity: Note, About: "bead",
		Title: "A cancelled task is not run",
		Why:   "It stands in the epic as done, so that the list stays whole. What depends on it does not wait for it; it waits for what the cancelled task depended on. Take the dependency out if that is not what you want.",
		Wrong: `{"status": "cancelled"}`, Right: `{"status": "pending"}`,
	},
	{
		Code: "taskmaster-held", Severity: Note, About: "bead",
		Title: "A task waits for a person",
		Why:   "A task that is deferred, blocked or in review is not what an agent should begin with. It becomes a manual sprint: what depends on it waits until a person says `ralph approve KEY` (it is done) or `ralph skip KEY` (go on without it). Set it to pending to have it run.",
		Wrong: `{"status": "deferred"}`, Right: `{"status": "pending"}`,
	},
	{
		Code: "taskmaster-lifted", Severity: Note, About: "bead",
		Title: "A dependency of or on a subtask is one of its whole task",
		Why:   "Subtasks are the task list of one sprint: one agent does them in one worktree. So whoever depends on one of them waits for the whole task, and what one of them depends on comes before the whole task.",
		Wrong: `{"id": 3, "dependencies": ["1.2"]}`, Right: `{"id": 3, "dependencies": [1]}`,
	},
}
