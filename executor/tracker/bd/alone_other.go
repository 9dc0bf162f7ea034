//go:build !unix

package bd

import (
	"os/exec"
	"time"
)

// alone bounds how long a call that was given up is waited for.
func alone(cmd *exec.Cmd) { cmd.WaitDelay = time.Second }
