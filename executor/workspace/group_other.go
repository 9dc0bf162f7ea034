//go:build !unix

package workspace

import "syscall"

func apart() *syscall.SysProcAttr { return nil }
