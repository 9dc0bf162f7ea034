package ralphbead

import "github.com/ralph-compiler/ralph/ir/codec/foreign"

// Losses are what does not survive an import and an export.
var Losses = []foreign.Loss{
	{Field: "spelling and order of keys", What: "They come back in snake_case and in the order of the schema; unknown keys keep their spelling and come last. White space, a byte order mark and `null` are gone."},
	{Field: "`/id`", What: "A bead without one gets the id that ralph derived for it."},
	{Field: "`/title`", What: "White space in it becomes single blanks; one that was absent is written, as the first line of the intent."},
	{Field: "`/intent`", What: "White space around it and carriage returns are gone."},
	{Field: "`/type`, `/lane`, `/status`", What: "In lower case. `status` is that of ralph's own run once there was one."},
	{Field: "`/priority`", What: "One that was absent is written: 2, or what the policy says."},
	{Field: "`/dod/evidence_required`", What: "One that was absent is written: `false`, or `true` where the bead is written by the schema of the repository."},
	{Field: "`/dod/verifiers/*/expect/exit_code`, `timeout_seconds`, `on_failure`", What: "Those that were absent are written: 0, 300, `stop`. An empty `stdout_contains` or `stderr_contains` checks nothing and is gone."},
	{Field: "`/dod/verifiers/*/command`", What: "Carriage returns and line ends at its end are gone."},
	{Field: "`/constraints/max_iterations`, `time_budget_minutes`", What: "Those that were absent are written where the policy has one."},
	{Field: "`/constraints/deadline`", What: "Fractions of a second are gone."},
	{Field: "numbers", What: "Whole numbers that were written as 30.0 are written as 30."},
	{Field: "`/ralph_meta`", What: "Once ralph has run the bead its own record replaces `attempt_count`, `executor_version`, `last_attempt`, `verifier_results`, `last_failure_summary`, `failure_reason` and `status`."},
	{Field: "edges, phases, steps, agents, other gates", What: "Of an epic that was made from a plan: the format has no word for them. Tasks and acceptance criteria are in the intent."},
}
