// Package bd speaks with beads through the bd command line: it pushes an epic into
// a beads database, mirrors a run into it, reads people's changes there, and reads an
// epic back from it. bd is a mirror; the journal stays the truth.
//
// In: an ir.Epic with its ir.History, and the directory of a repository with a beads
// database. Out: beads, and people's changes to them.
//
// # Rooms of the package
//
//   - Client (client.go, issue.go, history.go, database.go): one typed method for each command of bd that
//     ralph uses. Every call has a clean environment (no metrics, no backup, no
//     prompts), a time limit that grows with its work, and its answer is validated:
//     JSON in bd's envelope, ids compared with the requested ones. One call at a
//     time: bd has one writer, and readers wait for it.
//   - Push (push.go): the epic and its nodes, in bulk, idempotent, resumable. Nodes
//     by import, blocks edges by batch in reverse topological order (which makes each
//     search for cycles trivial).
//   - Mirror (mirror.go, loop.go, turn.go): the outbox. It follows the journal with a cursor of its
//     own: a bead's fields are written in their state at the bead's turn (coalesced),
//     comments one by one, in order, each once. It never blocks or fails a run;
//     bd's refusals are reported; after an outage of bd it catches up.
//   - Claim (claim.go), mode.go: people's issues, and the mode of an epic.
//   - Steer (steer.go, labels.go): one `bd list` per poll; people's changes become the
//     decisions that they could have given on the command line.
//   - Recall (recall.go): the epic and its state read back, for `ralph recover`.
//
// # One writer
//
// During a run only its mirror writes to the beads. Who calls what:
//
//   - Push creates and changes beads that ralph made from a plan: titles, texts, edges.
//     On imported beads (push_lent.go) it writes only the epic's label and its own keys.
//   - The mirror writes a run's state: status, assignee, state labels, comments, its
//     metadata keys, external references. It runs with ralph apply.
//   - The mirror of an issue (claim.go) does the same for a bead that a person wrote and
//     ralph worker has claimed. There is one node and no epic bead, nothing is pushed,
//     and the bead is read by its id. The claim's token in its metadata names the owner;
//     without it nothing more is written. bd has no guard for a token, so the issue is
//     read before each write, unless bd showed it within two seconds; status and
//     assignee guard each update of a field. It starts writing when the run begins:
//     before that the bead is as the worker claimed it, and the journal may be of an
//     older run. During the run the issue is in progress or waits at a gate; its state
//     after the run, with the sum judged, comes from Claim.End: closed, blocked, or
//     waiting for a person, in the words of ralph worker.
//   - The worker claims (one update, guarded by status and assignee), and releases what its
//     run leaves open. If the mirror was cut short (bd away, kill -9), the worker makes one
//     after the run that catches up. What the worker found when it claimed the issue is
//     reported by the mirror (Claim.Notes). It writes nothing else about a run; for an
//     issue that it does not take it has said why (NotTaken).
//   - Planned and Approved (mode.go) move an epic's mode when no run is active.
//
// An issue's content (title, description, design, notes, criteria, priority, edges,
// labels and metadata keys that are not ralph's) is its author's: no call with these
// fields is made for it.
//
// # What ralph may touch
//
// The epic's bead, its nodes' beads and the edges between them; on an issue claimed by a
// worker, its status, state labels, comments and own keys; the key types.custom, and, if
// the policy asks for it, proposals. Nothing else: not hooks, not commits, not files
// outside .beads, never `bd init`, `bd sync` or `bd dolt push`.
//
// The package imports executor, ir, ir/codec/bd and internal packages; app
// wires and calls it.
package bd
