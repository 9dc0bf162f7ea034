// Package machine is the pure state machine that walks an epic.
//
// In: an ir.Epic and events (facts, in journal order). Out: what to record, start,
// stop or wait for (Todo), and views of each node's state. The same epic and events
// always give the same answers: the package has no clock, no goroutine, no
// randomness and does no I/O. It imports executor, ir and the standard library. Its
// drivers and displays import it: executor/local, executor/simulate,
// executor/tracker/bd and app. Runners, gates, workspaces, the journal and the
// outcome channel never do.
//
// A driver follows this order:
//
//  1. ask Run.Todo(now);
//  2. give every event of Todo.Record a sequence number, Apply it, and ask again
//     until Record is empty;
//  3. for each effect of Todo.Start: Apply an EffectStarted event;
//  4. append all these events to the journal, in one transaction, and only when
//     they are on stable storage
//  5. start the effects, each idempotent under its Key; stop those of Todo.Stop;
//  6. wait for a worker or until Todo.Wake, turn a worker's report into an event,
//     Apply it, and begin again.
//
// So an effect never starts before the record of its start is durable, and a crash
// between record and effect is repaired by repeating the effect: the RunStarted
// event of the next apply makes every started, unreported effect due again.
//
// # Parts
//
// Run composes the parts of the state and alone moves nodes. A part knows the epic
// (rules), the nodes (graph) and the last event (clock), never the Run:
//
//	runs     the applies of the epic, and whose events are applied now
//	halt     held, cancelled, draining
//	people   decisions about the epic as a whole; nodePeople those about a node
//	queues   nodes that are ready, running, or waiting for a time
//	parks    runners that take no further agent
//	budget   spending, and reservations of turns in flight
//	pre      the preflight of the bases
//	sum      the integration branch of mode dag; landing that of mode branch
//	lineage  what commits were made from, and how conflicts were resolved
//	tampers  changes by others
//
// Callers query a Run through small types: Node, Summary, Decisions, Bases,
// Integration, Watch (sights.go).
//
// # How a node moves
//
// A node's status is assigned in one line (Run.become) under a total table of
// legal transitions (status.go). While it is running or waiting, its stage says
// which effect or decision comes next:
//
//	base → open → prepare → (red) → agent → (taken) → collect → (diagnose) → gates → verdict
//	verdict → open, of this step, an earlier one or the next | publish
//	publish → (land | pull → poll) → done
//
// Facts move the stage (apply_*.go); decisions, such as "this attempt failed" or
// "this node is blocked", are taken by decide.go and become events themselves, so
// that the journal records everything that happened and a later version of ralph
// cannot read old facts differently. Effects in flight are identified by their key:
// in the gates stage a node has several.
//
// An agent's turn has a session, whose handle is reported during the turn
// (apply_fact.go). A turn that was cut, or taken over by a person, continues in it on
// the tree as it is; without a session, or without the tree, its work starts over
// (turns.go). Prompts (prompt.go) and what an agent may ask for (context.go) are
// built from the epic and the record alone.
//
// Two steps are in no epic and are created on demand (steps.go): "merge" resolves
// conflicting results (merge.go), "land" brings a result into the integration branch
// in mode branch (land.go). The sum of all results is a node of its own that begins
// when nothing else is left to do (sum.go).
//
// A runner that is limited or does not answer is parked for all nodes (park.go);
// people's decisions become Decided events (consider.go, people.go).
//
// # Decisions
//
// One function finds what a decision would do in the present state (Run.consider):
// Consider asks it and changes nothing, Apply of the Decided event carries it out.
// A decision that ends a wait lets the node continue when a slot is free; what has
// to happen then (an attempt ends rejected, a gate passes on a person's word, a
// worktree is handed in) is decided by onWord and approved before anything else,
// and becomes events. Approvals are bound to gate, digest, result and base, and
// looked up when a gate comes due: an approval of anything else is not found. A
// decision that does not fit the current epic has no effect and stays on record, so
// that every journal can be read under every epic.json.
package machine
