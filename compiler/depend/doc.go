// Package depend is the dependency engine: from the numbers of the items, prose that
// states an order, labels, lists and drawings to edges, each with its provenance.
//
// In: Input, the items and groups of one plan with what their labels say, the lists and
// drawings outside them, and Rules, what the dialect makes of numbers. Statements,
// Clauses, OtherHeadings and NearLabels take what is said from a syntax tree, and Names
// knows what a value can name. Out: a Graph, which gives the edges of an item and answers
// questions of order, and diagnostics. Edges that an imported draft states come in through
// Import. Nothing is kept between two plans.
//
// It imports compiler/syntax, diag, ir and small helpers under internal; it knows no
// policy. Only compiler imports it.
package depend
