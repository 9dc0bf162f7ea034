//go:build unix

package term

import (
	"os"
	"os/signal"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// follow tells a program's terminal the size of the window, from now on. What is returned
// ends that.
func follow(out, leader *os.File) (stop func()) {
	changed, over := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(changed, syscall.SIGWINCH)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			columns, rows := Size(out)
			_ = unix.IoctlSetWinsize(int(leader.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(rows), Col: uint16(columns)}) // it may have gone
			select {
			case <-changed:
			case <-over:
				return
			}
		}
	})
	return func() {
		signal.Stop(changed)
		close(over)
		wg.Wait()
	}
}
