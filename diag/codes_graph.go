package diag

// graphCodes declares the codes about the compiled graph: agents, gates, git, rules (owner: compiler).
var graphCodes = []Entry{
	{
		Code: "plan-twice", Severity: Error, About: "input",
		Title: "A plan is named twice",
	},
	{
		Code: "policy-file", Severity: Error, About: "graph",
		Title: "A policy file cannot be read",
	},
	{
		Code: "path-leaves-project", Severity: Error, About: "graph",
		Title: "A path in the plan leads out of the project",
	},
	{
		Code: "path-text", Severity: Hint, About: "graph",
		Title: "What stands below Files or Reads is no path",
	},
	{
		Code: "not-a-slug", Severity: Warning, About: "graph",
		Title: "The id of a plan is not a slug",
	},
	{
		Code: "label-value", Severity: Warning, About: "graph",
		Title: "A label's value does not fit",
	},
	{
		Code: "directive-value", Severity: Error, About: "graph",
		Title: "A directive's value does not fit",
	},
	{
		Code: "verify-prose", Severity: Hint, About: "graph",
		Title: "Text below Verify is an acceptance criterion",
	},
	{
		Code: "label-not-allowed", Severity: Error, About: "graph",
		Title: "The policy does not let a plan set this",
	},
	{
		Code: "unknown-policy", Severity: Error, About: "graph",
		Title: "The plan names a policy that does not exist",
	},
	{
		Code: "ambiguous-policy", Severity: Error, About: "graph",
		Title: "Two policies match an item",
	},
	{
		Code: "deleted-id", Severity: Error, About: "graph",
		Title: "A new item would get the id of a deleted one",
	},
	{
		Code: "id-choice", Severity: Error, About: "input",
		Title: "--fresh-id or --same-id names no item that it can concern",
	},
	{
		Code: "unknown-complexity", Severity: Error, About: "input",
		Title: "--complexity names a level that does not exist",
	},
	{
		Code: "unknown-pr", Severity: Error, About: "input",
		Title: "--pr has an unknown value",
	},
	{
		Code: "leaves-critical", Severity: Error, About: "graph",
		Title: "A label lowers what was recognised as critical",
	},
	{
		Code: "gate-loosened", Severity: Error, About: "graph",
		Title: "A plan would remove or replace a gate",
	},
	{
		Code: "unknown-gate", Severity: Error, About: "graph",
		Title: "A gate is named that does not exist",
	},
	{
		Code: "duplicate-gate", Severity: Error, About: "graph",
		Title: "A gate's name stands twice in an item",
	},
	{
		Code: "no-agent", Severity: Error, About: "graph",
		Title: "No active agent fits",
	},
	{
		Code: "agent-access", Severity: Error, About: "graph",
		Title: "A step that writes has an agent that may only read",
	},
	{
		Code: "agent-file", Severity: Warning, Strict: true, About: "graph",
		Title: "An agent file is missing",
	},
	{
		Code: "implicit-agents", Severity: Note, Strict: true, About: "graph",
		Title: "The plan names agents that no policy declares",
	},
	{
		Code: "near-miss-agent", Severity: Warning, Strict: true, About: "graph",
		Title: "An agent's name is one typing mistake away from another's",
	},
	{
		Code: "owns-nothing", Severity: Warning, About: "graph",
		Title: "A word in Owns is no path of the project",
	},
	{
		Code: "builtin-agent", Severity: Note, About: "graph",
		Title: "A built-in agent is taken",
	},
	{
		Code: "self-review", Severity: Warning, Strict: true, About: "graph",
		Title: "An agent judges its own work",
	},
	{
		Code: "setting-elsewhere", Severity: Warning, Strict: true, About: "graph",
		Title: "A setting of the whole run stands where it does nothing",
	},
	{
		Code: "single-agent", Severity: Warning, About: "graph",
		Title: "Only one agent has a capability",
	},
	{
		Code: "no-command-gate", Severity: Warning, About: "graph",
		Title: "No command judges what is written",
	},
	{
		Code: "protect-nothing", Severity: Warning, About: "graph",
		Title: "A gate protects a file that is not there",
	},
	{
		Code: "gate-editable", Severity: Warning, About: "graph",
		Title: "The judged agent may edit what a gate runs",
	},
	{
		Code: "file-overlap", Severity: Warning, About: "graph",
		Title: "Items side by side change the same files",
	},
	{
		Code: "deadline-past", Severity: Warning, About: "graph",
		Title: "A deadline is past",
	},
	{
		Code: "deadline-tight", Severity: Warning, About: "graph",
		Title: "Attempts and timeouts reach beyond the deadline",
	},
	{
		Code: "budget-too-small", Severity: Error, About: "graph",
		Title: "A budget is below the cheapest full run",
	},
	{
		Code: "branch-format", Severity: Error, About: "graph",
		Title: "git refuses the name of a branch",
	},
	{
		Code: "branch-clash", Severity: Error, About: "graph",
		Title: "Two branches cannot exist beside each other",
	},
	{
		Code: "name-taken", Severity: Warning, About: "graph",
		Title: "A branch or a worktree of the epic cannot be made here",
	},
	{
		Code: "worktree-path", Severity: Error, About: "graph",
		Title: "A worktree would stand where it may not",
	},
	{
		Code: "worktree-clash", Severity: Error, About: "graph",
		Title: "Two worktrees clash",
	},
	{
		Code: "same-slug", Severity: Error, About: "graph",
		Title: "Two plans have one slug",
	},
	{
		Code: "rule-broken", Severity: Error, About: "graph",
		Title: "A rule of the policy is broken",
	},
	{
		Code: "rule-waived", Severity: Note, About: "graph",
		Title: "A broken rule is waived",
	},
	{
		Code: "waiver-expired", Severity: Warning, Strict: true, About: "graph",
		Title: "A waiver is past its last day",
	},
	{
		Code: "waiver-unused", Severity: Warning, About: "graph",
		Title: "A waiver names no item",
	},
}
