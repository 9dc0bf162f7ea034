// Package dot draws an epic, or the policy behind it, in the language of
// Graphviz.
//
// In: an ir.Epic that ir.Verify accepts, and what to emphasise. Out: the text of
// one digraph, deterministic, for `dot -Tsvg`. The package runs nothing and does
// no I/O. It imports only ir; app calls it.
//
// The drawing never says something by colour alone: kinds have shapes, levels of
// complexity have a word and a border, finished work a check mark, soft edges
// dashes. Everything that comes from the epic is escaped, and control characters
// are shown, not sent.
package dot
