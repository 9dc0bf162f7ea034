//go:build unix && !linux

package process

import "os"

// whenEnded leaves everything to Wait here.
func whenEnded(_ *os.Process, call func()) { go call() }
