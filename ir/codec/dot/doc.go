// Package dot draws an epic, or its policy, in the language of Graphviz.
//
// In: an ir.Epic that ir.Verify accepts, and what to emphasise. Out: the text of
// one digraph, deterministic, for `dot -Tsvg`. The package runs nothing and does
// no I/O. It imports only ir; app calls it.
//
// Colour is never the only sign: kinds have shapes, levels of complexity a word and a
// border, finished work a check mark, soft edges dashes. All text of the epic is
// escaped, and control characters are shown, not sent.
package dot
