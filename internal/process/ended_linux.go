package process

import "os"

// whenEnded calls, in a goroutine of its own, when the process has ended, or when it
// cannot be known: Wait tells. Unlike Wait it needs neither a thread nor a goroutine
// meanwhile.
func whenEnded(p *os.Process, call func()) {
	var err error
	if none := p.WithHandle(func(handle uintptr) {
		_, err = whenReadable(int(handle), call) // Wait closes it
	}); none != nil || err != nil {
		go call()
	}
}
