// Package doctor checks what ralph needs and can use: git, the agent programs, the
// tracker, disk space, and everything an epic requires before it starts.
//
// In: the current directory. Out: a list of findings. It changes nothing; a live check
// runs agents in an empty directory. app/cli imports it.
package doctor
