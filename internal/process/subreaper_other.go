//go:build !linux

package process

// becomeSubreaper does nothing: this system has no subreapers.
func becomeSubreaper(int) {}
