// Package executor is the vocabulary of a run: events, effects, statuses, decisions,
// outcomes, and the contracts of its workers (Runner, Gate, Workspace, Journal,
// Tracker).
//
// It decides nothing and does no I/O. It imports ir and the standard library;
// executor/machine decides, executor/local drives it, executor/effects performs its effects,
// and executor/journal, executor/workspace, executor/runner and executor/gate implement
// the contracts. app wires them together.
package executor
