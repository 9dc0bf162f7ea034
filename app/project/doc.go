// Package project reads what a repository holds, confined to it: plans, policies, epics
// and files of other formats; and compiles them.
//
// In: a command's paths and values. Out: a Compilation, an epic, or an error with its
// exit code. Nothing here knows of runs, prints, or takes a lock. The rooms above import
// it: app/record, app/run and their users.
package project
