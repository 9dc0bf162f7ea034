//go:build unix

package bd

import (
	"os/exec"
	"syscall"
	"time"

	"github.com/ralph-compiler/ralph/internal/process"
)

// alone gives bd a process group of its own, so that Ctrl-C in the terminal does not
// kill it in a write. A call that is given up is asked to end: bd finishes or drops
// the transaction. One that does not is killed; its database stands that.
func alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = process.OwnGroup()
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
}
