// Package sandbox runs a program in a sandbox: namespaces of its own, a file system of
// what a wall.Spec names, a system call filter, limits. docs/sandbox.md says what holds.
//
// In: a wall.Spec. Out: a process.Wall, for process.Run. Everything is made by ralph's own
// binary, started once more as process 1 of the sandbox; no other program is needed, but
// for the kind bwrap: bubblewrap makes the namespaces and mounts there, and process 1 does
// the rest.
//
// The kind landlock has neither: everything is used where it is, so that a Spec of it has no
// mount at another place. Only the home differs, which HOME names. ralph's binary is the
// parent of the program there, outside of its rules, and ends what the program leaves.
//
// It runs on Linux; elsewhere every sandbox is refused.
package sandbox
