// Package shepherd writes a history in the form of Agent Shepherd's run log: runs.jsonl,
// one JSON object per line, one line per run. A run of Agent Shepherd is an attempt of
// a step here, its phase is the step, its issue the node.
//
// In: an epic with its history. Out: the lines, oldest first, with the keys of the
// specification and ralph's additional data under "ralph"; and what the format
// requires and the history lacks. docs/formats/shepherd.md has all of it.
// Agent Shepherd's configuration is read by policies/shepherd: it is policy.
//
// It imports ir and ir/codec/foreign; app calls it.
package shepherd
