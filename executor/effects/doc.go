// Package effects performs the effects that a machine requests: the worker's side of a run,
// independent of its driver.
//
// In: the tools (epic, workspace, runners, gates, files, redaction), and one executor.Request
// per effect. Out: the body of the event that reports the result, without secrets; progress
// of a running effect goes to the function passed to New. A worker knows only what is in the
// request, so it may be another process. It imports executor, ir and internal packages;
// executor/local and other drivers call it, as does app/run for a preflight. app/record,
// app/view and app/cli ask it where an attempt's files are.
//
// A gate gets a directory with exactly its commit, which is restored afterwards; the gate's
// changes to it count by the gate's kind. Anything among an attempt's files that is neither
// a file nor a directory is removed before ralph reads or writes there.
package effects
