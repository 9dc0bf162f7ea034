// Package record is the read-only view of a run: its replayed journal, its history, its
// files, and what to type next.
//
// In: the name of an epic. Out: a Record, and the values that commands print with --json.
// It takes no lock and starts no process but git. app/run, its users and the views import
// it.
package record
