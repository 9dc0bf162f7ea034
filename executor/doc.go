// Package executor is the pure machine that walks an epic, and the contracts of
// those who do the work for it.
//
// In: an ir.Epic and events (facts, in the order of the journal). Out: what to
// record, to start, to stop or to wait for (Todo), and views of where each node
// stands. The same epic and the same events always give the same answers: the
// package has no clock, no goroutine, no randomness and does no I/O. It imports
// ir and the standard library; executor/local drives it, executor/journal,
// executor/workspace, executor/runner and executor/gate implement its contracts,
// and cmd/ralph wires them together.
//
// A driver keeps to this order:
//
//  1. ask Run.Todo(now);
//  2. give every event of Todo.Record a sequence number, Apply it, and ask again
//     until Record is empty;
//  3. for each effect of Todo.Start: Apply an EffectStarted event;
//  4. append all these events to the journal, in one transaction, and only when
//     they are on stable storage
//  5. start the effects, each idempotent under its Key; stop those of Todo.Stop;
//  6. wait for a worker or until Todo.Wake, turn what a worker reports into an
//     event, Apply it, and begin again.
//
// So an effect never begins before the record of its beginning is durable, and a
// crash between record and effect is repaired by doing the effect again: the
// RunStarted event of the next apply makes every effect that began and was not
// reported due once more.
//
// # How a node moves
//
// A node's status is assigned in one line (Run.become) under a total table of
// legal moves (status.go). While it is running or waiting, its stage says which
// effect or decision comes next: base → open → prepare → agent → collect → gate →
// verdict → (open again | publish) → done. Facts move the stage (apply_*.go);
// decisions, such as "this attempt failed" or "this node is blocked", are taken
// by decide.go and become events themselves, so that the journal says everything
// that happened and a later version of ralph cannot read old facts differently.
package executor
