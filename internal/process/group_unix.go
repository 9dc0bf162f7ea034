//go:build unix

package process

import "syscall"

// OwnGroup gives a process a group of its own: a terminal sends its signals to every
// process of the foreground group.
func OwnGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// missing reports whether nothing is at a path. It is asked for each directory of PATH when
// a program is started, and leaves less garbage behind than os.Stat.
func missing(path string) bool { return syscall.Access(path, 0) == syscall.ENOENT }
