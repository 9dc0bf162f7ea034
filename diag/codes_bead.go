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
}
