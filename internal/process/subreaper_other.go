//go:build !linux

package process

// becomeSubreaper does nothing: only Linux is asked for it.
func becomeSubreaper(int) {}
