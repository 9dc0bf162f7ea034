// Package journal keeps a run's events in SQLite: the only run-time truth.
//
// In: executor.Events, in order. Out: the same events, after any crash, or an error
// with the sequence number at which the file is damaged. It imports the
// executor's contracts and, alone in the module, zombiezen.com/go/sqlite and
// gofrs/flock; app opens it and executor/local writes to it.
//
// # The crash contract
//
// One transaction holds all events of one Append; it is committed in WAL mode
// with synchronous=FULL. The commit point is the COMMIT in Append: before it
// nothing was written, after it everything is on stable storage. Each event
// carries a hash over the hash of the one before it and its own bytes. SQLite
// silently drops a damaged tail of its WAL; the chain finds damage anywhere
// else, and commits that carry a higher sequence number (trailer Ralph-Seq)
// show that a tail is missing.
//
// The file is append-only: triggers refuse UPDATE and DELETE of events. The
// numbers of events have gaps only before a TailLost.
//
// # The inbox
//
// While the lock is held, other processes insert decisions into the table inbox
// (Send, Await); the holder reads them (Pending) and answers. Appending a decision's
// event answers its letter in the same transaction.
//
// # Projections
//
// Views (layout.go) show nodes, attempts, gates, decisions and runs to SQL readers
// of the file. Tables updated in each event's transaction would cost every run;
// views cost only their readers.
//
// # The lock
//
// A writer holds an exclusive flock on the file "lock" beside the journal. The
// operating system releases it when the holder dies, however it dies, so there are
// no stale locks; the identity inside is only for people.
package journal
