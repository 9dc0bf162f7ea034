//go:build unix && !linux

package process

import "syscall"

// guardAttr starts the guard in a session of its own.
func guardAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
