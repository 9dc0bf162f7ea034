//go:build unix

package term

import (
	"os"

	"golang.org/x/sys/unix"
)

// pasteMS is how long the next line of what was pasted may take to arrive, in milliseconds.
const pasteMS = 50

// inputWaits reports whether a line can be read at once.
func inputWaits(f *os.File) bool {
	fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, pasteMS)
	return err == nil && n > 0 && fds[0].Revents&unix.POLLIN != 0
}
