// Package project reads what a repository holds, confined to it: plans, policies, epics
// and files of other formats; and compiles them.
//
// In: the paths and values that a command was given. Out: a Compilation, an epic, or an
// error with its exit code. Nothing here knows of runs, prints, or takes a lock. The
// rooms above it import it: app/record, app/run and what uses them.
package project
