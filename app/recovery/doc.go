// Package recovery rebuilds the journal of a run from what remains: the refs of a clone,
// and the beads.
//
// In: the id of an epic. Out: a Recovery, which reports what was found and writes a run's
// journal under its lock. app/cli imports it.
package recovery
