// Package bead reads and writes the beads of scrum agents: issues whose metadata say
// where the work is done, by which agent with which prompts, which QA agents judge it,
// and the result of every attempt.
//
// In: JSON files with one bead, several, one per line, or in bd's envelope, leniently
// (missing or odd values are warnings) or strictly (violations of the format are
// errors). Out: an ir.Draft for the compiler. In the other direction an ir.Epic with
// its ir.History becomes beads again, with everything that was run; where the epic
// lacks what the format requires, it is written as it is and returned as breaches.
// docs/formats/bead.md says what becomes of each field and what is lost.
//
// bd's own format and the mirror into bd write Metadata about a node, too.
//
// It does no I/O. It imports ir, diag and ir/codec/foreign.
package bead
