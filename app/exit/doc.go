// Package exit defines ralph's exit codes and the errors that carry them.
//
// In: what went wrong, in words for people. Out: an Error with its code. The rooms of
// app import it; app/cli turns an error into the program's exit code.
package exit
