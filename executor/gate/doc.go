// Package gate judges attempts: Command runs a program in the worktree at exactly
// the collected commit, Agent asks an agent (QA), Review asks one that sees only
// the acceptance criteria and the diff, Outcome looks at what the agent itself
// reported.
//
// In: an executor.GateRun. Out: a verdict (pass, fail, stop, error) with feedback,
// and a signature that identifies repeated failures. Unreadable or incomplete output,
// or output that violates its schema, is an error, never a pass. Prompts, answers
// and evidence are kept in the attempt's files. It imports executor, ir,
// internal/process, internal/jsonschema and internal/atomicfile; agents are run
// through executor.Runner. app makes the gates and executor/effects calls them.
package gate
