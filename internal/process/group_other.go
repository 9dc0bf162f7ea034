//go:build !unix

package process

import "syscall"

// OwnGroup gives a process a group of its own, where there are such groups.
func OwnGroup() *syscall.SysProcAttr { return nil }
