// Package compiler turns plans and policies into epics: Compile, a table of
// passes, one file each.
//
// In: the bytes of plans and policy files, and the project as a confined file
// system. Out: for each plan an ir.Epic with its canonical bytes, the plan with
// ids written into it, a Trace that says where each value came from, and every
// diagnostic. Compile is pure: the same input gives the same bytes on every
// machine; it reads nothing but through Input.Project, and no clock.
//
// How a plan becomes an epic, one file each:
//
//	compile.go      Compile and the table of passes
//	resolve.go      sources, front matter, policy files, dialect
//	unit.go         what the passes read and write
//	lower*.go       syntax tree → ir.Draft and the input of the dependency engine
//	depend/         the dependency engine: numbers, prose, labels, drawings → edges
//	pass_*.go       draft and policy → epic, in the order of the table
//	annotate.go     ids, and the plan with ids
//	trace.go        why a value is what it is
//
// It imports diag, ir, policies, compiler/syntax, compiler/depend and small helpers
// under internal. app calls it; the executor never does.
package compiler
