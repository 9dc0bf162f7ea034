// Package depend is the dependency engine: from item numbers, prose that states an order,
// labels, lists and drawings to edges, each with its provenance.
//
// In: Input, the items and groups of one plan with the values of their labels, the lists
// and drawings outside them, and Rules, the dialect's reading of numbers. Statements,
// Clauses, OtherHeadings and NearLabels extract statements from a syntax tree, and Names
// knows what a value can name. Out: a Graph, which returns an item's edges and answers
// questions of order, and diagnostics. An imported draft's edges come in through Import.
// No state is kept between two plans.
//
// It imports compiler/syntax, diag, ir and small helpers under internal; it knows no
// policy. Only compiler imports it.
package depend
