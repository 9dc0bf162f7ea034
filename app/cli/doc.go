// Package cli has the commands of ralph, one file each: flags, a room that does the work,
// a view that shows it.
//
// In: a command line. Out: an exit code; results on standard output, diagnostics on
// standard error. It is the only user of cobra. app calls Main.
package cli
