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
// ends that; it may be called more than once.
func (s *Seat) follow(leader *os.File) (stop func()) {
	changed, over := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(changed, syscall.SIGWINCH)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			if columns, rows := s.Size(); columns > 0 {
				_ = unix.IoctlSetWinsize(int(leader.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns}) // it may have gone
			}
			select {
			case <-changed:
			case <-over:
				return
			}
		}
	})
	return sync.OnceFunc(func() {
		signal.Stop(changed)
		close(over)
		wg.Wait()
	})
}
