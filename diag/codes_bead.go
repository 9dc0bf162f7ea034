package diag

// beadCodes declares the codes about files of other formats that hold single
// beads (owner: ir/codec/ralphbead).
var beadCodes = []Entry{
	{
		Code: "bead-json", Severity: Error, About: "bead",
		Title: "The bead is not a JSON object",
		Why:   "A Ralph bead is one JSON object in UTF-8, with or without a byte order mark. Old PowerShell writes UTF-16 unless it is told otherwise.",
		Wrong: `{"intent": "Add a login form", }`, Right: `{"intent": "Add a login form", "dod": {"verifiers": [{"name": "Tests pass", "command": "npm test"}]}}`,
	},
	{
		Code: "bead-missing", Severity: Error, About: "bead",
		Title: "The bead lacks a key that it must have",
		Why:   "A bead needs `intent` and `dod`, `dod` needs `verifiers`, and each verifier needs `name` and `command`. Keys may be written in snake_case, camelCase or PascalCase.",
		Wrong: `{"intent": "Add a login form"}`, Right: `{"intent": "Add a login form", "dod": {"verifiers": [{"name": "Tests pass", "command": "npm test"}]}}`,
	},
	{
		Code: "bead-value", Severity: Error, About: "bead",
		Title: "A value of the bead is not what its key asks for",
		Why:   "The message names the value by its JSON pointer and says what it has to be. Nothing is guessed: a number in quotes is no number, and a key that stands twice in two spellings could mean either.",
		Wrong: `{"name": "Tests pass", "command": "npm test", "timeout_seconds": "60"}`, Right: `{"name": "Tests pass", "command": "npm test", "timeout_seconds": 60}`,
	},
	{
		Code: "bead-no-verifier", Severity: Error, About: "bead",
		Title: "The bead has no verifier",
		Why:   "The verifiers are the definition of done. With none, whatever an agent leaves would pass unjudged.",
		Wrong: `{"intent": "Add a login form", "dod": {"verifiers": []}}`, Right: `{"intent": "Add a login form", "dod": {"verifiers": [{"name": "Tests pass", "command": "npm test"}]}}`,
	},
	{
		Code: "bead-priority", Severity: Warning, About: "bead",
		Title: "A priority of 5 becomes 4",
		Why:   "Ralph beads count from 0 to 5, everything else from 0 to 4. The 5 is kept beside the node, so that nothing is lost, and the bead is scheduled as priority 4.",
		Wrong: `{"priority": 5}`, Right: `{"priority": 4}`,
	},
	{
		Code: "start-step-unknown", Severity: Error, About: "bead",
		Title: "A label names a step that the policy does not have",
		Why:   "An issue with the label `phase:<step>` goes on at that step, and the steps before it are left out. With a name that nothing fits nobody could say what was done already, so the issue is not run.",
		Wrong: `{"id": "bd-12", "title": "Add a login form", "labels": ["phase:reviewing"]}`, Right: `{"id": "bd-12", "title": "Add a login form", "labels": ["phase:review"]}`,
	},
	{
		Code: "bead-powershell", Severity: Warning, Strict: true, About: "bead",
		Title: "A verifier is written for PowerShell",
		Why:   "On Linux and macOS verifiers are run by `sh`, which cannot read PowerShell, so `ralph apply` refuses such a bead there before anything starts. Write the command for `sh`, or let it start PowerShell.",
		Wrong: `{"name": "Files are there", "command": "(Get-ChildItem).Count"}`, Right: `{"name": "Files are there", "command": "pwsh -NoProfile -Command '(Get-ChildItem).Count'"}`,
	},
	{
		Code: "bead-completed", Severity: Note, About: "bead",
		Title: "The bead says that it is completed",
		Why:   "A bead whose `status` is `completed` becomes a sprint that is done by the plan: `ralph apply` does not run it. The other states are kept and mean nothing to ralph, whose own state is in its journal.",
		Wrong: `{"status": "completed"}`, Right: `{"status": "pending"}`,
	},
	{
		Code: "bead-unknown-key", Severity: Note, Strict: true, About: "bead",
		Title: "The bead has keys that ralph does not use",
		Why:   "They are kept in `epic.json` beside the node, so that nothing is lost. A misspelt key would do nothing too, which is why they are named.",
		Wrong: `{"name": "Tests pass", "command": "npm test", "timeout": 60}`, Right: `{"name": "Tests pass", "command": "npm test", "timeout_seconds": 60}`,
	},
	{
		Code: "bead-demand", Severity: Warning, Strict: true, About: "bead",
		Title: "The bead does not meet what its format demands",
		Why:   "The format of scrum agents' beads has a list of what every bead must have: a title, a status, a type, who is assigned, and in its metadata the place, the plan, the agent, the prompts and the QA agents. `ralph import` reads a bead that lacks some of it all the same; `ralph import --as bead --strict` refuses it, one error for each demand. `ralph validate --as bead` refuses what the format's own model refuses.",
		Wrong: `{"title": "Add a login form", "issue_type": "task"}`, Right: `{"title": "Add a login form", "issue_type": "beads-ralph-work"}`,
	},
	{
		Code: "bead-status", Severity: Warning, About: "bead",
		Title: "A bead's status is not taken over",
		Why:   "A bead that another executor has begun, or that waits for something that only it knows, is a sprint that ralph has not begun. Closed beads are done.",
		Wrong: `{"status": "in_progress"}`, Right: `{"status": "open"}`,
	},
	{
		Code: "bead-dependency", Severity: Warning, Strict: true, About: "bead",
		Title: "A bead depends on one that is not imported",
		Why:   "ralph waits only for work of the same epic. Import the beads together, in one file or by naming all files. If the other bead is closed, its work has to be in the branch that this one starts from.",
		Wrong: `{"id": "bd-2", "dependencies": ["bd-1"]}`, Right: `[{"id": "bd-1"}, {"id": "bd-2", "dependencies": ["bd-1"]}]`,
	},
	{
		Code: "bead-branch", Severity: Warning, About: "bead",
		Title: "git cannot have a bead's branch",
		Why:   "A branch cannot lie below another: with `main` there is no `main/1-2-login`, because git keeps branches as files. ralph names a branch of its own, by the template `git { branch = … }` of the policy. Once the work has begun, exports name that one.",
		Wrong: `{"branch": "main/1-2-login", "source_branch": "main"}`, Right: `{"branch": "work/1-2-login", "source_branch": "main"}`,
	},
	{
		Code: "bead-place", Severity: Warning, About: "bead",
		Title: "ralph has no place for a value of the bead",
		Why:   "The value is one of the format, and an epic cannot hold it, or ralph does what it asks for in another way. The message says what happens instead.",
		Wrong: `{"worktree_path": "/tmp/login"}`, Right: `{"worktree_path": "/home/dev/shop-worktrees/login"}`,
	},
	{
		Code: "bead-sandbox", Severity: Warning, About: "bead",
		Title: "A bead asks for a container",
		Why:   "`docker_image` and `resource_limits` become a sandbox of the kind container. ralph carries sandboxes and cannot make them yet, so `ralph apply` refuses such a bead: work that was meant to be confined never runs unconfined.",
		Wrong: `{"docker_image": "node:22"}`, Right: `{}`,
	},
	{
		Code: "bead-policy-gate", Severity: Note, About: "bead",
		Title: "A QA agent of the policy is left to the policy",
		Why:   "An export writes all agents that judge a bead, those of the policy too, and marks them with the name of their gate. An import does not add them a second time: what judges besides the bead's own QA agents is for the policy to say.",
		Wrong: `{"agent_path": ".claude/agents/reviewer.md", "gate": "blind-review"}`, Right: `{"agent_path": ".claude/agents/reviewer.md"}`,
	},
}
