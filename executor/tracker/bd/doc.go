// Package bd speaks with beads through the bd command line: it pushes an epic into
// a beads database, mirrors a run into it, reads what people did there, and reads an
// epic back from it. bd is a mirror; the journal stays the truth.
//
// In: an ir.Epic with its ir.History, and the directory of a repository that has a
// beads database. Out: beads, and what people did to them.
//
// # Rooms of the package
//
//   - Client (client.go, issue.go, history.go, database.go): one typed method for each command of bd that
//     ralph uses. Every call has a clean environment (no metrics, no backup, no
//     prompts), a time limit that grows with its work, and its answer is validated:
//     JSON in bd's envelope, ids compared with those that were asked for. One call
//     at a time: bd has one writer, and readers wait for it.
//   - Push (push.go): the epic and its nodes, in bulk, idempotent, resumable. Nodes
//     by import, blocks edges by batch in reverse topological order (each walk that
//     looks for cycles is trivial then).
//   - Mirror (mirror.go, loop.go, turn.go): the outbox. It follows the journal with a cursor of its
//     own: fields of a bead are written as they stand when their turn comes
//     (coalesced), comments are written one by one, in order, each once. It never
//     blocks or fails a run; what bd refuses is reported; after bd was away it
//     catches up.
//   - Claim (claim.go), mode.go: issues of people, and the mode of an epic.
//   - Steer (steer.go, labels.go): one `bd list` per poll; what people changed becomes the
//     decisions that they could have given on the command line.
//   - Recall (recall.go): the epic and its state read back, for `ralph recover`.
//
// # One writer
//
// While a run goes on nobody but its mirror writes to the beads. Who calls what:
//
//   - Push makes and changes beads that ralph made of a plan: titles, texts, edges.
//     Of beads that were imported (push_lent.go) it writes only the epic's label and
//     its own keys.
//   - The mirror writes how a run stands: status, assignee, state labels, comments, its
//     keys of the metadata, external references. It goes with ralph apply.
//   - The mirror of an issue (claim.go) does the same for a bead that somebody wrote and
//     that ralph worker has claimed. There is one node and no bead of the epic, nothing
//     is pushed, and the bead is read by its id. The claim's token in its metadata says
//     whose it is; without it nothing is written any more. bd has no guard for a token, so
//     the issue is looked at before it is written, unless bd showed it within two seconds;
//     status and assignee guard each update of a field. It begins to write when the
//     run begins: before that the bead stands as the worker claimed it, and the journal
//     may tell of an older run. While the run goes on the issue is in progress or waits
//     at a gate; how it stands behind it, the sum judged, Claim.End says: closed,
//     blocked, or waiting for a person, in the words of ralph worker.
//   - The worker claims (one update, guarded by status and assignee), and releases what its
//     run leaves open. Where the mirror was cut short (bd away, kill -9) it makes one behind
//     the run that catches up. What it found when it claimed the issue the mirror says
//     (Claim.Notes). It writes nothing else about a run; of an issue that it does not take
//     it has said why (Client.NotTaken).
//   - Planned and Approved (mode.go) move an epic's mode where no run goes on.
//
// What an issue says (title, description, design, notes, criteria, priority, edges,
// labels that are not ralph's, keys of the metadata that are not ralph's) is its
// author's: no call that has these fields is made for it.
//
// # What ralph may touch
//
// The epic's bead, the beads of its nodes and the edges between them; of an issue that a
// worker claimed its status, state labels, comments and own keys; the key
// types.custom, and, if the policy asks for it, proposals. Nothing else: not
// hooks, not commits, not files outside .beads, never `bd init`, `bd sync` or
// `bd dolt push`.
//
// The package imports executor, ir, ir/codec/bd and internal packages; app
// wires and calls it.
package bd
