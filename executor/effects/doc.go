// Package effects does the effects that a machine asks for: it is what a worker does,
// whoever drives the run.
//
// In: the tools (epic, workspace, runners, gates, files, what takes secrets out), and one
// executor.Request for each effect. Out: the body of the event that says what came of it,
// without secrets; what an effect says while it goes on goes to the function that New was
// given. A worker knows nothing of the run but what stands in the request, so it may be
// another process. It imports executor, ir and internal packages; executor/local and other
// drivers call it, and app/run for a preflight alone. app/record, app/view and app/cli ask it
// where the files of an attempt are.
//
// A gate gets a directory that holds exactly its commit, which is put back afterwards;
// what it did to it counts by its kind. Of an attempt's files, what is neither a file nor a
// directory is taken away before ralph reads or writes there.
package effects
