// Package group bounds what a sandbox takes of the machine: memory, processors, processes.
// It is files and directories of cgroup v2, and knows of no sandbox.
//
// A base is a group whose directory ralph may write to, and in which nobody else is:
//
//	base                  cgroup.subtree_control: +memory +cpu +pids
//	├─ ralph              ralph itself, and all that it starts without a sandbox
//	├─ ralph-4711-1       one for each sandbox: memory.max, memory.swap.max, memory.oom.group,
//	└─ ralph-4711-2       cpu.max, pids.max
//
// A group with limits for its children may hold no process of its own, so that ralph moves
// itself into a leaf. The limits must not be on the base: where the whole of it runs out of
// memory systemd ends ralph, too.
//
// Base finds such a group and moves this process into its leaf: the group that the process
// is in, if it may write to it and is alone there, else one that systemd makes and moves it
// to, as it does for systemd-run --scope. It stays the same process, at its terminal. New
// makes the group of one sandbox, in which the process that becomes the sandbox is started
// (CLONE_INTO_CGROUP); Close kills what is left in it and removes it. Groups of a ralph that
// was killed are empty, because its sandboxes end with it: Base removes them.
//
// In: limits. Out: directories and descriptors. It runs on Linux and imports only
// internal/wall.
package group
