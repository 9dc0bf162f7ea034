// Package shepherd writes what was run as Agent Shepherd's run log does: runs.jsonl,
// one JSON object a line, one line a run. A run of Agent Shepherd's is an attempt of
// a step here, its phase is the step, its issue the node.
//
// In: an epic with its history. Out: the lines, oldest first, with the keys of the
// specification and what ralph knows besides under "ralph"; and what the format
// demands and the history does not have. docs/formats/shepherd.md has all of it.
// Agent Shepherd's configuration is read by policies/shepherd: it is policy.
//
// It imports ir and ir/codec/foreign; app calls it.
package shepherd
