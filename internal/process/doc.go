// Package process runs a program in a process group of its own, with its output
// in files of bounded size, and makes sure that none of its processes survives.
//
// In: what to run, where its output goes, how long it may take. Out: how it
// ended, after it and every descendant that was seen are gone. It imports only
// the standard library. executor/runner/command, executor/gate and
// executor/workspace (for setup commands) use it.
//
// Kill means: the group, and each descendant recorded while the program ran (tools
// often start their children in sessions of their own). Where the system allows it
// the calling process becomes child subreaper, so that orphans stay its children. A
// program that detaches and clears its environment between two samples is missed;
// only a pid namespace would contain it.
package process
