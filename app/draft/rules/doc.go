// Package rules holds the knowledge about plans that only `ralph draft` needs: the prompts
// of a planner and of its explorers, and the rules for drafted plans beyond those of the
// compiler.
//
// In: the wish, the project's policy, its files through a confined fs.FS, and a
// compiled plan. Out: prompts as lines, and diagnostics. It does no I/O of its own
// and starts nothing: app reads the files and puts the results into the epic of
// a draft and into its gate of kind compiles. It imports policies, compiler/syntax,
// ir, diag and internal packages; never the executor.
package rules
