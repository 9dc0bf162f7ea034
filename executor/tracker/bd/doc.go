// Package bd speaks with beads through the bd command line: it pushes an epic into
// a beads database, mirrors a run into it, reads what people did there, and reads an
// epic back from it. bd is a mirror; the journal stays the truth.
//
// In: an ir.Epic with its ir.History, and the directory of a repository that has a
// beads database. Out: beads, and what people did to them.
//
// # Rooms of the package
//
//   - Client (client.go, issue.go): one typed method for each command of bd that
//     ralph uses. Every call has a clean environment (no metrics, no backup, no
//     prompts), a time limit that grows with its work, and its answer is validated:
//     JSON in bd's envelope, ids compared with those that were asked for. One call
//     at a time: bd has one writer, and readers wait for it.
//   - Push (push.go): the epic and its nodes, in bulk, idempotent, resumable. Nodes
//     by import, blocks edges by batch in reverse topological order (each walk that
//     looks for cycles is trivial then).
//   - Mirror (mirror.go): the outbox. It follows the journal with a cursor of its
//     own: fields of a bead are written as they stand when their turn comes
//     (coalesced), comments are written one by one, in order, each once. It never
//     blocks or fails a run; what bd refuses is reported; after bd was away it
//     catches up.
//   - Steer (steer.go): one `bd list` per poll; what people changed becomes the
//     decisions that they could have given on the command line.
//   - Recall (recall.go): the epic and its state read back, for `ralph recover`.
//
// # What ralph may touch
//
// The epic's bead, the beads of its nodes and the edges between them, the key
// types.custom, and, if the policy asks for it, proposals. Nothing else: not
// hooks, not commits, not files outside .beads, never `bd init`, `bd sync` or
// `bd dolt push`.
//
// The package imports executor, ir, ir/codec/bd and internal packages; cmd/ralph
// wires and calls it.
package bd
