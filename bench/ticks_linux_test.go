package bench

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// waitDead waits until a child has ended, and leaves it to be waited for.
func waitDead(tb testing.TB, pid int) {
	tb.Helper()
	const pPID, wExited, wNoWait = 1, 4, 0x01000000
	var info [128]byte
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, pPID, uintptr(pid), uintptr(unsafe.Pointer(&info)), wExited|wNoWait, 0, 0)
		if errno == syscall.EINTR {
			continue
		}
		if errno != 0 {
			tb.Fatal(errno)
		}
		return
	}
}

// ticks returns the processor time of a process, and of its children that it has
// waited for, to 10 ms.
func ticks(tb testing.TB, pid int) (own, children time.Duration) {
	tb.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		tb.Fatal(err)
	}
	f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	at := func(i int) time.Duration { // as numbered in proc(5)
		n, err := strconv.ParseInt(f[i-3], 10, 64)
		if err != nil {
			tb.Fatal(err)
		}
		return time.Duration(n) * 10 * time.Millisecond
	}
	return at(14) + at(15), at(16) + at(17)
}
