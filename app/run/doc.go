// Package run is a locked run: the only way to open, apply and decide about runs.
//
// In: an epic, and a request (Args or a decision). Out: an Opened, which holds the lock,
// the journal and the replayed machine, and reports to a Watcher while it is applied.
// Everything that can be checked is checked before anything starts. It does not print.
// app/worker, app/doctor, app/recovery, app/view and app/cli import it.
package run
