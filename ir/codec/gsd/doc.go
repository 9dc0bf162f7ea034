// Package gsd reads the plans of GSD (get-shit-done): the files below .planning/phases,
// each with front matter (phase, plan, wave, depends_on, files_modified, …) and
// <task> elements, the SUMMARY.md beside those that were carried out, and the
// ROADMAP.md that names the phases.
//
// In: the bytes of these files. Out: an ir.Draft with a node for each plan file, whose
// tasks are the node's task list, and all mistakes in the files, found in one pass.
// docs/formats/gsd.md says what each key and element becomes.
//
// It does no I/O; Find searches the given file system. It imports ir,
// ir/codec/foreign, internal/yaml and diag; app calls it.
package gsd
