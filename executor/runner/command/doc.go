// Package command runs a program as an agent: any script or binary that takes a
// prompt and changes the files of its working directory.
//
// In: an executor.AgentRun. Out: how the agent ended and what it says about its
// work, validated. It imports executor, ir and internal/process; cmd/ralph makes
// it and executor/local calls it.
//
// The program gets the prompt (stdin, the file RALPH_PROMPT, or its last
// argument), the worktree as current directory, of the environment only what the
// runner lets through, and RALPH_EPIC, RALPH_NODE (the key), RALPH_ID,
// RALPH_STEP, RALPH_ATTEMPT, RALPH_BRANCH, RALPH_PROMPT, RALPH_FEEDBACK (a file,
// empty on a first attempt) and RALPH_OUTCOME (a file where it may write its
// outcome as JSON). Without an outcome, exit code 0 means success and anything
// else a failed run. Exit codes 126 and 127 mean that it could not run at all.
package command
