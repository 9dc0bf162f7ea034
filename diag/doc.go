// Package diag holds source positions and diagnostics: what is wrong with the
// user's input, where, and what to write instead.
//
// In: byte ranges of files that other packages have read. Out: a sorted List.
// It imports only the standard library; compiler, compiler/syntax, policies,
// ir and app import it. Rendering for people (text with a snippet and a
// caret) is here, because it needs nothing but the source; SARIF lives in
// app's views.
//
// Positions are byte offsets everywhere. Lines and columns are made in one
// place, File.Position, when something is shown.
//
// Every diagnostic has a code. The codes are declared in one table (Table,
// assembled from codes_*.go); the long texts are markdown, texts/CODE.md, embedded and
// read when they are asked for. docs/diagnostics/ is generated from both and a test
// requires a golden case for each.
package diag
