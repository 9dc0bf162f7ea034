package inside

import (
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Go's own signals come at any time, and so do those of children that end.
func TestASignalEndsNoDial(t *testing.T) {
	l, at, err := tcp("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(l)
	if err := unix.Bind(l, at); err != nil {
		t.Fatal(err)
	}
	if err := unix.Listen(l, 0); err != nil { // has room for one that nobody accepted
		t.Fatal(err)
	}
	if at, err = unix.Getsockname(l); err != nil {
		t.Fatal(err)
	}
	connected, thread := make(chan error), make(chan int, 1)
	dial := func() {
		fd, _, err := tcp("127.0.0.1:0")
		if err != nil {
			connected <- err
			return
		}
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		thread <- unix.Gettid()
		err = connect(fd, at)
		_ = unix.Close(fd)
		connected <- err
	}
	go dial()
	<-thread
	if err := <-connected; err != nil {
		t.Fatal(err)
	}
	go dial()
	tid := <-thread
	for range 100 { // until somebody accepts, it waits
		if err := unix.Tgkill(os.Getpid(), tid, unix.SIGURG); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-connected:
			t.Fatalf("a signal ends it: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
	for range 2 {
		fd, _, err := unix.Accept(l)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
	}
	if err := <-connected; err != nil {
		t.Error(err)
	}
}
