// Package bead reads and writes the beads of scrum agents: issues whose metadata say
// where the work is done, by which agent with which prompts, which QA agents judge it,
// and what became of every attempt.
//
// In: JSON files with one bead, several, one a line, or in bd's envelope, leniently
// (what is missing or odd is a warning) or strictly (what the format demands is an
// error). Out: an ir.Draft for the compiler. The other way an ir.Epic with its
// ir.History becomes beads again, with everything that was run; what the format
// demands and the epic does not have is written as it is and returned as breaches.
// docs/formats/bead.md says what becomes of each field and what is lost.
//
// Metadata is what bd's own format and the mirror into bd write about a node, too.
//
// It does no I/O. It imports ir, diag and ir/codec/foreign.
package bead
