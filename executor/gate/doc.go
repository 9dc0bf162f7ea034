// Package gate judges attempts. In this form it knows one kind of gate: a shell
// command that is run in the worktree at exactly the collected commit.
//
// In: an executor.GateRun. Out: a verdict (pass, fail, error) with the end of the
// output as feedback, and a signature by which the same failure is recognised.
// It imports executor, ir and internal/process; cmd/ralph makes it and
// executor/local calls it.
package gate
