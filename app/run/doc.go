// Package run is a run, locked: the one door through which runs are opened, decided about
// and applied.
//
// In: an epic, and what somebody wants of it (Args, a decision). Out: an Opened, which
// holds the lock, the journal and the replayed machine, and is applied under the eyes of
// a Watcher. It checks all that can be checked before anything starts. It does not print.
// app/worker, app/doctor, app/recovery, app/view and app/cli import it.
package run
