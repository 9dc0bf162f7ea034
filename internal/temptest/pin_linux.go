package temptest

import (
	"runtime"
	"sync"
	"syscall"
	"unsafe"
)

type processors [16]uint64 // a bit each

var (
	pinned    = map[int]int{} // processor: tests on it
	pinnedMu  sync.Mutex
	processor = sync.OnceValue(func() (set processors) { // those that this process may use
		affinity(syscall.SYS_SCHED_GETAFFINITY, &set)
		return set
	})
)

// Pin keeps what the test starts from its own goroutine on one processor, that with the
// fewest tests. On virtual machines a story of many short processes can take a third
// more processor time when they move about. Call it before the test starts anything, with what
// the test calls at its end, such as t.Cleanup. It does nothing where only one processor
// may be used.
func Pin(atEnd func(func())) {
	all := processor()
	pinnedMu.Lock()
	defer pinnedMu.Unlock()
	on, n := -1, 0
	for p := range len(all) * 64 {
		if all[p/64]&(1<<(p%64)) == 0 {
			continue
		}
		if n++; on < 0 || pinned[p] < pinned[on] {
			on = p
		}
	}
	if n < 2 {
		return
	}
	runtime.LockOSThread() // never unlocked: the thread ends with the test's goroutine
	var one processors
	one[on/64] = 1 << (on % 64)
	affinity(syscall.SYS_SCHED_SETAFFINITY, &one)
	pinned[on]++
	atEnd(func() {
		pinnedMu.Lock()
		defer pinnedMu.Unlock()
		pinned[on]--
	})
}

// affinity gets or sets the processors of this thread. A failure changes nothing that a
// test could notice.
func affinity(call uintptr, set *processors) {
	_, _, _ = syscall.RawSyscall(call, 0, unsafe.Sizeof(*set), uintptr(unsafe.Pointer(set)))
}
