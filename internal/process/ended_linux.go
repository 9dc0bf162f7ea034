package process

import (
	"os"
	"sync/atomic"
)

// whenEnded calls, in a goroutine of its own, when the process has ended, or when it
// cannot be known: Wait tells. Unlike Wait it needs neither a thread nor a goroutine
// meanwhile.
func whenEnded(p *os.Process, call func()) {
	var err error
	var number atomic.Uint64 // it is never forgotten
	if none := p.WithHandle(func(handle uintptr) {
		err = whenReadable(int(handle), &number, call) // Wait closes it
	}); none != nil || err != nil {
		go call()
	}
}
