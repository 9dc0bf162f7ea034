package process

import "syscall"

// guardAttr starts the guard in a session of its own. A stopped guard goes
// on when the thread dies that started it, which is when this process dies.
func guardAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGCONT}
}
