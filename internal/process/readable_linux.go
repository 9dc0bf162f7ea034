package process

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
)

// readable notifies waiters for a file that it can be read. One goroutine waits for
// all of them: a thousand programs that say nothing need no stack each.
var readable struct {
	once  sync.Once
	err   error // of once
	epoll int

	mu    sync.Mutex // guards the rest
	last  uint64
	calls map[uint64]waiting
}

// waiting is who waits for a file.
type waiting struct {
	fd   int
	call func()
}

// whenReadable calls once, in a goroutine of its own, when a file can be read or has
// ended. The number is for forget, which comes before the file is closed; it is there
// before the call can be made, which may wait again.
func whenReadable(fd int, number *atomic.Uint64, call func()) error {
	r := &readable
	r.once.Do(func() { r.err = startReadable() })
	if r.err != nil {
		return r.err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	e := syscall.EpollEvent{Events: syscall.EPOLLIN | syscall.EPOLLONESHOT, Fd: int32(uint32(r.last)), Pad: int32(uint32(r.last >> 32))}
	if err := syscall.EpollCtl(r.epoll, syscall.EPOLL_CTL_ADD, fd, &e); err != nil {
		return fmt.Errorf("wait for output: %w", err)
	}
	r.calls[r.last] = waiting{fd, call}
	number.Store(r.last)
	return nil
}

// forget ends a wait. It returns false if there is no wait: the call was already made.
func forget(number uint64) bool {
	_, ok := take(number)
	return ok
}

// take ends a wait and returns whom to call.
func take(number uint64) (func(), bool) {
	r := &readable
	r.mu.Lock()
	defer r.mu.Unlock()
	w, ok := r.calls[number]
	if ok {
		delete(r.calls, number)
		_ = syscall.EpollCtl(r.epoll, syscall.EPOLL_CTL_DEL, w.fd, nil) // it is there
	}
	return w.call, ok
}

func startReadable() error {
	fd, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err == nil {
		err = syscall.SetNonblock(fd, true) // or Go's poller does not take it
	}
	if err != nil {
		return fmt.Errorf("wait for output: %w", err)
	}
	f := os.NewFile(uintptr(fd), "epoll")
	conn, err := f.SyscallConn()
	if err != nil {
		return fmt.Errorf("wait for output: %w", err)
	}
	readable.epoll, readable.calls = fd, map[uint64]waiting{}
	go func() { // as long as the process lives
		var events [64]syscall.EpollEvent
		_ = conn.Read(func(uintptr) bool {
			for {
				n, err := syscall.EpollWait(fd, events[:], 0)
				if errors.Is(err, syscall.EINTR) {
					continue
				}
				if n <= 0 {
					return false // wait: it is told when there is more
				}
				for _, e := range events[:n] {
					if call, ok := take(uint64(uint32(e.Fd)) | uint64(uint32(e.Pad))<<32); ok {
						go call()
					}
				}
			}
		})
	}()
	return nil
}
