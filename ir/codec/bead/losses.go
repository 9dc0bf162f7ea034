package bead

import "github.com/ralph-compiler/ralph/ir/codec/foreign"

// Losses lists what does not survive an import and an export. docs/formats/bead.md has it
// as a table.
var Losses = []foreign.Loss{
	{Field: "order and spelling of keys", What: "keys come out in snake_case, in the order of the format, unknown ones last and sorted"},
	{Field: "keys that are absent or null", What: "those of the format come out with the values that the policy and the rest of the bead gave them"},
	{Field: "JSON in texts", What: "lists, objects and numbers of the metadata that are in a text, as bd may hold them, come out as what they are"},
	{Field: "line ends", What: "CR LF becomes LF; line ends around a prompt are dropped, and so are prompts that say nothing; a title and a section are one line with single blanks"},
	{Field: "`/dependencies`", What: "beads of the same import come first, in the order of their sprints, then the others; objects come out as ids, each once; what does not block (related, parent-child, discovered-from) stays in the epic and does not come out"},
	{Field: "`/issue_type`", What: "a bead that waits for two or more of the import comes out as beads-ralph-merge with branches_to_merge, for ralph merges them; types that the format does not have come out as beads-ralph-work; an epic heads the others and does not come out"},
	{Field: "`/labels`", What: "phase-…, sprint-… and merge are always there and come first, each label once"},
	{Field: "`/status`, `/assignee`, `/updated_at`, `/closed_at`, `/external_ref`", What: "as soon as ralph has begun the bead, its own"},
	{Field: "`/metadata/worktree_path`", What: "below REPOSITORY-worktrees the place is kept, and the directories above it are those of this machine; every other place becomes that of the policy's template"},
	{Field: "`/metadata/branch`", What: "one that git cannot have (main/1-2-login beside main) comes out until the work begins, then the real one; a source_branch that is such a branch is the epic's"},
	{Field: "`/metadata/branches_to_merge`", What: "the branches of all beads that are waited for come first, in the order of their sprints, then the others"},
	{Field: "`/metadata/dev_agent_path`, `agent_path` of QA agents", What: "an agent that the policy declares under this name has the file that the policy gives it"},
	{Field: "`/metadata/dev_model`, `model` of QA agents", What: "an alias of the policy whose model is called sonnet, opus or haiku comes out as that"},
	{Field: "`/metadata/qa_agents`", What: "agents of the policy's gates come out, too, with a key `gate`; what has this key is not imported again"},
	{Field: "`output_schema` of QA agents", What: "status, its three words, message and required are added where they are missing"},
	{Field: "`/metadata/attempt_count`, `…_executions`, `scrum_result`", What: "attempts of ralph are added after those that the bead came with; they do not count against max_retry_attempts; scrum_result is that of the last one"},
}
