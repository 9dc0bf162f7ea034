// Package ir is the typed graph of work that both halves of ralph share: an
// Epic with its nodes, agents, gates and runners, as in epic.json.
//
// In: a Draft, made by a front end (the plan's lower, a codec), or the bytes of an
// epic.json. Out: an Epic, its canonical bytes, its digests, its order, its
// difference from another one, its JSON Schema.
//
// Encode writes the canonical bytes, Decode reads them strictly, Verify checks
// what types cannot, Seal digests nodes, Order and CompareKeys define their
// order, Cycles, Impact, RedundantEdges and Stats analyse the graph,
// Diff compares two epics. All of them are pure functions, safe for concurrent
// use as long as their arguments are not modified; none panics on an epic
// that Decode returned, valid or not.
//
// The package has no run-time state and does no I/O. It imports diag (for the
// source ranges in a Draft), small helpers under internal and, alone in the module,
// the line differences of rogpeppe/go-internal. compiler, executor, ir/codec and
// app import it.
//
// Conventions of the file: every field is always present (empty: "", [], {} or 0),
// ralph's own numbers are integers (durations in ms, money in millionths of a US
// dollar), paths are relative to the project with forward slashes, multi-line texts
// are arrays of lines.
package ir
