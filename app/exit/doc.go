// Package exit has the exit codes of ralph and the errors that carry one.
//
// In: what went wrong, in words for people. Out: an Error with its code. The rooms of
// app import it; app/cli turns an error into the program's exit code.
package exit
