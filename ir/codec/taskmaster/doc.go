// Package taskmaster reads Task Master's tasks.json: the flat form {"tasks": […]} and
// the tagged one {"master": {"tasks": […]}, …}.
//
// In: the bytes of one file, and the tag if it has several. Out: an ir.Draft with a
// node for each task, whose subtasks are the node's task list, and all mistakes in the
// file, found in one pass, each with the JSON pointer and the position of the value.
// docs/formats/taskmaster.md says what each key becomes.
//
// It does no I/O. It imports ir, ir/codec/foreign and diag; app calls it.
package taskmaster
