// Package cli holds ralph's commands, one file each: its flags, a call of the room that
// does the work, and the view that shows the result. Its help text is texts/COMMAND.md.
//
// In: a command line. Out: an exit code; results on standard output, diagnostics on
// standard error. It is the only user of cobra. app calls Main.
package cli
