//go:build unix

package workspace

import "syscall"

// apart gives a git command a process group of its own: the terminal sends its
// signals to every process of the foreground group.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
