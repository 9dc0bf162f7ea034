// Package command runs a program as an agent: any script or binary that takes a
// prompt and changes the files of its working directory.
//
// In: an executor.AgentRun. Out: how the agent ended and what it says about its
// work, validated and short enough for an event. It imports executor, ir and
// internal/process; app makes it and executor/effects calls it.
//
// The program gets the prompt (stdin, the file RALPH_PROMPT, or its last
// argument), the worktree as current directory, only the environment that the
// runner lets through, and RALPH_EPIC, RALPH_NODE (the key), RALPH_ID,
// RALPH_STEP, RALPH_ATTEMPT, RALPH_BRANCH, RALPH_PROMPT, RALPH_FEEDBACK (a file,
// empty on a first attempt) and RALPH_OUTCOME (a file where it may write its
// outcome as JSON).
//
// An outcome says result (success, partial, failed) and may say next_action,
// summary, suggested_next_phase, needs_human, created_issues, pointers, errors
// and usage { tokens, usd }; success, error, fatal, pr_url and pr_number, the
// words of a scrum master's result, count as well. Without an outcome, exit code 0
// means success and anything else a failed run; <promise>TEXT</promise> in the
// last lines of a successful run also counts as an outcome. All of that is a claim.
//
// Failures not caused by the agent are an *executor.Failure: exit codes 126 and 127
// (it could not run at all), a signal that ralph did not send, also as reported by
// a shell (137, 143), and what the runner's limited_when recognises in the exit
// code and in the last 64 KiB of each output, if there is no valid outcome.
//
// The files of a turn are in the attempt's directory: NAME.prompt.md,
// NAME.feedback.md, NAME.outcome.json, NAME.out and NAME.err.
package command
