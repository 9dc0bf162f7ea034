// Package beadsmith reads and writes tasks whose attempts are beads: a
// TaskDefinition with success criteria and budgets, the TaskState with its Beads and
// BeadResults, and the events of the program that runs them.
//
// In: files with TaskDefinitions or TaskStates, and Beads that belong to them, as
// objects, lists or lines, in camelCase or any other spelling. Out: an ir.Draft in
// which each task is a node and each criterion a gate; from an epic with its history
// a TaskState for each node; from plain records the lines of `ralph apply --events
// beadsmith`. docs/formats/beadsmith.md says what each field becomes.
//
// It does no I/O. It imports ir, diag and ir/codec/foreign; app calls it.
package beadsmith
