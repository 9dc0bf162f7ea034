// Package draft holds what `ralph draft` knows about plans and nobody else does:
// what a planner and those who look around for it are told, and what a plan that
// compiles must have besides.
//
// In: the wish, the project's policy, its files through a confined fs.FS, and a
// compiled plan. Out: prompts as lines, and diagnostics. It does no I/O of its own
// and starts nothing: app reads the files and puts the results into the epic of
// a draft and into its gate of kind compiles. It imports policies, compiler/syntax,
// ir, diag and internal packages; never the executor.
package draft
