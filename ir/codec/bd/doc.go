// Package bd reads and writes issues as the bd program does: lines of its export and
// import, and its commands' answers with --json, in both envelopes, from version 0.49
// on.
//
// In: such files, as an ir.Draft for the compiler. Out: an ir.Epic with its
// ir.History as rows for bd import, the epic first; the push into a database and
// ralph export --as bd write the same rows. docs/formats/bd.md says what becomes of
// each field and what is lost.
//
// It does no I/O. It imports ir, diag, ir/codec/foreign and ir/codec/bead, whose
// metadata a bead of bd carries.
package bd
