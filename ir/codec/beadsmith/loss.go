package beadsmith

import "github.com/ralph-compiler/ralph/ir/codec/foreign"

// Losses is what an import and an export lose.
var Losses = []foreign.Loss{
	{Field: "order of tasks and keys, spelling of keys", What: "tasks come out in the epic's order, keys as the format has them; keys that ralph does not know keep their spelling and come last"},
	{Field: "`/workspaceRoot`", What: "not kept: an epic holds no absolute path. An export writes the repository that the epic was applied in"},
	{Field: "`/description`", What: "blanks around it, and CRLF"},
	{Field: "`/tokenBudget`, `/maxIterations`", What: "left out, they are what the policy says, and an export writes that; `null` is a task without a limit, and a breach"},
	{Field: "`/testCommand`", What: "left out where `tests_pass` needs one, it is found in the project, and an export writes what was found"},
	{Field: "`/successCriteria`", What: "gates of the policy come after those of the task. `caseSensitive` of `done_tag` does nothing: the words are compared as they are. Agents, reviews and people that judge are `custom` with a `kind`, which is refused when it is read back: the policy names them"},
	{Field: "`/status`", What: "`completed` is done by the plan; what another program was about to do is not known to ralph, whose journal says where a task stands"},
	{Field: "`/key`, `/failureCode`, `/reason`, `/currentBeadId`, `/beadNumber`, `/beadStatus`, `/beadIterationCount`, `/tokenBudgetRemaining`, `/lastBeadSummary`", What: "not read: they follow from the beads and the journal and are written anew"},
	{Field: "`/beads`, `/beadResults`", What: "kept as a record, before ralph's own; they use up neither iterations nor tokens. Results without beads are not read"},
	{Field: "`/beads/*/filesChanged`", What: "a renamed file is a deleted and a created one, with the lines that changed on the way; a binary file has 0 lines"},
	{Field: "`/beads/*/testResults`", What: "tests that were skipped are left out: a result has passed or not"},
	{Field: "`/beads/*/impactSummary`, `/beads/*/filesChanged/*/impactedNodes`, `/beadResults/*/impact`", What: "not written: ralph has no graph of the code. In beads and results that were imported they stay"},
	{Field: "what else a node has", What: "dependencies, tasks, acceptance criteria, labels, scope, branch and agents are not written: the format has no place for them, and a plan keeps them"},
	{Field: "attempts that were cancelled, timed out, stalled or broken off", What: "`rejected`, as the format has no other word; `errors` says what happened"},
}
